// Compute Engine's lists: any bytes give members that can be told, or an error in words.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "plugins/gce/members.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster::gce;
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  text.append(64, '\0');
  const std::string_view json = std::string_view(text).substr(0, size - 1);
  Options options;
  options.tag = (data[0] & 1) != 0 ? "t" : "";
  options.address = static_cast<AddressKind>(data[0] >> 1 & 3);
  options.rank_by = static_cast<RankBy>(data[0] >> 3 & 3);
  options.rank_key = "k";
  options.port.metadata = (data[0] & 32) != 0 ? "k" : "";

  const auto told = [](const auto& failure) {
    if (failure.message.empty()) std::abort();
  };
  const auto judged = [&](const muster::sdk::Result<Members>& members) {
    if (!members) return told(members.failure());
    for (const Member& member : members->members) {
      if (member.name.empty()) std::abort();
      // A task has an address; what is none has a reason.
      if (member.missing.empty() && (!member.instance || member.instance->host.empty()))
        std::abort();
      if (member.missing.empty() && member.instance->status != "RUNNING") std::abort();
    }
  };
  for (const char* zone : {"", "z"}) {
    auto page = read_instances(json, zone, "example.com:p", options);
    if (!page) {
      told(page.failure());
      continue;
    }
    judged(select(page->instances, options));
  }
  for (const bool managed : {false, true}) {
    auto page = read_group(json, managed);
    if (!page) {
      told(page.failure());
      continue;
    }
    std::vector<Instance> found;
    for (const GroupMember& member : page->members) {
      Instance instance;
      instance.name = member.name;
      instance.zone = member.zone;
      instance.status = "RUNNING";
      instance.host = "h";
      if (member.name.size() % 2 == 0) found.push_back(std::move(instance));
    }
    judged(join(page->members, std::move(found), options));
  }
  std::string known;
  const auto port = named_port(json, "rpc", known);
  if (port && (*port < 0 || *port > 65535)) std::abort();
  return 0;
}

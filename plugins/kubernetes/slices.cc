#include "plugins/kubernetes/slices.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <unordered_map>

#include "plugins/support/json_at.h"
#include "plugins/support/strict_json.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::StrictJson;

// Go writes an empty list as null where a field is never left out.
std::vector<StrictJson> list_or_null(const StrictJson& at, std::string_view pointer) {
  return at.presence(pointer) == StrictJson::Presence::kNull ? std::vector<StrictJson>()
                                                             : at.list_or_none(pointer);
}

class SliceReader {
 public:
  // What is wrong is in the reader's `why`.
  void read(const StrictJson& root) {
    if (const std::string_view kind = root.text("/kind"); kind != "EndpointSliceList")
      root.refuse("/kind",
                  fmt::format("is {}, where EndpointSliceList is expected", support::quote(kind)));
    // Nobody has asked for pages.
    if (!root.text_or("/metadata/continue", "").empty())
      root.refuse("/metadata/continue", "says that this is not all of it");
    if (root.presence("/items") == StrictJson::Presence::kAbsent)
      root.refuse("/items", "is not there, and a list is expected");
    for (const StrictJson& slice : list_or_null(root, "/items")) {
      read_ports(slice);
      address_type_ = slice.text("/addressType");
      name_space_ = slice.text_or("/metadata/namespace", "");
      for (const StrictJson& endpoint : list_or_null(slice, "/endpoints")) read_endpoint(endpoint);
    }
  }

  ServiceEndpoints take() { return std::move(out_); }

 private:
  void read_ports(const StrictJson& slice) {
    ports_ = nullptr;
    port_count_ = 0;
    const std::vector<StrictJson> ports = list_or_null(slice, "/ports");
    if (ports.empty()) return;
    ports_ = out_.pods.texts.make<ContainerPort>(ports.size());
    for (const StrictJson& port : ports) {
      if (port.is_absent_or_null("/port"))
        continue;  // all ports, of which none is that of the tasks
      const auto number = static_cast<uint16_t>(port.number("/port", {1, 65535}));
      const std::string_view name =
          port.is_absent_or_null("/name") ? std::string_view() : port.text_or("/name", "");
      ports_[port_count_++] = {out_.pods.texts.shared(name), number, 0};
      out_.ports.emplace(name);
    }
  }

  // A condition that is absent or null is unknown, and the API says how that is to be taken.
  static bool condition(const StrictJson& endpoint, std::string_view pointer, bool unknown) {
    return endpoint.is_absent_or_null(pointer) ? unknown : endpoint.flag_or(pointer, unknown);
  }

  // Go leaves out what is empty, or writes it as null where it has a pointer.
  static std::string_view text(const StrictJson& at, std::string_view pointer) {
    return at.is_absent_or_null(pointer) ? std::string_view() : at.text_or(pointer, "");
  }

  void read_endpoint(const StrictJson& endpoint) {
    const std::vector<StrictJson> addresses = endpoint.list("/addresses");
    if (addresses.empty()) return endpoint.refuse("/addresses", "is empty");
    const std::string_view address = addresses[0].text();  // all are alike; clients use the first
    const bool has_target = endpoint.presence("/targetRef") == StrictJson::Presence::kThere;
    const bool of_pod = has_target && text(endpoint, "/targetRef/kind") == "Pod";
    const std::string_view uid = of_pod ? text(endpoint, "/targetRef/uid") : std::string_view();
    const auto [at, added] = places_.emplace(uid.empty() ? address : uid, out_.pods.pods.size());
    if (added) out_.pods.pods.emplace_back();
    Pod& pod = out_.pods.pods[at->second];
    TextArena& texts = out_.pods.texts;
    take_ip(pod.ip, pod.second_ip, texts, address);
    // An endpoint that is in two slices for a moment is what the better one says.
    const bool going = condition(endpoint, "/conditions/terminating", false);
    const bool ready = condition(endpoint, "/conditions/ready", true);
    pod.deleted = going && (added || pod.deleted != 0) ? kSomeTime : 0;
    pod.ready = added ? ready : pod.ready || ready;
    if (!added) return;
    pod.phase = Phase::kRunning;
    pod.uid = texts.add(uid);
    pod.hostname = texts.add(text(endpoint, "/hostname"));
    pod.node = texts.shared(text(endpoint, "/nodeName"));
    pod.name_space = texts.shared(name_space_);
    pod.ports = ports_;
    pod.port_count = port_count_;
    const std::string_view name = of_pod ? text(endpoint, "/targetRef/name") : "";
    pod.name = !name.empty() ? texts.add(name) : pod.hostname.empty() ? pod.ip : pod.hostname;
    if (address_type_ == "FQDN") return;
    if (const std::string odd = oddity(pod); !odd.empty())
      endpoint.refuse("", fmt::format("cannot be right: {}", odd));
  }

  ServiceEndpoints out_;
  std::unordered_map<std::string_view, size_t> places_;
  ContainerPort* ports_ = nullptr;
  uint16_t port_count_ = 0;
  std::string_view address_type_, name_space_;  // of the slice
};

}  // namespace

sdk::Result<ServiceEndpoints> read_slices(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  SliceReader reader;
  std::string why = support::parse_object(json, parser, root);
  if (why.empty()) reader.read(StrictJson(root, why));
  if (!why.empty())
    return sdk::Failure{
        MUSTER_E_DATA_LOSS, "the API server's endpoint slices cannot be understood: " + why, {}};
  return reader.take();
}

}  // namespace muster::kubernetes

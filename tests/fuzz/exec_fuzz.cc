// What a program prints for the exec backend: any bytes give a cluster that the core takes, or an error with words.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "core/spec/address.h"
#include "plugins/exec/printed.h"
#include "plugins/support/text.h"
#include "plugins/support/tf_config.h"

namespace {

using namespace muster;

void require(bool holds) {
  if (!holds) std::abort();
}

int32_t check(const char* address, uint64_t size, int64_t, char* reason, uint64_t reason_size) {
  if (Address::parse({address, size}).ok()) return MUSTER_OK;
  if (reason_size > 0) reason[0] = '\0';
  return MUSTER_E_INVALID_ARGUMENT;
}

const void* get_service(const muster_host_v1*, const char* id) {
  static const muster_address_v1 addresses = {sizeof addresses, check};
  return std::string_view(id) == MUSTER_ADDRESS_V1 ? &addresses : nullptr;
}

void look_at(const sdk::Result<exec::Cluster>& cluster) {
  if (!cluster) {
    require(cluster.failure().code == MUSTER_E_INVALID_ARGUMENT);
    require(!cluster.failure().message.empty());
    return;
  }
  std::set<std::pair<std::string, int64_t>> places;
  for (const exec::Member& member : cluster->members) {
    require(support::is_job_name(member.job));
    require(Address::parse(member.address).ok());
    require(support::is_text(member.name));
    if (member.index == MUSTER_UNRANKED) {
      require(!member.name.empty());
    } else {
      require(places.emplace(member.job, member.index).second);
    }
  }
  for (const exec::MissingMember& missing : cluster->missing) {
    require(support::is_job_name(missing.job) && !missing.reason.empty());
    if (missing.index != MUSTER_UNRANKED)
      require(places.emplace(missing.job, missing.index).second);
  }
}

class Tasks : public support::ClusterVisitor {
 public:
  void job(std::string_view name) override { require(support::is_job_name(name)); }
  void task(std::string_view job, int64_t index, std::string_view address) override {
    require(index >= 0 && Address::parse(address).ok());
    require(places_.emplace(job, index).second);
  }

 private:
  std::set<std::pair<std::string, int64_t>> places_;
};

void look_at_tf_config(const sdk::Host& host, std::string text) {
  const size_t size = text.size();
  text.append(64, '\0');
  support::TfConfigReader reader(host, std::string_view(text).substr(0, size), "out", false);
  const auto facts = reader.facts();
  if (!facts) return require(!facts.failure().message.empty());
  Tasks tasks;
  if (const auto status = reader.cluster(*facts, tasks); !status)
    require(!status.failure().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  muster_host_v1 table = {};
  table.struct_size = sizeof table;
  table.get_service = get_service;
  const sdk::Host host(&table);
  switch (exec::detect(text)) {
    case exec::Format::kFileSd: look_at(exec::read_file_sd(host, text, "out", "worker")); break;
    case exec::Format::kLines: look_at(exec::read_task_lines(host, text, "out")); break;
    case exec::Format::kTfConfig: look_at_tf_config(host, text); break;
    case exec::Format::kCluster: look_at(exec::read_bare_cluster(host, text, "out")); break;
    case exec::Format::kAnswer: look_at(exec::read_answer(host, text, "out")); break;
  }
  return 0;
}

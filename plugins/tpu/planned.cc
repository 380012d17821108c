#include "plugins/tpu/planned.h"

#include <fmt/format.h>

#include <string>

#include "plugins/support/google/metadata.h"

namespace muster::tpu {
namespace {

using support::google::Metadata;

class Planner {
 public:
  Planner(const Options& options, const Source& source, support::google::Credentials& credentials,
          sdk::Call& call)
      : options_(options), source_(source), credentials_(credentials), call_(call) {}

  // The metadata of a TPU VM alone; of a multislice group the API too.
  sdk::Status of_this_machine() {
    metadata("tpu-env", 1, "what TPU this machine is of");
    metadata("worker-network-endpoints", 0, "its hosts, unless it is one slice of several");
    metadata("agent-worker-number", 0, "which host this is, where tpu-env does not say it");
    if (auto found = before_the_api(0); !found) return found;
    api("nodes.list", 0, "where it is one slice of several");
    api("queuedResources.list", 0, "where a slice does not exist yet");
    return {};
  }

  sdk::Status of_the_api() {
    if (auto found = before_the_api(1); !found) return found;
    const char* again = options_.wait ? "; again at each try" : "";
    const bool in_zone = !source_.zone.empty();
    if (source_.kind == Source::Kind::kQueued) {
      api(in_zone ? "queuedResources.get" : "queuedResources.list", 1,
          fmt::format("the TPUs that it is to become{}", again));
      api("nodes.list", 0, fmt::format("500 a page, once it is ACTIVE{}", again));
    } else {
      const bool one = in_zone && source_.names.size() == 1;
      if (one) api("nodes.get", 1, fmt::format("one TPU in a known zone{}", again));
      api("nodes.list", one ? 0 : 1,
          fmt::format("{}{}", one ? "where it does not exist yet" : "500 a page", again));
      api("queuedResources.list", 0, fmt::format("where one does not exist yet{}", again));
    }
    if (Metadata::expected(call_))
      metadata("tpu-env", 1, "which of their hosts this is; a later resolve knows it");
    return {};
  }

 private:
  void metadata(const char* key, int64_t least, const char* reason) {
    call_.add_planned(
        {"metadata server", fmt::format("instance/attributes/{}", key), least, 1, reason, "", 0});
  }
  void api(const char* method, int64_t least, const std::string& reason) {
    call_.add_planned({"tpu." + credentials_.universe(), method, least, 1, reason, "", 0});
  }

  // Tokens, the project, and where the API is.
  sdk::Status before_the_api(int64_t least) {
    if (auto found = credentials_.find(call_, false); !found) return found;
    for (const auto& asked : credentials_.token_requests(call_))
      call_.add_planned({asked.server, asked.request, least, 1, asked.reason, "", 0});
    if (source_.project.empty() && credentials_.project().empty())
      call_.add_planned({"metadata server", "project/project-id", least, 1,
                         "nothing else says the project", "", 0});
    if (options_.endpoint.empty() &&
        !(options_.discovery_url +
          std::string(call_.variable("TPU_API_DISCOVERY_URL").value_or("")))
             .empty())
      call_.add_planned({"discovery document", "discovery_url", least, 1,
                         "where the API is; a later resolve knows it", "", 0});
    return {};
  }

  const Options& options_;
  const Source& source_;
  support::google::Credentials& credentials_;
  sdk::Call& call_;
};

}  // namespace

sdk::Status say_planned(const Options& options, const Source& source,
                        support::google::Credentials& credentials, sdk::Call& call) {
  Planner planner(options, source, credentials, call);
  switch (source.kind) {
    case Source::Kind::kLocal:
    case Source::Kind::kEndpoints:
    case Source::Kind::kGke: return {};  // nobody is asked
    case Source::Kind::kVm: return planner.of_this_machine();
    case Source::Kind::kNodes:
    case Source::Kind::kQueued: break;
  }
  return planner.of_the_api();
}

}  // namespace muster::tpu

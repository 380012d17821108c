#include "plugins/kubernetes/identity.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "plugins/support/base64.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

constexpr const char* kToken = "/var/run/secrets/kubernetes.io/serviceaccount/token";
constexpr uint64_t kFileMaximum = uint64_t{1} << 20;

class Teller {
 public:
  Teller(const std::vector<JobMembers>& jobs, const Access& access, const Options& options,
         sdk::Call& call)
      : jobs_(jobs), options_(options), call_(call), own_namespace_(own_namespace(call)) {
    in_cluster_ = access.within_cluster || call.variable("KUBERNETES_SERVICE_HOST").has_value();
  }

  void tell_all() {
    tell_uid(variable("POD_UID"), "POD_UID is the uid");
    tell_name(variable("POD_NAME"), own_namespace_, "POD_NAME is the name");
    if (const std::string ip = variable("POD_IP"); !ip.empty())
      tell("POD_IP is the address",
           [&](const Pod& pod) { return (pod.ip == ip || pod.second_ip == ip) && pod.live(); });
    tell_token();
    tell_host_name();
    tell_pod_info();
  }

 private:
  std::string variable(const char* name) const {
    const auto set = call_.variable(name);
    return set ? std::string(*set) : std::string();
  }

  // The one member that `fits` says is meant; none when several do, for then it says nothing.
  template <typename Fits>
  void tell(const char* evidence, const Fits& fits) {
    const JobMembers* job = nullptr;
    const Member* found = nullptr;
    for (const JobMembers& one : jobs_) {
      for (const Member& member : one.found.members) {
        if (member.pod == nullptr || !fits(*member.pod)) continue;
        if (found != nullptr) return;
        job = &one;
        found = &member;
      }
    }
    if (found == nullptr) return;
    const Pod& pod = *found->pod;
    const std::string words = fmt::format("{} of pod {}", evidence, quote(full_name(pod)));
    // Beside the cluster there are no names to go by.
    if (!job->in_cluster && found->index == MUSTER_UNRANKED) return;
    call_.set_identity(job->job, found->index,
                       job->in_cluster ? member_name(pod, options_.all_namespaces) : std::string(),
                       words);
  }

  void tell_uid(const std::string& uid, const char* evidence) {
    if (!uid.empty()) tell(evidence, [&](const Pod& pod) { return pod.uid == uid; });
  }

  void tell_name(const std::string& name, const std::string& name_space, const char* evidence) {
    if (!name.empty())
      tell(evidence,
           [&](const Pod& pod) { return pod.name == name && same_namespace(pod, name_space); });
  }

  static bool same_namespace(const Pod& pod, const std::string& name_space) {
    return name_space.empty() || pod.name_space.empty() || pod.name_space == name_space;
  }

  // Kubernetes makes a token for one pod and writes into it for which.
  void tell_token() {
    const auto token = call_.file(kToken, kFileMaximum, MUSTER_FILE_SECRET, true);
    if (!token) return;
    call_.mark_secret(support::trimmed(*token));
    const TokenPod pod = pod_of_token(support::trimmed(*token));
    if (!pod.uid.empty()) return tell_uid(pod.uid, "the service account's token has the uid");
    tell_name(pod.name, pod.name_space, "the service account's token has the name");
  }

  // Elsewhere HOSTNAME is that of some machine, which may be called like a pod.
  void tell_host_name() {
    const std::string host = variable("HOSTNAME");
    if (host.empty() || !in_cluster_) return;
    tell("HOSTNAME is the host name", [&](const Pod& pod) {
      const std::string_view own =
          pod.hostname.empty() ? pod.name.view().substr(0, 63) : pod.hostname.view();
      return own == host && same_namespace(pod, own_namespace_) && pod.phase == Phase::kRunning;
    });
  }

  void tell_pod_info() {
    if (!options_.pod_info) return;
    const auto file = [&](const char* name) {
      const auto content =
          call_.file(fmt::format("{}/{}", *options_.pod_info, name), kFileMaximum, 0, true);
      return content ? std::string(support::trimmed(*content)) : std::string();
    };
    const std::string uid = file("uid"), name = file("name"), name_space = file("namespace");
    if (uid.empty() && name.empty())
      call_.add_warning(
          fmt::format("'pod_info' is {}, and there is neither a file 'uid' nor 'name'",
                      quote(*options_.pod_info, 200)));
    tell_uid(uid, "pod_info has the uid");
    tell_name(name, name_space.empty() ? own_namespace_ : name_space, "pod_info has the name");
  }

  const std::vector<JobMembers>& jobs_;
  const Options& options_;
  sdk::Call& call_;
  const std::string own_namespace_;
  bool in_cluster_ = false;
};

}  // namespace

std::string member_name(const Pod& pod, bool all_namespaces) {
  return all_namespaces ? full_name(pod) : pod.name.string();
}

void say_identity(const std::vector<JobMembers>& jobs, const Access& access, const Options& options,
                  sdk::Call& call) {
  Teller(jobs, access, options, call).tell_all();
}

TokenPod pod_of_token(std::string_view token) {
  const size_t first = token.find('.');
  if (first == std::string_view::npos) return {};
  const size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return {};
  std::string claims(token.substr(first + 1, second - first - 1));
  std::replace(claims.begin(), claims.end(), '-', '+');  // the alphabet of URLs
  std::replace(claims.begin(), claims.end(), '_', '/');
  const auto json = support::base64_decode(claims);
  if (!json) return {};
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(*json).get(root)) return {};
  const auto text = [&](const char* pointer) {
    std::string_view value;
    return root.at_pointer(pointer).get_string().get(value) || !support::is_text(value)
               ? std::string()
               : std::string(value);
  };
  return {text("/kubernetes.io/namespace"), text("/kubernetes.io/pod/name"),
          text("/kubernetes.io/pod/uid")};
}

}  // namespace muster::kubernetes

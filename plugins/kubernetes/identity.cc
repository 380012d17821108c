#include "plugins/kubernetes/identity.h"

#include <fmt/format.h>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

constexpr uint64_t kFileMaximum = uint64_t{1} << 20;

class Teller {
 public:
  Teller(const std::vector<JobMembers>& jobs, const Evidence& evidence, const Options& options,
         support::CheckedPush& push)
      : jobs_(jobs), evidence_(evidence), options_(options), push_(push) {}

  void tell_all() {
    tell_uid(evidence_.uid, "POD_UID is the uid");
    tell_name(evidence_.name, evidence_.own_namespace, "POD_NAME is the name");
    if (const std::string& ip = evidence_.ip; !ip.empty())
      tell("POD_IP is the address",
           [&](const Pod& pod) { return (pod.ip == ip || pod.second_ip == ip) && pod.live(); });
    tell_token();
    tell_host_name();
    tell_pod_info();
  }

 private:
  // The one member that `fits` says is meant; none when several do, for then it says nothing.
  template <typename Fits>
  void tell(std::string_view evidence, const Fits& fits) {
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
    push_.set_identity(job->job, found->index,
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

  void tell_token() {
    const OwnPod& pod = evidence_.token;
    if (!pod.uid.empty()) return tell_uid(pod.uid, "the service account's token has the uid");
    tell_name(pod.name, pod.name_space, "the service account's token has the name");
  }

  void tell_host_name() {
    const std::string& host = evidence_.host_name;
    if (host.empty()) return;
    tell(evidence_.host_name_said_by, [&](const Pod& pod) {
      const std::string_view own =
          pod.hostname.empty() ? pod.name.view().substr(0, 63) : pod.hostname.view();
      return own == host && same_namespace(pod, evidence_.own_namespace) &&
             pod.phase == Phase::kRunning;
    });
  }

  void tell_pod_info() {
    if (!options_.pod_info) return;
    const OwnPod& pod = evidence_.pod_info;
    const OwnLabels& labels = evidence_.labels;
    if (pod.uid.empty() && pod.name.empty() && labels.pod_name.empty() && labels.index < 0)
      push_.add_warning(
          fmt::format("'pod_info' is {}, and there is neither a file 'uid' nor 'name', nor one "
                      "'labels' with a place",
                      quote(*options_.pod_info, 200)));
    tell_uid(pod.uid, "pod_info has the uid");
    tell_name(pod.name, pod.name_space.empty() ? evidence_.own_namespace : pod.name_space,
              "pod_info has the name");
    tell_name(labels.pod_name, pod.name_space.empty() ? evidence_.own_namespace : pod.name_space,
              "pod_info's labels have the name");
    tell("pod_info's labels have the place", [&](const Pod& one) { return labels.fit(one); });
  }

  const std::vector<JobMembers>& jobs_;
  const Evidence& evidence_;
  const Options& options_;
  support::CheckedPush& push_;
};

}  // namespace

Evidence find_evidence(const Access& access, const Options& options, sdk::Call& call) {
  const auto variable = [&](const char* name) {
    const auto set = call.variable(name);
    return set ? std::string(*set) : std::string();
  };
  Evidence found;
  found.own_namespace = own_namespace(call);
  found.uid = variable("POD_UID");
  found.name = variable("POD_NAME");
  found.ip = variable("POD_IP");
  // Kubernetes makes a token for one pod and writes into it for which.
  found.token = pod_of_token(own_token(call));
  // Elsewhere they are those of some machine, which may be called like a pod.
  if (access.within_cluster || call.variable("KUBERNETES_SERVICE_HOST")) {
    found.host_name = variable("HOSTNAME");
    found.host_name_said_by = "HOSTNAME is the host name";
    if (found.host_name.empty()) {
      found.host_name = call.hostname().value_or("");
      found.host_name_said_by = "this host has the host name";
    }
  }
  if (options.pod_info) {
    const auto file = [&](const char* name) {
      const auto content =
          call.file(fmt::format("{}/{}", *options.pod_info, name), kFileMaximum, 0, true);
      return content ? std::string(support::trimmed(*content)) : std::string();
    };
    found.pod_info = {file("namespace"), file("name"), file("uid")};
    found.labels = own_labels_of(file("labels"));
  }
  return found;
}

std::string member_name(const Pod& pod, bool all_namespaces) {
  return all_namespaces ? full_name(pod) : pod.name.string();
}

void say_identity(const std::vector<JobMembers>& jobs, const Evidence& evidence,
                  const Options& options, support::CheckedPush& push) {
  Teller(jobs, evidence, options, push).tell_all();
}

}  // namespace muster::kubernetes

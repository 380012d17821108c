#include "plugins/kubernetes/identity.h"

#include <fmt/format.h>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

struct Match {
  const std::string* job = nullptr;
  const Member* member = nullptr;
};

// The one member that `fits` says is meant; none when several do, for then it says nothing.
template <typename Fits>
Match only(const std::vector<JobMembers>& jobs, const Fits& fits) {
  Match match;
  for (const JobMembers& job : jobs) {
    for (const Member& member : job.found.members) {
      if (!fits(*member.pod)) continue;
      if (match.member != nullptr) return {};
      match = {&job.job, &member};
    }
  }
  return match;
}

}  // namespace

std::string member_name(const Pod& pod, bool all_namespaces) {
  return all_namespaces ? full_name(pod) : pod.name.string();
}

void say_identity(const std::vector<JobMembers>& jobs, const Access& access, bool all_namespaces,
                  sdk::Call& call) {
  const auto value = [&](const char* name) {
    const auto set = call.variable(name);
    return set && !set->empty() ? std::string(*set) : std::string();
  };
  const std::string own = own_namespace(call);
  const auto same_namespace = [&](const Pod& pod) {
    return own.empty() || pod.name_space.empty() || pod.name_space == own;
  };
  const auto tell = [&](const Match& match, const std::string& variable, const char* what) {
    if (match.member == nullptr) return;
    call.set_identity(*match.job, match.member->index,
                      member_name(*match.member->pod, all_namespaces),
                      fmt::format("{} is the {} of pod {}", variable, what,
                                  quote(full_name(*match.member->pod))));
  };

  if (const std::string uid = value("POD_UID"); !uid.empty())
    tell(only(jobs, [&](const Pod& pod) { return pod.uid == uid; }), "POD_UID", "uid");
  if (const std::string name = value("POD_NAME"); !name.empty())
    tell(only(jobs, [&](const Pod& pod) { return pod.name == name && same_namespace(pod); }),
         "POD_NAME", "name");
  if (const std::string ip = value("POD_IP"); !ip.empty())
    tell(only(jobs, [&](const Pod& pod) { return pod.ip == ip && pod.live(); }), "POD_IP",
         "address");
  // Elsewhere HOSTNAME is that of some machine, which may be called like a pod.
  if (!access.within_cluster && !call.variable("KUBERNETES_SERVICE_HOST")) return;
  if (const std::string host = value("HOSTNAME"); !host.empty())
    tell(only(jobs,
              [&](const Pod& pod) {
                return (pod.hostname.empty() ? pod.name.view().substr(0, 63)
                                             : pod.hostname.view()) == host &&
                       same_namespace(pod) && pod.phase == Phase::kRunning;
              }),
         "HOSTNAME", "host name");
}

}  // namespace muster::kubernetes

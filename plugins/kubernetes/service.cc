#include "plugins/kubernetes/service.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <vector>

#include "plugins/kubernetes/answer.h"
#include "plugins/kubernetes/slices.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;
using support::quote;

bool says_port(const PortRule& rule) {
  return rule.number != 0 || !rule.name.empty() || !rule.annotation.empty();
}

// Two pods of one name are one after the other, as a StatefulSet's are, and slices of two moments may have both: the one that goes
// has a successor. Where not one alone stays nothing tells which is there now, so it is missing.
Member member_of(const std::vector<const Pod*>& of_one_name, const Judge& judge) {
  const Pod* pod = of_one_name.front();
  int64_t staying = 0;
  for (const Pod* one : of_one_name) {
    if (one->deleted != 0) continue;
    pod = one;
    ++staying;
  }
  if (staying < 2) return {pod, MUSTER_UNRANKED, why_missing(*pod, judge), {}};
  return {
      pod,
      MUSTER_UNRANKED,
      fmt::format("{} endpoints have this name, and nothing tells which of them is there", staying),
      {}};
}

}  // namespace

Question service_question(const Access& access, const Options& options) {
  Question question;
  question.path =
      fmt::format("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices?labelSelector={}",
                  percent_encoded(access.name_space),
                  percent_encoded("kubernetes.io/service-name=" + options.service));
  question.what = fmt::format("the endpoints of Service {}", quote(options.service));
  question.verb = "list";
  question.resource = "endpointslices.discovery.k8s.io";
  question.look = fmt::format("kubectl get endpointslices -n {} -l kubernetes.io/service-name={}",
                              access.name_space, options.service);
  question.pointer = "/service";
  return question;
}

sdk::Status push_service(const Access& access, const Options& options, const Judge& judge,
                         sdk::Call& call) {
  auto response = ask_server(access, service_question(access, options), call);
  if (!response) return std::move(response).failure();
  return push_slices(access, options, response->body(), judge, call);
}

sdk::Status push_slices(const Access& access, const Options& options, std::string_view json,
                        const Judge& judge, sdk::Call& call) {
  const Question question = service_question(access, options);
  auto read = read_slices(json);
  if (!read) return std::move(read).failure().with("endpoint", access.server);
  if (read->pods.pods.empty())
    return sdk::Failure{
        MUSTER_E_NOT_FOUND,
        fmt::format("{} in namespace {}: there are none ({}, server {})", question.what,
                    quote(access.name_space), access.origin, access.server),
        {{"hint", question.look}, {"endpoint", access.server}}};

  std::vector<JobMembers> jobs(1);
  jobs[0].job = options.as_job.empty() ? "worker" : options.as_job;
  std::map<std::string_view, std::vector<const Pod*>> by_name;
  for (const Pod& pod : read->pods.pods) by_name[pod.name].push_back(&pod);
  for (const auto& [name, pods] : by_name) jobs[0].found.members.push_back(member_of(pods, judge));

  Options chosen = options;
  if (!says_port(options.port_of(jobs[0].job))) {
    if (read->ports.size() > 1) {
      std::string names;
      for (const std::string& name : read->ports)
        names += (names.empty() ? "" : ", ") + quote(name);
      return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                          fmt::format("Service {} has the ports {}: say with 'port' which one is "
                                      "that of the tasks",
                                      quote(options.service), names),
                          {{"option", "/service"}}};
    }
    chosen.any_port.only = !read->ports.empty();
  }
  return Answers(access, chosen, call).push(jobs);
}

}  // namespace muster::kubernetes

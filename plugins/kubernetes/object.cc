#include "plugins/kubernetes/object.h"

#include <fmt/format.h>

#include "plugins/kubernetes/list.h"
#include "plugins/kubernetes/places.h"
#include "plugins/kubernetes/question.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;
using support::quote;

constexpr int kAttempts = 3;

class ObjectFinder {
 public:
  ObjectFinder(const Access& access, const Options& options, const Judge& judge, sdk::Call& call)
      : finder_(*options.finder),
        access_(access),
        options_(options),
        judge_(judge),
        call_(call),
        what_(fmt::format("{} {}", finder_.kind, quote(options.object))),
        look_(fmt::format("kubectl get {}.{} {} -n {}", finder_.resource, finder_.group,
                          options.object, access.name_space)) {}

  sdk::Result<ObjectMembers> find() {
    auto plan = read();
    if (!plan) return std::move(plan).failure();
    PodListReader reader;
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
      auto pods = list_pods(access_, options_, {plan->selector, pointer()}, options_.wanted(),
                            reader, call_);
      if (!pods) return std::move(pods).failure();
      auto placed =
          place_pods(finder_, options_.object, *plan, pods->pods, options_.as_job, judge_);
      if (!placed) return std::move(placed).failure();
      if (placed->strangers.empty()) return members(*plan, *std::move(pods), *std::move(placed));
      auto again = read();
      if (!again) return std::move(again).failure();
      if (again->version == plan->version && again->uid == plan->uid)
        return members(*plan, *std::move(pods), *std::move(placed));
      call_.host().log(MUSTER_LOG_DEBUG,
                       fmt::format("kubernetes: {} changed while its pods were listed; both are "
                                   "asked again",
                                   what_));
      plan = std::move(again);
    }
    return sdk::Failure{
        MUSTER_E_UNAVAILABLE,
        fmt::format("{} changed each time its pods were listed, {} times: no answer "
                    "would be of one moment",
                    what_, kAttempts),
        {{"hint", look_}, {"endpoint", access_.server}}};
  }

 private:
  std::string pointer() const { return std::string("/") + finder_.option; }

  sdk::Result<Plan> read() {
    Question question;
    question.path =
        fmt::format("{}/namespaces/{}/{}/{}", finder_.path, percent_encoded(access_.name_space),
                    finder_.resource, percent_encoded(options_.object));
    question.what = what_;
    question.needed = {finder_.group, finder_.resource, "get"};
    question.look = look_;
    question.pointer = pointer();
    auto response = ask_server(access_, question, call_);
    if (!response) return std::move(response).failure();
    auto plan = read_plan(finder_, options_.object, response->body());
    if (!plan) return std::move(plan).failure().with("endpoint", access_.server);
    return plan;
  }

  sdk::Result<ObjectMembers> members(const Plan& plan, PodList pods, Placed placed) {
    for (const std::string& note : placed.notes)
      call_.host().log(MUSTER_LOG_DEBUG, "kubernetes: " + note);
    int64_t expected = 0;
    for (const Role& role : plan.roles) expected += role.expected;
    const auto nothing = [&](const std::string& why) {
      return sdk::Failure{
          MUSTER_E_NOT_FOUND,
          fmt::format("{} in namespace {} {} ({}, server {})", what_, quote(access_.name_space),
                      why, access_.origin, access_.server),
          {{"hint", look_}, {"endpoint", access_.server}}};
    };
    bool any_going = false;
    for (const JobMembers& job : placed.jobs)
      for (const Member& member : job.found.members)
        any_going = any_going || (member.pod != nullptr && !member.pod->ended_well() &&
                                  member.pod->phase != Phase::kFailed);
    if (!plan.ended.empty() && !any_going) return nothing(fmt::format("has ended: {}", plan.ended));
    if (expected == 0 && placed.pods == 0) return nothing("is to have no pods");

    ObjectMembers out;
    out.warnings = std::move(placed.warnings);
    for (const std::string& stranger : placed.strangers)
      out.warnings.push_back(stranger + "; it does not count");
    if (plan.deleting) out.warnings.push_back(fmt::format("{} is being deleted", what_));
    if (!plan.ended.empty())
      out.warnings.push_back(fmt::format("{} has ended: {}", what_, plan.ended));
    out.jobs = std::move(placed.jobs);
    out.pods = std::move(pods);
    return out;
  }

  const Finder& finder_;
  const Access& access_;
  const Options& options_;
  const Judge& judge_;
  sdk::Call& call_;
  const std::string what_, look_;
};

}  // namespace

sdk::Result<ObjectMembers> find_object_members(const Access& access, const Options& options,
                                               const Judge& judge, sdk::Call& call) {
  return ObjectFinder(access, options, judge, call).find();
}

}  // namespace muster::kubernetes

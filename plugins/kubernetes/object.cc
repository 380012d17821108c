#include "plugins/kubernetes/object.h"

#include <fmt/format.h>

#include "plugins/kubernetes/list.h"
#include "plugins/kubernetes/places.h"
#include "plugins/kubernetes/refusal.h"
#include "plugins/kubernetes/train_job.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::percent_encoded;
using support::quote;

constexpr int kAttempts = 3;

std::string pointer_of(const Finder& finder) { return std::string("/") + finder.option; }

}  // namespace

ObjectFinder::ObjectFinder(const Access& access, const Options& options, sdk::Call& call)
    : finder_(*options.finder),
      access_(access),
      options_(options),
      call_(call),
      what_(fmt::format("{} {}", finder_.kind, quote(options.object))),
      look_(fmt::format("kubectl get {}.{} {} -n {}", finder_.resource, finder_.group,
                        options.object, access.name_space)) {}

Question ObjectFinder::question() const {
  Question question;
  question.path =
      fmt::format("{}/namespaces/{}/{}/{}", finder_.path, percent_encoded(access_.name_space),
                  finder_.resource, percent_encoded(options_.object));
  question.what = what_;
  question.verb = "get";
  question.resource = fmt::format("{}.{}", finder_.resource, finder_.group);
  question.look = look_;
  question.pointer = pointer_of(finder_);
  return question;
}

Question ObjectFinder::watch_question() const {
  Question question = this->question();
  question.path = fmt::format("{}/namespaces/{}/{}?fieldSelector=metadata.name%3D{}", finder_.path,
                              percent_encoded(access_.name_space), finder_.resource,
                              percent_encoded(options_.object));
  question.verb = "watch";
  return question;
}

sdk::Result<Plan> ObjectFinder::read() const {
  auto response = ask_server(access_, question(), call_);
  if (!response) return why_not_there(std::move(response).failure());
  return read(response->body());
}

sdk::Failure ObjectFinder::why_not_there(sdk::Failure failure) const {
  const Maker* maker = finder_.maker;
  if (maker == nullptr || failure.code != MUSTER_E_NOT_FOUND) return failure;
  Question question;
  question.path =
      fmt::format("{}/namespaces/{}/{}/{}", maker->path, percent_encoded(access_.name_space),
                  maker->resource, percent_encoded(options_.object));
  question.what = fmt::format("{} {}", maker->kind, quote(options_.object));
  question.verb = "get";
  question.resource = fmt::format("{}.{}", maker->resource, maker->group);
  question.look = fmt::format("kubectl get {} {} -n {}", question.resource, options_.object,
                              access_.name_space);
  question.pointer = pointer_of(finder_);
  auto response = ask_server(access_, question, call_);
  if (!response) {
    sdk::Failure of_maker = std::move(response).failure();
    if (of_maker.code != MUSTER_E_PERMISSION_DENIED) return of_maker;
    failure.message +=
        fmt::format("; whether {} is there is not known: {}", question.what, of_maker.message);
    return failure;
  }
  auto why = why_no_job_set(options_.object, response->body());
  if (!why) return std::move(why).failure().with("endpoint", access_.server);
  failure.message = fmt::format("{} {} has no JobSet: {} ({}, server {})", question.what,
                                place_of(access_), *why, access_.origin, access_.server);
  for (auto& detail : failure.details)
    if (detail.first == "hint") detail.second = fmt::format("{} -o yaml", question.look);
  return failure;
}

sdk::Result<Plan> ObjectFinder::read(std::string_view json) const {
  auto plan = read_plan(finder_, options_.object, json);
  if (!plan) return std::move(plan).failure().with("endpoint", access_.server);
  const Maker* maker = finder_.maker;
  if (maker != nullptr && plan->controller != fmt::format("{}/{}", maker->kind, options_.object))
    return sdk::Failure{
        MUSTER_E_NOT_FOUND,
        fmt::format("JobSet {} {} was made by no {} of its name ({}, server {})",
                    quote(options_.object), place_of(access_), maker->kind, access_.origin,
                    access_.server),
        {{"hint", "the option 'jobset' finds a JobSet that nobody made, by its name"},
         {"endpoint", access_.server}}};
  return plan;
}

Selector ObjectFinder::selector(const Plan& plan) const {
  return {plan.selector, pointer_of(finder_)};
}

sdk::Result<Placed> ObjectFinder::place(const Plan& plan, const Pods& pods,
                                        const Judge& judge) const {
  return place_pods(finder_, options_.object, plan, pods, options_.as_job, judge);
}

sdk::Result<ObjectMembers> ObjectFinder::members(const Plan& plan, Placed placed) const {
  for (const std::string& note : placed.notes)
    call_.host().log(MUSTER_LOG_DEBUG, "kubernetes: " + note);
  int64_t expected = 0;
  for (const Role& role : plan.roles) expected += role.expected;
  const auto nothing = [&](const std::string& why) {
    return sdk::Failure{MUSTER_E_NOT_FOUND,
                        fmt::format("{} in namespace {} {} ({}, server {})", what_,
                                    quote(access_.name_space), why, access_.origin, access_.server),
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
  return out;
}

sdk::Result<ObjectMembers> find_object_members(const Access& access, const Options& options,
                                               const Judge& judge, sdk::Call& call) {
  const ObjectFinder finder(access, options, call);
  auto plan = finder.read();
  if (!plan) return std::move(plan).failure();
  PodListReader reader;
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    auto pods = list_pods(access, options, finder.selector(*plan), options.wanted(), reader, call);
    if (!pods) return std::move(pods).failure();
    auto placed = finder.place(*plan, pods->pods, judge);
    if (!placed) return std::move(placed).failure();
    bool settled = placed->strangers.empty();
    if (!settled) {
      auto again = finder.read();
      if (!again) return std::move(again).failure();
      settled = again->version == plan->version && again->uid == plan->uid;
      if (!settled) plan = std::move(again);
    }
    if (settled) {
      auto found = finder.members(*plan, *std::move(placed));
      if (found) found->pods = *std::move(pods);
      return found;
    }
    call.host().log(MUSTER_LOG_DEBUG,
                    fmt::format("kubernetes: {} {} changed while its pods were listed; both are "
                                "asked again",
                                options.finder->kind, quote(options.object)));
  }
  return sdk::Failure{
      MUSTER_E_UNAVAILABLE,
      fmt::format("{} {} changed each time its pods were listed, {} times: no answer "
                  "would be of one moment",
                  options.finder->kind, quote(options.object), kAttempts),
      {{"hint", finder.look()}, {"endpoint", access.server}}};
}

}  // namespace muster::kubernetes

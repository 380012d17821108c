#include "plugins/gce/compute.h"

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using support::percent_encoded;
using support::quote;
using support::google::Asked;
using support::google::Question;

// Up to so many bytes of names a list asks for them alone, whatever else is in their zones. A URL holds 2,048.
constexpr size_t kNamesMaximum = 1000;

// The members whose instance has not come.
std::vector<const GroupMember*> missing(const std::vector<GroupMember>& group,
                                        const std::vector<Instance>& instances) {
  std::set<std::pair<std::string_view, std::string_view>> there;
  for (const Instance& instance : instances) there.emplace(instance.zone, instance.name);
  std::vector<const GroupMember*> out;
  for (const GroupMember& member : group)
    if (!member.status.empty() && there.count({member.zone, member.name}) == 0)
      out.push_back(&member);
  return out;
}

// Their names, which become a regular expression; none when that would be too long, or they are no names.
std::vector<std::string> names_of(const std::vector<const GroupMember*>& members) {
  std::vector<std::string> names;
  size_t size = 0;
  for (const GroupMember* member : members) {
    size += member->name.size() + 1;
    if (size > kNamesMaximum || member->name.find_first_not_of(
                                    "abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
      return {};
    names.push_back(member->name);
  }
  return names;
}

}  // namespace

template <typename List>
sdk::Status Compute::ask_on(List& list) {
  if (auto paused = list.pause(call_); !paused) return paused;
  auto response =
      support::google::ask_api(credentials_, list.question(), call_, list.may_be_absent());
  return response ? list.take(*response) : sdk::Status(std::move(response).failure());
}

Question Compute::port_question() const {
  Question ask = compute_question(
      place_, fmt::format("{}/instanceGroups/{}", place_.scope, percent_encoded(options_.group)),
      "fields=namedPorts&");
  ask.what = group_in_words(place_, options_);
  ask.purpose = fmt::format("the named ports of {}", options_.group);
  ask.permission = "compute.instanceGroups.get";
  ask.option = "/instance_group";
  ask.look = fmt::format("gcloud compute instance-groups get-named-ports {}", options_.group);
  return ask;
}

sdk::Status Compute::take_port(const sdk::Response& response) {
  std::string known;
  auto port = gce::named_port(response.body(), options_.port.name, known);
  if (!port) return std::move(port).failure().with("endpoint", place_.base);
  port_ = *port;
  if (port_ != 0) return {};
  return sdk::Failure{
      MUSTER_E_INVALID_ARGUMENT,
      fmt::format("{} has no named port {}; {}", group_in_words(place_, options_),
                  quote(options_.port.name),
                  known.empty() ? "it has none at all" : "it has " + known),
      {{"option", "/port"},
       {"hint",
        fmt::format("gcloud compute instance-groups set-named-ports {} --named-ports {}:8470",
                    options_.group, options_.port.name)}}};
}

sdk::Result<Members> Compute::of_group(int& managed) {
  GroupList group(place_, options_, managed);
  // In a region the members' zones are not known yet.
  InstanceList list(place_, options_,
                    options_.region.empty() ? place_.scope.substr(place_.scope.find('/') + 1) : "");
  managed = -1;  // until it is said again: one of the other kind may have taken the name
  std::vector<Asked> first = {{group.question(), group.may_be_absent()}, {list.question(), false}};
  if (!options_.port.name.empty()) first.push_back({port_question(), false});
  auto answers = support::google::ask_api_together(credentials_, first, call_);
  if (!answers[0]) return std::move(answers[0]).failure();
  if (auto taken = group.take(*answers[0]); !taken) return std::move(taken).failure();
  while (!group.done())
    if (auto asked = ask_on(group); !asked) return std::move(asked).failure();
  managed = group.managed() ? 1 : 0;
  if (answers.size() > 2) {
    if (!answers[2]) return std::move(answers[2]).failure();
    if (auto taken = take_port(*answers[2]); !taken) return std::move(taken).failure();
  }
  if (group.members().empty())
    return sdk::Failure{MUSTER_E_NOT_FOUND,
                        group_in_words(place_, options_) + " has no instances",
                        {{"option", "/instance_group"}}};
  const std::vector<std::string> zones = zones_to_ask(group.members());
  // With none of them nobody has to be there yet, and what became of the first page does not matter.
  if (zones.empty()) return join(group.members(), {}, options_);
  if (!answers[1]) return std::move(answers[1]).failure();
  if (auto taken = list.take(*answers[1]); !taken) return std::move(taken).failure();
  auto instances = rest(list, group.members(), zones);
  if (!instances) return std::move(instances).failure();
  return join(group.members(), *std::move(instances), options_);
}

// What the first page lacks: few are asked for by their names, however full their zones are, more by the pages that are left.
sdk::Result<std::vector<Instance>> Compute::rest(InstanceList& first,
                                                 const std::vector<GroupMember>& group,
                                                 const std::vector<std::string>& zones) {
  std::vector<Instance> by_name;
  while (!first.done()) {
    const std::vector<const GroupMember*> lacking = missing(group, first.instances());
    if (lacking.empty()) break;
    const std::vector<std::string> names = names_of(lacking);
    if (names.empty()) {
      if (auto asked = ask_on(first); !asked) return std::move(asked).failure();
      continue;
    }
    InstanceList few(place_, options_, zones.size() == 1 ? zones[0] : "", names);
    while (!few.done())
      if (auto asked = ask_on(few); !asked) return std::move(asked).failure();
    if (auto reached = few.check_reached(zones); !reached) return std::move(reached).failure();
    by_name = few.take_instances();
    break;
  }
  if (auto reached = first.check_reached(zones); !reached) return std::move(reached).failure();
  std::vector<Instance> out = first.take_instances();
  std::move(by_name.begin(), by_name.end(), std::back_inserter(out));
  return out;
}

sdk::Result<Members> Compute::selected() {
  InstanceList list(place_, options_, options_.zone);
  while (!list.done())
    if (auto asked = ask_on(list); !asked) return std::move(asked).failure();
  if (auto reached = list.check_reached({}); !reached) return std::move(reached).failure();
  auto members = select(list.take_instances(), options_);
  if (members && members->members.empty())
    return sdk::Failure{
        MUSTER_E_NOT_FOUND,
        fmt::format("no instance in {} of project {} fits {}",
                    options_.zone.empty() ? "any zone" : "zone " + quote(options_.zone),
                    quote(place_.project),
                    options_.filter.empty() ? "the tag " + quote(options_.tag)
                    : options_.tag.empty()
                        ? "the filter " + quote(options_.filter, 500)
                        : fmt::format("the filter {} and the tag {}", quote(options_.filter, 500),
                                      quote(options_.tag))),
        {{"option", options_.filter.empty() ? "/tag" : "/filter"}}};
  return members;
}

}  // namespace muster::gce

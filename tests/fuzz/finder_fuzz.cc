// The object of a finder: any bytes give a plan whose places can be counted and named, or an error. The first byte says of which.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "plugins/kubernetes/finder.h"
#include "plugins/kubernetes/places.h"
#include "plugins/support/text.h"

namespace {

using namespace muster::kubernetes;

// Without any pod each place is missing, and once.
void look_at_places(const Finder& finder, const Plan& plan) {
  const auto placed = place_pods(finder, "train", plan, {}, "", {Require::kRunning});
  if (!placed) std::abort();
  for (const JobMembers& job : placed->jobs) {
    std::set<int64_t> seen;
    for (const Member& member : job.found.members)
      if (member.missing.empty() || (member.index >= 0 && !seen.insert(member.index).second))
        std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Finder& finder = finders()[data[0] % finders().size()];
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  text.append(64, '\0');  // what a response has behind it
  const auto plan = read_plan(finder, "train", {text.data(), size - 1});
  if (!plan) {
    if (plan.failure().message.empty()) std::abort();
    return 0;
  }
  if (plan->uid.empty() || plan->selector.empty() || plan->roles.empty()) std::abort();
  if (!plan->ended.empty() && !muster::support::is_text(plan->ended)) std::abort();
  int64_t places = 0;
  for (const Role& role : plan->roles) {
    if (!muster::support::is_text(role.name) || role.expected < 0 || role.expected > role.places)
      std::abort();
    places += role.places;
    if (place_name(finder, "train", role, 0).empty()) std::abort();
    if (role.places > 0 && place_name(finder, "train", role, role.places - 1).empty()) std::abort();
  }
  if (places > MUSTER_TASKS_MAXIMUM) std::abort();
  if (places < 1000) look_at_places(finder, *plan);
  return 0;
}

#include "plugins/kubernetes/planned.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace muster::kubernetes {

void say_planned(const Options& options, int64_t members, sdk::Call& call) {
  const auto say = [&](const std::string& request, int64_t least, int64_t most,
                       const std::string& reason) {
    call.add_planned({"Kubernetes API server", request, least, most, reason, "", 0});
  };
  if (!options.service.empty()) {
    say("list endpointslices.discovery.k8s.io", 1, 1, "all of the Service at once");
    return;
  }
  // Where the last page is full the server says that there is another one when any pod is behind it, of whatever labels.
  const auto say_lists = [&](int64_t lists) {
    const int64_t full = members / options.page_size;
    const int64_t least = std::max(lists, full + (members % options.page_size != 0 ? 1 : 0));
    const std::string by = fmt::format("{} a page", options.page_size);
    say("list pods", least, full + lists, lists == 1 ? by : fmt::format("{} lists, {}", lists, by));
  };
  if (options.finder != nullptr) {
    say(fmt::format("get {}.{}", options.finder->resource, options.finder->group), 1, 1,
        "once more where a pod is not its own");
    say_lists(1);
    return;
  }
  std::set<std::string> selectors;
  for (const JobSelectors& job : options.jobs)
    for (const Selector& selector : job.selectors) selectors.insert(selector.text);
  say_lists(static_cast<int64_t>(selectors.size()));
}

}  // namespace muster::kubernetes

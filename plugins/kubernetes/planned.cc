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
  const int64_t pages = (members + options.page_size - 1) / options.page_size;
  const std::string by = fmt::format("{} a page", options.page_size);
  if (options.finder != nullptr) {
    say(fmt::format("get {}.{}", options.finder->resource, options.finder->group), 1, 1,
        "once more where a pod is not its own");
    say("list pods", pages, pages, by);
    return;
  }
  std::set<std::string> selectors;
  for (const JobSelectors& job : options.jobs)
    for (const Selector& selector : job.selectors) selectors.insert(selector.text);
  // Each has one page at least, and the last one of each may be short.
  const auto lists = static_cast<int64_t>(selectors.size());
  say("list pods", std::max(lists, pages), pages - 1 + lists,
      lists == 1 ? by : fmt::format("{} lists, {}", lists, by));
}

}  // namespace muster::kubernetes

// PodList: any bytes give pods that can be ranked, each index once, or an error.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/pod_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster::kubernetes;
  std::string text(reinterpret_cast<const char*>(data), size);
  text.append(64, '\0');  // what a response has behind it
  static PodListReader reader;
  const Wanted wanted = {{"a", "port"}, true};
  PodList list;
  const auto page = reader.read({text.data(), size}, wanted, list);
  (void)read_status({text.data(), size});
  if (!page) {
    if (page.failure().code != MUSTER_E_DATA_LOSS || page.failure().message.empty()) std::abort();
    return 0;
  }
  for (const Pod& pod : list.pods)
    if (pod.name.empty() || pod.phase == Phase::kNone) std::abort();
  for (const SelectedPods& selected :
       {SelectedPods{&list.pods}, SelectedPods{&list.pods, &list.pods}}) {
    const Members members = find_members(selected, {Require::kRunning});
    std::set<int64_t> seen;
    bool ranked = false, unranked = false;
    for (const Member& member : members.members) {
      if (member.pod->ended_well()) std::abort();
      if (member.missing.empty() && !member.pod->live()) std::abort();
      // A pod that lives is missing only where another one may be meant.
      if (!member.missing.empty() && member.pod->live() && list.pods.size() == 1) std::abort();
      (member.index < 0 ? unranked : ranked) = true;
      if (member.index >= 0 && (!seen.insert(member.index).second || member.index > 2147483647))
        std::abort();
    }
    if (ranked && unranked) std::abort();
  }
  return 0;
}

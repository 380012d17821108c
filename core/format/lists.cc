// The formats of one short line a task or host.
#include <unordered_map>

#include "core/format/renderers.h"
#include "core/format/text.h"
#include "core/spec/quote.h"

namespace muster {

std::string render_addresses(const Snapshot& snapshot) {
  std::string out;
  for (const RankedTask& ranked : ranked_tasks(snapshot.spec)) {
    ranked.task->address.append_to(out);
    out += '\n';
  }
  return out;
}

// Open MPI's parser takes IPv6 bare and refuses it in brackets; what follows a ':' it takes for part of a name, so ports are
// not said. A host stands where its first task has its rank.
std::string render_hostfile(const Snapshot& snapshot) {
  std::unordered_map<std::string_view, size_t> slots;
  std::vector<std::string_view> hosts;
  for (const RankedTask& ranked : ranked_tasks(snapshot.spec)) {
    const std::string_view host = ranked.task->address.host();
    if (++slots[host] == 1) hosts.emplace_back(host);
  }
  std::string out;
  for (const std::string_view host : hosts) {
    out += host;
    out += " slots=";
    append_number(out, static_cast<int64_t>(slots[host]));
    out += '\n';
  }
  return out;
}

// A line feed in a name, and whatever else some reader takes for the end of a line, is escaped: there are as many lines as tasks.
std::string render_names(const Snapshot& snapshot) {
  std::string out;
  for (const auto& [job, task] : ranked_tasks(snapshot.spec)) {
    out += task->name.empty() ? printable(job->name) + "/" + std::to_string(task->index)
                              : printable(task->name.view());
    out += '\n';
  }
  return out;
}

}  // namespace muster

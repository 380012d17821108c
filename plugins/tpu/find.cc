#include "plugins/tpu/find.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using support::quote;

constexpr size_t kNamesToTell = 20;

// How many letters must change.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t corner = row[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, corner + (a[i] == b[j] ? 0 : 1)});
      corner = above;
    }
  }
  return row[b.size()];
}

sdk::Failure dark(const std::string& what, const std::vector<std::string>& zones) {
  return {
      MUSTER_E_UNAVAILABLE,
      fmt::format("Cloud TPU's answer lacks zone{} {}, which did not answer: whether {} is there "
                  "cannot be told",
                  zones.size() == 1 ? "" : "s", fmt::join(zones, ", "), what),
      {{"hint", "is there an outage? https://status.cloud.google.com"}}};
}

sdk::Failure not_there(const std::string& name, const Wanted& wanted,
                       const std::vector<Node>& known) {
  const std::string where =
      wanted.zone.empty() ? "any zone" : fmt::format("zone {}", quote(wanted.zone));
  sdk::Failure out{MUSTER_E_NOT_FOUND,
                   fmt::format("{} says TPU {}, and there is none of that name in {}",
                               wanted.said_by, quote(name), where),
                   {}};
  if (wanted.said_by == "the option tpu") out.details.emplace_back("option", "/tpu");
  std::vector<std::string> names, list;
  for (const Node& node : known) {
    if (node.name == name) {
      out.message += fmt::format("; it is in zone {}", quote(node.zone));
      out.details.emplace_back("hint", fmt::format("-O zone={}", node.zone));
      return out;
    }
    names.push_back(node.name);
    if (list.size() < kNamesToTell)
      list.push_back(fmt::format("{} ({}, {})", node.name, node.zone,
                                 node.state.empty() ? "no state" : node.state));
  }
  if (const std::string near = nearest(name, names); !near.empty())
    out.details.emplace_back("hint", fmt::format("did you mean {}?", quote(near)));
  out.message += list.empty() ? "; the project has no TPU that you may see"
                              : fmt::format("; there are {}{}", fmt::join(list, ", "),
                                            known.size() > list.size() ? ", ..." : "");
  return out;
}

// The node of that name among all; null when there is none. Of several the one in this machine's own zone.
sdk::Result<const Node*> among(const std::vector<Node>& nodes, const std::string& name,
                               const Wanted& wanted) {
  const Node* found = nullptr;
  std::vector<std::string> zones;
  for (const Node& node : nodes) {
    if (node.name != name || (!wanted.zone.empty() && node.zone != wanted.zone)) continue;
    // One that a later page has again is the same one.
    if (std::find(zones.begin(), zones.end(), node.zone) != zones.end()) continue;
    zones.push_back(node.zone);
    if (found == nullptr || node.zone == wanted.own_zone) found = &node;
  }
  if (zones.size() > 1 && found->zone != wanted.own_zone)
    return sdk::Failure{MUSTER_E_INVALID_ARGUMENT,
                        fmt::format("there are {} TPUs {}: in the zones {}", zones.size(),
                                    quote(name), fmt::join(zones, ", ")),
                        {{"option", "/zone"}, {"hint", fmt::format("-O zone={}", zones[0])}}};
  return found;
}

// The queued resource that is to become a node of that name; null for none. Of several one that still may.
const Queued* queued_for(const std::vector<Queued>& all, const std::string& name,
                         const Wanted& wanted, const QueuedNode*& node) {
  const Queued* found = nullptr;
  for (const Queued& queued : all)
    for (const QueuedNode& one : queued.nodes) {
      if (one.name != name || (!wanted.zone.empty() && one.zone != wanted.zone)) continue;
      if (found != nullptr && (!found->lost() || queued.lost())) continue;
      node = &one;
      found = &queued;
    }
  return found;
}

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  std::string out;
  size_t best = std::max<size_t>(name.size() / 3, 1) + 1;
  for (const std::string& one : known) {
    const size_t far = distance(name, one);
    if (far < best) {
      best = far;
      out = one;
    }
  }
  return out;
}

sdk::Result<std::vector<Slice>> find_nodes(Api& api, const Wanted& wanted, const Options& options,
                                           int64_t now_s) {
  std::vector<Slice> out;
  if (wanted.names.size() == 1 && !wanted.zone.empty()) {
    auto node = api.node(wanted.zone, wanted.names[0]);
    if (!node) return std::move(node).failure();
    if (*node) {
      out.push_back(slice_of(**node, options, now_s));
      return out;
    }
  }
  // One name that is not where it should be is looked for everywhere.
  const bool everywhere = wanted.zone.empty() || wanted.names.size() == 1;
  auto nodes = api.nodes(everywhere ? kAllZones : wanted.zone);
  if (!nodes) return std::move(nodes).failure();
  std::optional<Listed<Queued>> queued;
  for (const std::string& name : wanted.names) {
    auto node = among(nodes->items, name, wanted);
    if (!node) return std::move(node).failure();
    if (*node != nullptr) {
      out.push_back(slice_of(**node, options, now_s));
      continue;
    }
    const auto lost = [&](const std::vector<std::string>& zones) {
      return wanted.zone.empty()
                 ? !zones.empty()
                 : std::find(zones.begin(), zones.end(), wanted.zone) != zones.end();
    };
    if (lost(nodes->unreachable)) return dark("TPU " + quote(name), nodes->unreachable);
    if (!queued) {
      auto asked = api.all_queued(wanted.zone.empty() ? kAllZones : wanted.zone);
      if (!asked) return std::move(asked).failure();
      queued = *std::move(asked);
    }
    const QueuedNode* waiting = nullptr;
    const Queued* request = queued_for(queued->items, name, wanted, waiting);
    if (request != nullptr) {
      out.push_back(slice_of(*waiting, *request));
      continue;
    }
    if (lost(queued->unreachable)) return dark("TPU " + quote(name), queued->unreachable);
    return not_there(name, wanted, nodes->items);
  }
  return out;
}

sdk::Result<std::vector<Slice>> find_queued(Api& api, const Wanted& wanted, const Options& options,
                                            int64_t now_s) {
  const std::string& name = wanted.names[0];
  std::optional<Queued> found;
  std::vector<std::string> known;
  if (!wanted.zone.empty()) {
    auto one = api.queued(wanted.zone, name);
    if (!one) return std::move(one).failure();
    found = *std::move(one);
  }
  if (!found) {
    auto all = api.all_queued(kAllZones);
    if (!all) return std::move(all).failure();
    for (const Queued& one : all->items) {
      known.push_back(one.name);
      if (one.name == name && wanted.zone.empty() && (!found || one.zone == wanted.own_zone))
        found = one;
    }
    if (!found && !all->unreachable.empty())
      return dark("queued resource " + quote(name), all->unreachable);
  }
  if (!found) {
    const std::string near = nearest(name, known);
    return sdk::Failure{
        MUSTER_E_NOT_FOUND,
        fmt::format("there is no queued resource {} in {}; {}", quote(name),
                    wanted.zone.empty() ? "any zone" : "zone " + quote(wanted.zone),
                    known.empty() ? "the project has none that you may see"
                                  : fmt::format("there are {}", fmt::join(known, ", "))),
        {{"option", "/queued_resource"},
         {"hint", near.empty() ? "gcloud compute tpus queued-resources list --zone=ZONE"
                               : fmt::format("did you mean {}?", quote(near))}}};
  }
  std::vector<Slice> out;
  for (const QueuedNode& node : found->nodes) out.push_back(slice_of(node, *found));
  if (out.empty())
    return sdk::Failure{
        MUSTER_E_DATA_LOSS, fmt::format("{}, and it names no TPU", found->in_words()), {}};
  if (!found->active()) return out;
  auto nodes = api.nodes(found->nodes[0].zone);
  if (!nodes) return std::move(nodes).failure();
  if (!nodes->unreachable.empty())
    return dark("a TPU of queued resource " + quote(name), nodes->unreachable);
  for (size_t n = 0; n < out.size(); ++n)
    for (const Node& node : nodes->items)
      if (node.name == found->nodes[n].name && node.zone == found->nodes[n].zone)
        out[n] = slice_of(node, options, now_s);
  return out;
}

}  // namespace muster::tpu

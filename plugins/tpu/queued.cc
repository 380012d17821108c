#include "plugins/tpu/queued.h"

#include <fmt/format.h>

#include <array>

#include "plugins/support/quote_answer.h"
#include "plugins/support/strict_json.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using support::StrictJson;

constexpr int64_t kNodesMaximum = 10000;

constexpr std::array<StateWords, 9> kStates = {{
    {"CREATING", "it is being received", false},
    {"ACCEPTED", "it stands in the queue", false},
    {"WAITING_FOR_RESOURCES", "there is no capacity for it yet", false},
    {"PROVISIONING", "its TPUs are being made", false},
    {"ACTIVE", "its TPUs are there", false},
    {"FAILED", "it failed; delete it, and ask anew", true},
    {"DELETING", "it is being deleted", true},
    {"SUSPENDING", "its TPUs are being taken away", true},
    {"SUSPENDED", "its TPUs were taken away or deleted; delete it, and ask anew", true},
}};

// The nodes of a specification that names many by a prefix; false where it is not of that form.
bool read_many(const StrictJson& spec, const char* form, QueuedNode node, Queued& out) {
  if (spec.presence(form) == StrictJson::Presence::kAbsent) return false;
  const int64_t count = spec.number(std::string(form) + "/nodeCount", {1, kNodesMaximum});
  const std::string prefix(spec.text(std::string(form) + "/nodeIdPrefix"));
  for (int64_t n = 0; n < count; ++n) {
    node.name = fmt::format("{}-{}", prefix, n);
    out.nodes.push_back(node);
  }
  return true;
}

void read_one(const StrictJson& at, Queued& out) {
  ResourceName name = resource_name(at);
  out.name = std::move(name.name);
  out.zone = std::move(name.zone);
  out.state = at.text_or("/state/state", "");
  out.error = at.text_or("/state/failedData/error/message", "");
  for (const StrictJson& spec : at.list_or_none("/tpu/nodeSpec")) {
    QueuedNode node;
    node.zone = zone_in(spec.text_or("/parent", ""));
    if (node.zone.empty()) node.zone = out.zone;
    node.type = spec.text_or("/node/acceleratorType", "");
    node.name = spec.text_or("/nodeId", "");
    if (!node.name.empty()) {
      out.nodes.push_back(node);
      continue;
    }
    const bool multislice = read_many(spec, "/multisliceParams", node, out);
    const bool multi_node = read_many(spec, "/multiNodeParams", node, out);
    if (!multislice && !multi_node)
      spec.refuse("", "names no node: it has neither 'nodeId' nor the parameters of many");
  }
}

}  // namespace

bool Queued::lost() const {
  const StateWords* words = words_of(kStates, state);
  return words != nullptr && words->lost;
}

std::string Queued::in_words() const {
  std::string out = fmt::format("queued resource {} is {}", support::quote(name),
                                state.empty() ? "in no state yet" : support::plain_answer(state));
  if (const StateWords* words = words_of(kStates, state); words != nullptr)
    out += fmt::format(": {}", words->meaning);
  if (!error.empty()) out += fmt::format(" ({})", support::quote(error, 300));
  return out;
}

sdk::Result<Queued> read_queued(std::string_view json) {
  Queued out;
  if (auto read =
          read_single(json, "queued resources", [&](const StrictJson& at) { read_one(at, out); });
      !read)
    return std::move(read).failure();
  return out;
}

sdk::Result<QueuedPage> read_queued_list(std::string_view json) {
  QueuedPage out;
  const auto one = [&](const StrictJson& at) { read_one(at, out.queued.emplace_back()); };
  if (auto read = read_page(json, "queued resources", "queuedResources", one, out); !read)
    return std::move(read).failure();
  return out;
}

}  // namespace muster::tpu

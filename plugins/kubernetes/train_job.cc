#include "plugins/kubernetes/train_job.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstdint>

#include "plugins/kubernetes/finder.h"
#include "plugins/support/json_at.h"
#include "plugins/support/strict_json.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;
using support::StrictJson;

// As trainer.kubeflow.org/v1alpha1 has it: spec.trainer.numNodes is over what the runtime says, and may be absent.
std::string what_is_to_be(const StrictJson& root) {
  const std::string_view runtime = root.text_or("/spec/runtimeRef/name", "");
  const std::string_view kind = root.text_or("/spec/runtimeRef/kind", "");
  std::string by;
  if (!runtime.empty())
    by = fmt::format(" of {} {}", kind.empty() ? "runtime" : kind, quote(runtime));
  const int64_t nodes = root.number_or("/spec/trainer/numNodes", {0, INT32_MAX}, 0);
  if (nodes > 0)
    return fmt::format("; it is to have {} node{}{}", nodes, nodes == 1 ? "" : "s", by);
  return by.empty() ? "" : fmt::format("; it is to have the nodes{}", by);
}

std::string why_none(const StrictJson& root) {
  const std::string ended = how_ended(root);
  const bool deleting = !root.text_or("/metadata/deletionTimestamp", "").empty();
  const bool suspended = root.flag_or("/spec/suspend", false);
  const std::string nodes = what_is_to_be(root);
  if (!ended.empty()) return fmt::format("it has ended: {}", ended);
  if (deleting) return "it is being deleted";
  return (suspended ? "it is suspended" : "it has not made one yet") + nodes;
}

}  // namespace

sdk::Result<std::string> why_no_job_set(const std::string& name, std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  std::string wrong = support::parse_object(json, parser, document), said;
  if (wrong.empty()) {
    const StrictJson root(document, wrong);
    if (const std::string_view its = root.text("/metadata/name"); its != name)
      root.refuse("/metadata/name", fmt::format("is {}", quote(its)));
    said = why_none(root);
  }
  if (wrong.empty()) return said;
  return sdk::Failure{
      MUSTER_E_DATA_LOSS,
      fmt::format("the API server's TrainJob {} cannot be understood: {}", quote(name), wrong),
      {}};
}

}  // namespace muster::kubernetes

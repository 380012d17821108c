#include "plugins/kubernetes/train_job.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "plugins/kubernetes/finder.h"
#include "plugins/support/json_at.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using simdjson::dom::element;
using support::quote;
using support::text_at;

// As trainer.kubeflow.org/v1alpha1 has it: spec.trainer.numNodes is over what the runtime says, and may be absent.
std::string what_is_to_be(element root) {
  const std::string_view runtime = text_at(root, "/spec/runtimeRef/name");
  const std::string_view kind = text_at(root, "/spec/runtimeRef/kind");
  std::string by;
  if (!runtime.empty())
    by = fmt::format(" of {} {}", kind.empty() ? "runtime" : kind, quote(runtime));
  int64_t nodes = 0;
  if (!root.at_pointer("/spec/trainer/numNodes").get_int64().get(nodes) && nodes > 0)
    return fmt::format("; it is to have {} node{}{}", nodes, nodes == 1 ? "" : "s", by);
  return by.empty() ? "" : fmt::format("; it is to have the nodes{}", by);
}

}  // namespace

sdk::Result<std::string> why_no_job_set(const std::string& name, std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  if (parser.parse(json.data(), json.size()).get(root) || text_at(root, "/metadata/name") != name)
    return sdk::Failure{
        MUSTER_E_DATA_LOSS,
        fmt::format("the API server's TrainJob {} cannot be understood", quote(name)),
        {}};
  const std::string ended = how_ended(root);
  bool suspended = false;
  if (!ended.empty()) return fmt::format("it has ended: {}", ended);
  if (!text_at(root, "/metadata/deletionTimestamp").empty())
    return std::string("it is being deleted");
  if (root.at_pointer("/spec/suspend").get_bool().get(suspended)) suspended = false;
  return (suspended ? "it is suspended" : "it has not made one yet") + what_is_to_be(root);
}

}  // namespace muster::kubernetes

#include "plugins/support/tf_config_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/checked_push.h"
#include "plugins/support/text.h"

namespace muster::support {
namespace {

// Hands jobs and tasks on, and learns on the way what the answers need. A cluster of one task is
// held back until it is known to be one: what is said about the cluster comes before its tasks.
class Pusher : public ClusterVisitor {
 public:
  Pusher(CheckedPush& push, const TfConfigFacts& facts) : push_(push), facts_(facts) {}

  void job(std::string_view name) override {
    ++jobs_;
    if (jobs_ == 1) {
      first_job_ = name;
      return;
    }
    release();
    push_.add_job(name);
  }

  void task(std::string_view job, int64_t index, std::string_view address) override {
    ++tasks_;
    if (facts_.task_type && job == *facts_.task_type) {
      ++own_job_tasks_;
      own_only_index_ = index;
      own_maximum_ = std::max(own_maximum_, index);
      if (facts_.task_index && index == *facts_.task_index) own_seen_ = true;
    }
    if (jobs_ == 1 && tasks_ == 1 && index == 0) {
      first_address_ = address;
      return;
    }
    release();
    push_.add_task({job, index, {}, address, 0});
  }

  bool stopped() const override { return push_.stopped(); }

  // After the last task: pushes what is still held back. TensorFlow's master() of a cluster with no job or with one
  // single task is "": this process itself.
  void finish() {
    const bool alone = jobs_ == 0 || (jobs_ == 1 && tasks_ == 0) || (!released_ && tasks_ == 1);
    if (alone && !facts_.session_master) push_.set_attribute(MUSTER_ATTRIBUTE_MASTER, "");
    release();
  }

  int64_t jobs() const { return jobs_; }
  int64_t own_job_tasks() const { return own_job_tasks_; }
  int64_t own_only_index() const { return own_only_index_; }
  int64_t own_maximum() const { return own_maximum_; }
  bool own_seen() const { return own_seen_; }

 private:
  void release() {
    if (released_) return;
    released_ = true;
    if (jobs_ == 0) return;
    push_.add_job(first_job_);
    if (!first_address_.empty()) push_.add_task({first_job_, 0, {}, first_address_, 0});
  }

  CheckedPush& push_;
  const TfConfigFacts& facts_;
  int64_t jobs_ = 0, tasks_ = 0;
  std::string_view first_job_, first_address_;
  bool released_ = false;
  int64_t own_job_tasks_ = 0, own_only_index_ = -1, own_maximum_ = -1;
  bool own_seen_ = false;
};

sdk::Status say_identity(CheckedPush& push, const TfConfigFacts& facts, const Pusher& pusher,
                         const TfConfigWords& words) {
  if (!facts.task_type) {
    if (facts.task_index)
      push.add_warning(
          fmt::format("{}: 'task' has an index and no type, so it does not say which task "
                      "this process is",
                      words.name));
    return {};
  }
  const std::string& type = *facts.task_type;
  int64_t index = facts.task_index.value_or(-1);
  if (!facts.task_index && pusher.own_job_tasks() == 1) index = pusher.own_only_index();
  // Estimators keep the evaluator outside of the cluster; a process on its own may have a task and no cluster.
  const bool outside =
      pusher.own_job_tasks() == 0 && (type == "evaluator" || pusher.jobs() == 0) && index >= 0;
  if (outside || pusher.own_seen() || (!facts.task_index && index >= 0)) {
    push.set_identity(type, index, {}, words.evidence);
    return {};
  }
  if (!facts.task_index) {
    push.add_warning(
        fmt::format("{}: 'task' has a type and no index, and job {} has {} tasks; so it does not "
                    "say which task this process is",
                    words.name, quote(type), pusher.own_job_tasks()));
    return {};
  }
  sdk::Failure failure{
      MUSTER_E_INVALID_ARGUMENT,
      fmt::format(
          "{}: this process is said to be task {} of job {}, which is not in the cluster: {}",
          words.name, index, quote(type),
          pusher.own_job_tasks() == 0
              ? std::string("it has no such job with tasks")
              : fmt::format("that job has {} tasks, the highest index is {}",
                            pusher.own_job_tasks(), pusher.own_maximum())),
      {}};
  if (!words.option.empty()) return std::move(failure).with("option", words.option);
  return failure;
}

}  // namespace

sdk::Status push_tf_config(sdk::Call& call, TfConfigReader& reader, const TfConfigFacts& facts,
                           const TfConfigWords& words) {
  CheckedPush push(call, MUSTER_E_INVALID_ARGUMENT);
  const auto end = [&]() -> sdk::Status {
    sdk::Status status = push.end();
    if (status) return status;
    return sdk::Failure{
        status.failure().code, fmt::format("{}: {}", words.name, status.failure().message), {}};
  };
  for (const std::string& warning : facts.warnings) push.add_warning(warning);
  if (facts.rpc_layer) push.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, *facts.rpc_layer);
  if (facts.environment) push.set_attribute(MUSTER_ATTRIBUTE_ENVIRONMENT, *facts.environment);
  if (facts.session_master) push.set_attribute(MUSTER_ATTRIBUTE_MASTER, *facts.session_master);

  Pusher pusher(push, facts);
  if (auto status = reader.cluster(facts, pusher); !status) return status;
  pusher.finish();
  if (push.stopped()) return end();
  if (auto status = say_identity(push, facts, pusher, words); !status) return status;
  return end();
}

}  // namespace muster::support

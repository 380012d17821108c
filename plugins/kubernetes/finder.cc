#include "plugins/kubernetes/finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "plugins/support/json_at.h"
#include "plugins/support/rfc3339.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;
using support::StrictJson;

// Counts of an object. A default is one that its API documents, and no other.
constexpr support::Range kCounts = {0, 1000000};

// A batch/v1 Job's spec below `spec`: how many pods it has at a time, and how many places there are.
Role job_role(const StrictJson& at, const std::string& spec, std::string name,
              std::string_view mode_otherwise) {
  Role role;
  role.name = std::move(name);
  const std::string completions = spec + "/completions", mode = spec + "/completionMode";
  const std::string_view how = at.text_or(mode, mode_otherwise);
  if (how != "Indexed" && how != "NonIndexed")
    at.refuse(mode, fmt::format("is {}, and neither Indexed nor NonIndexed", quote(how)));
  role.indexed = how == "Indexed";
  const bool says_parallelism = at.presence(spec + "/parallelism") != StrictJson::Presence::kAbsent;
  const int64_t parallelism = at.number_or(spec + "/parallelism", kCounts, 1);
  // Both default to 1. Without completions alone the pods take from a queue: as many run as there are to be. Pods with an index
  // have that many of them, which somebody has to say.
  role.places = role.indexed && says_parallelism ? at.number(completions, kCounts)
                                                 : at.number_or(completions, kCounts, parallelism);
  role.expected = std::min(parallelism, role.places);
  return role;
}

void read_job(const StrictJson& root, Plan& plan) {
  plan.roles.push_back(job_role(root, "/spec", "worker", "NonIndexed"));
  plan.roles.back().succeeded = root.number_or("/status/succeeded", {0, INT32_MAX}, 0);
  plan.suspended = root.flag_or("/spec/suspend", false);
}

// Jobs that fetch data before the training begins, and end then.
bool is_initializer(const StrictJson& replicated) {
  const std::string_view step = replicated.text_or(
      "/template/metadata/labels/trainer.kubeflow.org~1trainjob-ancestor-step", "");
  return step == "dataset-initializer" || step == "model-initializer";
}

void read_jobs_of_set(const StrictJson& root, Plan& plan, bool training_only) {
  for (const StrictJson& replicated : root.list("/spec/replicatedJobs")) {
    if (training_only && is_initializer(replicated)) continue;
    // Without it a Job of one pod would be made of nothing.
    if (replicated.is_absent_or_null("/template/spec"))
      replicated.refuse("/template/spec", "is not there, and a map is expected");
    // The set's webhook makes Jobs Indexed that do not say what they are.
    Role role =
        job_role(replicated, "/template/spec", std::string(replicated.text("/name")), "Indexed");
    const int64_t replicas = replicated.number_or("/replicas", kCounts, 1);
    role.group_size = role.places;
    role.places *= replicas;
    role.expected *= replicas;
    plan.roles.push_back(std::move(role));
  }
  plan.attempt = static_cast<int32_t>(root.number_or("/status/restarts", {0, INT32_MAX}, 0));
  plan.suspended = root.flag_or("/spec/suspend", false);
}

void read_jobset(const StrictJson& root, Plan& plan) { read_jobs_of_set(root, plan, false); }
void read_trainjob(const StrictJson& root, Plan& plan) { read_jobs_of_set(root, plan, true); }

void read_leader_worker_set(const StrictJson& root, Plan& plan) {
  Role role;
  role.name = "worker";
  if (root.is_absent_or_null("/spec/leaderWorkerTemplate"))
    root.refuse("/spec/leaderWorkerTemplate", "is not there, and a map is expected");
  role.group_size = root.number_or("/spec/leaderWorkerTemplate/size", {1, kCounts.most}, 1);
  role.places = role.expected = root.number_or("/spec/replicas", kCounts, 1) * role.group_size;
  plan.roles.push_back(std::move(role));
}

void read_stateful_set(const StrictJson& root, Plan& plan) {
  Role role;
  role.name = "worker";
  role.first = root.number_or("/spec/ordinals/start", kCounts, 0);
  role.places = role.expected = root.number_or("/spec/replicas", kCounts, 1);
  plan.roles.push_back(std::move(role));
}

// The one whose rank is 0 comes first, as the training operator ranks; the others as they are written.
int precedence(std::string_view role) { return role == "master" || role == "chief" ? 0 : 1; }

void read_replicas(const StrictJson& root, Plan& plan, const std::string& pointer) {
  for (const auto& [name, replica] : root.fields(pointer)) {
    Role role;
    role.name = std::string(name);
    std::transform(role.name.begin(), role.name.end(), role.name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    role.places = role.expected = replica.number_or("/replicas", kCounts, 1);
    plan.roles.push_back(std::move(role));
  }
  std::stable_sort(plan.roles.begin(), plan.roles.end(), [](const Role& a, const Role& b) {
    return precedence(a.name) < precedence(b.name);
  });
  plan.suspended = root.flag_or("/spec/runPolicy/suspend", false);
}

void read_pytorch_job(const StrictJson& root, Plan& plan) {
  read_replicas(root, plan, "/spec/pytorchReplicaSpecs");
}

void read_tf_job(const StrictJson& root, Plan& plan) {
  read_replicas(root, plan, "/spec/tfReplicaSpecs");
  // It reads checkpoints alone; the operator leaves it out of TF_CONFIG's cluster.
  for (Role& role : plan.roles) role.in_cluster = role.name != "evaluator";
}

void read_volcano_job(const StrictJson& root, Plan& plan) {
  for (const StrictJson& task : root.list("/spec/tasks")) {
    Role role;
    role.name = task.text_or("/name", "");
    // As its webhook names them.
    if (role.name.empty()) role.name = fmt::format("default{}", plan.roles.size());
    // Its API documents no default.
    role.places = role.expected = task.number("/replicas", kCounts);
    plan.roles.push_back(std::move(role));
  }
}

// A LabelSelector as the server takes it in a query.
std::string selector_of(const StrictJson& root) {
  std::string out;
  const auto add = [&](const std::string& term) { out += (out.empty() ? "" : ",") + term; };
  for (const auto& [key, value] : root.fields_or_none("/spec/selector/matchLabels"))
    add(fmt::format("{}={}", key, value.text_or("", "")));
  for (const StrictJson& expression : root.list_or_none("/spec/selector/matchExpressions")) {
    const std::string key(expression.text("/key"));
    const std::string_view how = expression.text("/operator");
    if (how == "In" || how == "NotIn") {
      std::string values;
      for (const StrictJson& value : expression.list("/values"))
        values += (values.empty() ? "" : ",") + std::string(value.text_or("", ""));
      add(fmt::format("{} {} ({})", key, how == "In" ? "in" : "notin", values));
    } else if (how == "Exists" || how == "DoesNotExist") {
      add(how == "Exists" ? key : "!" + key);
    } else {
      expression.refuse("/operator", fmt::format("is {}, which is unknown", quote(how)));
    }
  }
  if (out.empty()) root.refuse("/spec/selector", "says nothing");
  return out;
}

// The controller's reference.
std::string controller_of(const StrictJson& root) {
  for (const StrictJson& owner : root.list_or_none("/metadata/ownerReferences"))
    if (owner.flag_or("/controller", false))
      return fmt::format("{}/{}", owner.text("/kind"), owner.text("/name"));
  return "";
}

constexpr Maker kTrainJob = {"TrainJob", "/apis/trainer.kubeflow.org/v1alpha1",
                             "trainer.kubeflow.org", "trainjobs"};

}  // namespace

// Batch and Kubeflow say it as a condition, Volcano as a phase.
std::string how_ended(const StrictJson& root) {
  // Operators whose conditions are never left out write null where they have none.
  if (!root.is_absent_or_null("/status/conditions")) {
    for (const StrictJson& condition : root.list("/status/conditions")) {
      const std::string_view type = condition.text("/type");
      if (condition.text("/status") != "True") continue;
      if (type != "Complete" && type != "Completed" && type != "Succeeded" && type != "Failed")
        continue;
      const std::string_view reason = condition.text_or("/reason", "");
      return reason.empty() ? std::string(type) : fmt::format("{}: {}", type, reason);
    }
  }
  const std::string_view phase = root.text_or("/status/state/phase", "");
  for (const char* end : {"Completed", "Failed", "Aborted", "Terminated"})
    if (phase == end) return std::string(phase);
  return "";
}

const std::vector<Finder>& finders() {
  static const std::vector<Finder> table = {
      {"job", "Job", "/apis/batch/v1", "batch", "jobs", nullptr, false, true, false,
       "{name}-{index}", nullptr, read_job},
      {"jobset", "JobSet", "/apis/jobset.x-k8s.io/v1alpha2", "jobset.x-k8s.io", "jobsets",
       "jobset.sigs.k8s.io/jobset-name", true, false, false, "{name}-{role}-{group}-{index}",
       nullptr, read_jobset},
      {"leaderworkerset", "LeaderWorkerSet", "/apis/leaderworkerset.x-k8s.io/v1",
       "leaderworkerset.x-k8s.io", "leaderworkersets", "leaderworkerset.sigs.k8s.io/name", false,
       false, false, "{name}-{group}-{index}", "{name}-{group}", read_leader_worker_set},
      {"statefulset", "StatefulSet", "/apis/apps/v1", "apps", "statefulsets", nullptr, false, true,
       true, "{name}-{index}", nullptr, read_stateful_set},
      // A TrainJob's roles, counts and end are those of the JobSet that it makes, which has its name.
      {"trainjob", "JobSet of TrainJob", "/apis/jobset.x-k8s.io/v1alpha2", "jobset.x-k8s.io",
       "jobsets", "jobset.sigs.k8s.io/jobset-name", true, false, false,
       "{name}-{role}-{group}-{index}", nullptr, read_trainjob, &kTrainJob},
      {"pytorchjob", "PyTorchJob", "/apis/kubeflow.org/v1", "kubeflow.org", "pytorchjobs",
       "training.kubeflow.org/job-name", true, true, false, "{name}-{role}-{index}", nullptr,
       read_pytorch_job},
      {"tfjob", "TFJob", "/apis/kubeflow.org/v1", "kubeflow.org", "tfjobs",
       "training.kubeflow.org/job-name", true, true, false, "{name}-{role}-{index}", nullptr,
       read_tf_job},
      {"vcjob", "Volcano Job", "/apis/batch.volcano.sh/v1alpha1", "batch.volcano.sh", "jobs",
       "volcano.sh/job-name", true, true, false, "{name}-{role}-{index}", nullptr,
       read_volcano_job},
  };
  return table;
}

sdk::Result<Plan> read_plan(const Finder& finder, const std::string& name, std::string_view json) {
  const auto wrong = [&](std::string_view why) {
    return sdk::Failure{MUSTER_E_DATA_LOSS,
                        fmt::format("the API server's {} {} cannot be understood: {}", finder.kind,
                                    quote(name), why),
                        {}};
  };
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (std::string why = support::parse_object(json, parser, document); !why.empty())
    return wrong(why);
  Plan plan;
  std::string why;
  const StrictJson root(document, why);
  plan.uid = root.text("/metadata/uid");
  plan.version = root.text("/metadata/resourceVersion");
  if (const std::string_view said = root.text("/metadata/name"); said != name)
    root.refuse("/metadata/name", fmt::format("is {}", quote(said)));
  if (root.is_absent_or_null("/spec")) root.refuse("/spec", "is not there, and a map is expected");
  if (why.empty()) finder.read(root, plan);
  if (const auto made = root.text_or("/metadata/creationTimestamp", ""); !made.empty()) {
    const auto time = support::parse_rfc3339(made);
    if (!time) root.refuse("/metadata/creationTimestamp", fmt::format("is {}", quote(made)));
    plan.created = time.value_or(0);
  }
  plan.deleting = !root.text_or("/metadata/deletionTimestamp", "").empty();
  plan.ended = how_ended(root);
  plan.controller = controller_of(root);
  plan.selector =
      finder.label == nullptr ? selector_of(root) : fmt::format("{}={}", finder.label, name);
  if (!why.empty()) return wrong(why);
  if (plan.roles.empty()) return wrong("its spec has no kind of members");
  int64_t places = 0;
  for (const Role& role : plan.roles) places += role.places;
  if (places > MUSTER_TASKS_MAXIMUM)
    return sdk::Failure{MUSTER_E_RESOURCE_EXHAUSTED,
                        fmt::format("{} {} is to have {} pods, and no cluster has more than {}",
                                    finder.kind, quote(name), places, MUSTER_TASKS_MAXIMUM),
                        {}};
  for (auto role = plan.roles.begin(); role != plan.roles.end(); ++role) {
    if (role->name.empty() || !support::is_text(role->name))
      return wrong("its spec has members without a name");
    if (!support::is_job_name(role->name))
      return wrong(
          fmt::format("its spec has the members {}, which is no name for a job: 1 to 255 "
                      "bytes of UTF-8 without control characters",
                      quote(role->name, 100)));
    if (std::any_of(plan.roles.begin(), role, [&](const Role& r) { return r.name == role->name; }))
      return wrong(fmt::format("its spec has {} twice", quote(role->name)));
  }
  return plan;
}

std::string place_name(const Finder& finder, const std::string& name, const Role& role,
                       int64_t place) {
  const int64_t size = role.group_size > 0 ? role.group_size : std::max<int64_t>(role.places, 1);
  const int64_t group = place / size, index = place % size + role.first;
  const char* pattern =
      index == 0 && finder.leader_place != nullptr ? finder.leader_place : finder.place;
  return fmt::format(fmt::runtime(pattern), fmt::arg("name", name), fmt::arg("role", role.name),
                     fmt::arg("group", group), fmt::arg("index", index));
}

}  // namespace muster::kubernetes

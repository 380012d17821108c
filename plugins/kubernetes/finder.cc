#include "plugins/kubernetes/finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "plugins/support/json_at.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;
using support::quote;
using support::text_at;

constexpr int64_t kReplicasMaximum = 1000000;

// What a place says in words where it cannot be read: thrown within this file, and told by read_plan.
struct Wrong {
  std::string why;
};

// A number at a JSON pointer; `otherwise` where it is not there.
int64_t number_at(element at, const std::string& pointer, int64_t otherwise) {
  element found;
  if (at.at_pointer(pointer).get(found) || found.is_null()) return otherwise;
  int64_t number = 0;
  if (found.get_int64().get(number) || number < 0 || number > kReplicasMaximum)
    throw Wrong{fmt::format("{} is no number from 0 to {}", pointer, kReplicasMaximum)};
  return number;
}

bool true_at(element at, const std::string& pointer) {
  bool flag = false;
  return !at.at_pointer(pointer).get_bool().get(flag) && flag;
}

array list_at(element at, const std::string& pointer) {
  array list;
  if (at.at_pointer(pointer).get_array().get(list))
    throw Wrong{fmt::format("{} is no list", pointer)};
  return list;
}

object map_at(element at, const std::string& pointer) {
  object map;
  if (at.at_pointer(pointer).get_object().get(map))
    throw Wrong{fmt::format("{} is no map", pointer)};
  return map;
}

// A batch/v1 Job's spec below `spec`: how many pods it has at a time, and how many places there are.
Role job_role(element at, const std::string& spec, std::string name,
              std::string_view mode_otherwise) {
  Role role;
  role.name = std::move(name);
  const int64_t parallelism = number_at(at, spec + "/parallelism", 1);
  const int64_t completions = number_at(at, spec + "/completions", parallelism);
  const std::string_view mode = text_at(at, spec + "/completionMode");
  role.indexed = (mode.empty() ? mode_otherwise : mode) == "Indexed";
  role.expected = std::min(parallelism, completions);
  role.places = completions;
  return role;
}

void read_job(element root, Plan& plan) {
  plan.roles.push_back(job_role(root, "/spec", "worker", "NonIndexed"));
  plan.suspended = true_at(root, "/spec/suspend");
}

// Jobs that fetch data before the training begins, and end then.
bool is_initializer(element replicated) {
  object labels;
  if (replicated.at_pointer("/template/metadata/labels").get_object().get(labels)) return false;
  std::string_view step;
  if (labels["trainer.kubeflow.org/trainjob-ancestor-step"].get_string().get(step)) return false;
  return step == "dataset-initializer" || step == "model-initializer";
}

void read_jobs_of_set(element root, Plan& plan, bool training_only) {
  for (const element replicated : list_at(root, "/spec/replicatedJobs")) {
    if (training_only && is_initializer(replicated)) continue;
    Role role = job_role(replicated, "/template/spec", std::string(text_at(replicated, "/name")),
                         "Indexed");
    const int64_t replicas = number_at(replicated, "/replicas", 1);
    role.group_size = role.places;
    role.places *= replicas;
    role.expected *= replicas;
    plan.roles.push_back(std::move(role));
  }
  plan.suspended = true_at(root, "/spec/suspend");
}

void read_jobset(element root, Plan& plan) { read_jobs_of_set(root, plan, false); }
void read_trainjob(element root, Plan& plan) { read_jobs_of_set(root, plan, true); }

void read_leader_worker_set(element root, Plan& plan) {
  Role role;
  role.name = "worker";
  role.group_size = number_at(root, "/spec/leaderWorkerTemplate/size", 1);
  role.places = role.expected = number_at(root, "/spec/replicas", 1) * role.group_size;
  plan.roles.push_back(std::move(role));
}

void read_stateful_set(element root, Plan& plan) {
  Role role;
  role.name = "worker";
  role.first = number_at(root, "/spec/ordinals/start", 0);
  role.places = role.expected = number_at(root, "/spec/replicas", 1);
  plan.roles.push_back(std::move(role));
}

// The one whose rank is 0 comes first, as the training operator ranks; the others as they are written.
int precedence(std::string_view role) { return role == "master" || role == "chief" ? 0 : 1; }

void read_replicas(element root, Plan& plan, const std::string& pointer) {
  for (const auto field : map_at(root, pointer)) {
    Role role;
    role.name = std::string(field.key);
    std::transform(role.name.begin(), role.name.end(), role.name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    role.places = role.expected = number_at(field.value, "/replicas", 1);
    plan.roles.push_back(std::move(role));
  }
  std::stable_sort(plan.roles.begin(), plan.roles.end(), [](const Role& a, const Role& b) {
    return precedence(a.name) < precedence(b.name);
  });
  plan.suspended = true_at(root, "/spec/runPolicy/suspend");
}

void read_pytorch_job(element root, Plan& plan) {
  read_replicas(root, plan, "/spec/pytorchReplicaSpecs");
}

void read_tf_job(element root, Plan& plan) {
  read_replicas(root, plan, "/spec/tfReplicaSpecs");
  // It reads checkpoints alone; the operator leaves it out of TF_CONFIG's cluster.
  for (Role& role : plan.roles) role.in_cluster = role.name != "evaluator";
}

void read_volcano_job(element root, Plan& plan) {
  for (const element task : list_at(root, "/spec/tasks")) {
    Role role;
    role.name = text_at(task, "/name");
    if (role.name.empty()) role.name = fmt::format("default{}", plan.roles.size());
    role.places = role.expected = number_at(task, "/replicas", 1);
    plan.roles.push_back(std::move(role));
  }
}

// A LabelSelector as the server takes it in a query.
std::string selector_of(element root) {
  std::string out;
  const auto add = [&](const std::string& term) { out += (out.empty() ? "" : ",") + term; };
  object labels;
  if (!root.at_pointer("/spec/selector/matchLabels").get_object().get(labels)) {
    for (const auto field : labels) {
      std::string_view value;
      if (field.value.get_string().get(value)) throw Wrong{"a matchLabels entry is no text"};
      add(fmt::format("{}={}", field.key, value));
    }
  }
  array expressions;
  if (!root.at_pointer("/spec/selector/matchExpressions").get_array().get(expressions)) {
    for (const element expression : expressions) {
      const std::string key(text_at(expression, "/key"));
      const std::string_view how = text_at(expression, "/operator");
      std::string values;
      if (how == "In" || how == "NotIn") {
        for (const element value : list_at(expression, "/values")) {
          std::string_view text;
          if (value.get_string().get(text)) throw Wrong{"a matchExpressions value is no text"};
          values += (values.empty() ? "" : ",") + std::string(text);
        }
        add(fmt::format("{} {} ({})", key, how == "In" ? "in" : "notin", values));
      } else if (how == "Exists" || how == "DoesNotExist") {
        add(how == "Exists" ? key : "!" + key);
      } else {
        throw Wrong{fmt::format("its selector has the unknown operator {}", quote(how))};
      }
    }
  }
  if (out.empty()) throw Wrong{"its spec has no selector"};
  return out;
}

// The controller's reference.
std::string controller_of(element root) {
  array owners;
  if (root.at_pointer("/metadata/ownerReferences").get_array().get(owners)) return "";
  for (const element owner : owners)
    if (true_at(owner, "/controller"))
      return fmt::format("{}/{}", text_at(owner, "/kind"), text_at(owner, "/name"));
  return "";
}

constexpr Maker kTrainJob = {"TrainJob", "/apis/trainer.kubeflow.org/v1alpha1",
                             "trainer.kubeflow.org", "trainjobs"};

}  // namespace

// Batch and Kubeflow say it as a condition, Volcano as a phase.
std::string how_ended(element root) {
  array conditions;
  if (!root.at_pointer("/status/conditions").get_array().get(conditions)) {
    for (const element condition : conditions) {
      const std::string_view type = text_at(condition, "/type");
      if (text_at(condition, "/status") != "True") continue;
      if (type != "Complete" && type != "Completed" && type != "Succeeded" && type != "Failed")
        continue;
      const std::string_view reason = text_at(condition, "/reason");
      return reason.empty() ? std::string(type) : fmt::format("{}: {}", type, reason);
    }
  }
  const std::string_view phase = text_at(root, "/status/state/phase");
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
  element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return wrong(simdjson::error_message(error));
  Plan plan;
  try {
    plan.uid = text_at(root, "/metadata/uid");
    plan.version = text_at(root, "/metadata/resourceVersion");
    if (text_at(root, "/metadata/name") != name || plan.uid.empty())
      return wrong("it has another name, or no uid");
    finder.read(root, plan);
    plan.deleting = !text_at(root, "/metadata/deletionTimestamp").empty();
    plan.ended = how_ended(root);
    plan.controller = controller_of(root);
    plan.selector =
        finder.label == nullptr ? selector_of(root) : fmt::format("{}={}", finder.label, name);
  } catch (const Wrong& why) {
    return wrong(why.why);
  }
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

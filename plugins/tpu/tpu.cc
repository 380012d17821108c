// The tpu backend: the hosts of Cloud TPU slices are its tasks.
#include <fmt/format.h>

#include <algorithm>

#include <muster/plugin.hpp>

#include "plugins/support/google/metadata.h"
#include "plugins/support/google/permissions.h"
#include "plugins/support/google/place.h"
#include "plugins/support/google/token.h"
#include "plugins/support/google/vm_watch.h"
#include "plugins/support/text.h"
#include "plugins/tpu/api.h"
#include "plugins/tpu/find.h"
#include "plugins/tpu/options.h"
#include "plugins/tpu/planned.h"
#include "plugins/tpu/slice.h"
#include "plugins/tpu/source.h"
#include "plugins/tpu/vm.h"

namespace muster::tpu {
namespace {

using support::quote;
using support::google::Credentials;
using support::google::Metadata;
using support::google::Notices;

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "tpu",
  "version": "0.1.0",
  "abi": {"major": 1, "minor": 0},
  "description": "Hosts of Cloud TPU slices: from the Cloud TPU API, a TPU VM's metadata, or a GKE pod's variables.",
  "license": "Apache-2.0",
  "services": ["muster.environment/1", "muster.clock/1", "muster.address/1", "muster.http/1", "muster.process/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "tpu": {
        "description": "Name of a TPU; a list of them is one multislice group in that order. Or grpc://ADDRESS,..., or local. Default: KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS, TPU_NAME, TPU_CONFIG, the GKE pod's, this TPU VM's.",
        "type": ["string", "array"],
        "items": {"type": "string"}
      },
      "queued_resource": {"description": "Name of a queued resource, whose TPUs are the slices.", "type": "string", "pattern": "^[a-z][-a-z0-9]*$"},
      "zone": {"description": "Where the TPU is. Default: TPU_CONFIG's; else all zones are looked through.", "type": "string", "pattern": "^[a-z][-a-z0-9]*$"},
      "project": {"description": "The project's id. Default: TPU_CONFIG's, GOOGLE_CLOUD_PROJECT, the credentials', the metadata server's.", "type": "string", "minLength": 1},
      "job_name": {"description": "The job that the hosts are.", "type": "string", "minLength": 1, "default": "worker"},
      "task_id": {"description": "Which task this process is. Default: found.", "type": "integer", "minimum": 0, "maximum": 2147483647},
      "rpc_layer": {"description": "Scheme of master addresses; empty for none.", "type": "string", "default": "grpc"},
      "port": {"description": "The port of every task. Default: the endpoint's, else 8470.", "type": "integer", "minimum": 1, "maximum": 65535},
      "address": {"description": "internal: in its network. external: for the outside.", "enum": ["internal", "external"], "default": "internal"},
      "coordinator_name": {"description": "A further job of one task, the coordinator.", "type": "string", "minLength": 1},
      "coordinator_address": {"description": "Its address.", "type": "string", "minLength": 1},
      "wait": {"description": "healthy: until the TPU is READY and HEALTHY, or the deadline.", "enum": ["none", "healthy"], "default": "none"},
      "health": {"description": "require: the hosts of an unhealthy TPU are missing. warn: they are there, with a warning.", "enum": ["require", "warn"], "default": "require"},
      "api_version": {"description": "Version of the Cloud TPU API.", "enum": ["v1", "v2", "v2alpha1"], "default": "v2"},
      "endpoint": {"description": "Base URL of the API without its version: https://tpu.googleapis.com. For private endpoints and tests.", "type": "string", "pattern": "^https?://[^ ?#]+$"},
      "discovery_url": {"description": "URL of the API's discovery document, which says where it is. Default: TPU_API_DISCOVERY_URL.", "type": "string", "pattern": "^https?://[^ #]+$"},
      "credentials": {
        "description": "default: Application Default Credentials. gcloud: the token of gcloud's own login. none: no token.",
        "enum": ["default", "gcloud", "none"],
        "default": "default"
      },
      "credentials_file": {"description": "A credential file, in place of GOOGLE_APPLICATION_CREDENTIALS.", "type": "string", "minLength": 1},
      "access_token": {"description": "An access token.", "type": "string", "minLength": 1, "writeOnly": true},
      "access_token_file": {"description": "A file with an access token.", "type": "string", "minLength": 1},
      "quota_project": {"description": "The project whose quota counts. Default: GOOGLE_CLOUD_QUOTA_PROJECT, the credential file's.", "type": "string", "minLength": 1},
      "universe_domain": {"description": "Whose APIs. Default: the credentials', which is googleapis.com.", "type": "string", "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"}
    }
  }
})
// clang-format on

constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr int64_t kLongestWait_ns = 30 * kSecond_ns;
// What is left before the deadline for the last question.
constexpr int64_t kMargin_ns = kSecond_ns;

class Tpu {
 public:
  static sdk::Result<std::unique_ptr<Tpu>> create(const sdk::Host& host, std::string_view options) {
    auto read = read_options(options);
    if (!read) return std::move(read).failure();
    if (!read->coordinator_address.empty())
      if (const auto problem = host.address_problem(read->coordinator_address))
        return sdk::Failure{
            MUSTER_E_INVALID_ARGUMENT, *problem, {{"option", "/coordinator_address"}}};
    return std::make_unique<Tpu>(*std::move(read));
  }

  explicit Tpu(Options options)
      : options_(std::move(options)), credentials_(options_.credentials) {}

  sdk::Status resolve(sdk::Call& call) {
    place_.reset();
    auto source = find_source(options_, call);
    if (!source) return std::move(source).failure();
    call.host().log(MUSTER_LOG_DEBUG, fmt::format("tpu: {} says which TPU it is", source->said_by));
    auto answer = find(*source, call);
    if (!answer) return std::move(answer).failure();
    return push(*answer, options_, call);
  }

  // What can be kept over the questions is found once, for what a call reads it keeps.
  sdk::Status watch(sdk::Call& call) {
    place_.reset();
    auto source = find_source(options_, call);
    if (!source) return std::move(source).failure();
    const bool asked = source->kind == Source::Kind::kVm || source->kind == Source::Kind::kNodes ||
                       source->kind == Source::Kind::kQueued;
    // A watch has no deadline up to which READY and HEALTHY could be waited for.
    if (!asked || options_.wait)
      return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "there is nothing to hear of in between", {}};
    const auto ask_again = [&]() -> sdk::Status {
      auto answer = find(*source, call);
      if (!answer) return std::move(answer).failure();
      known_ = *std::move(answer);
      return {};
    };
    const auto say = [&](const Notices& notices) -> sdk::Status {
      Answer answer = *known_;
      tell(notices, answer);
      return push(answer, options_, call);
    };
    return support::google::watch_vm(watched_, ask_again, say, call);
  }

  sdk::Status permissions(sdk::Call& call, const sdk::PermissionsRequest& request) {
    auto source = find_source(options_, call);
    if (!source) return std::move(source).failure();
    std::vector<std::string> needed;
    if (source->kind == Source::Kind::kQueued) needed.emplace_back("tpu.queuedResources.get");
    if (source->kind == Source::Kind::kNodes) needed.emplace_back("tpu.nodes.get");
    if (needed.empty()) return {};  // nobody is asked, or the metadata server
    needed.emplace_back("tpu.nodes.list");
    needed.emplace_back("tpu.queuedResources.list");
    return support::google::say_permissions(needed, "roles/tpu.viewer", source->project,
                                            credentials_, request, call);
  }

  // The hosts that it finds do not matter: slices come whole.
  sdk::Status plan(sdk::Call& call, int64_t) {
    auto source = find_source(options_, call);
    if (!source) return std::move(source).failure();
    return say_planned(options_, *source, credentials_, call);
  }

 private:
  sdk::Result<Answer> find(const Source& source, sdk::Call& call) {
    switch (source.kind) {
      case Source::Kind::kLocal: {
        Answer out;
        out.local = true;
        return out;
      }
      case Source::Kind::kEndpoints: return read_endpoints(source, options_, call.host());
      case Source::Kind::kGke: return read_gke(options_, call);
      case Source::Kind::kVm: return of_this_machine(source, call);
      case Source::Kind::kNodes:
      case Source::Kind::kQueued: break;
    }
    return of_the_api(source, own_env(call), call);
  }

  sdk::Result<Answer> of_this_machine(Source source, sdk::Call& call) {
    auto env = own_tpu_env(call);
    if (!env) return std::move(env).failure().with("hint", "-O tpu=NAME asks the API in its place");
    if (!*env)
      return sdk::Failure{MUSTER_E_NOT_FOUND,
                          "this machine of Google Cloud is no TPU VM: its metadata server has no "
                          "attribute tpu-env, "
                          "and nothing else says which TPU it is",
                          {{"hint", "-O tpu=NAME; gcloud compute tpus tpu-vm list --zone=-"}}};
    if ((*env)->slices <= 1) return own_slice(**env, options_, call);
    // The metadata server tells the hosts of one slice; the API those of all.
    const std::string end = fmt::format("-{}", (*env)->slice);
    const std::string& node = (*env)->node;
    if (node.size() <= end.size() || node.substr(node.size() - end.size()) != end)
      return sdk::Failure{
          MUSTER_E_FAILED_PRECONDITION,
          fmt::format(
              "this TPU VM is of slice {} of {}, and its TPU is called {}: the names of the "
              "other slices do not follow from that",
              (*env)->slice, (*env)->slices, quote(node)),
          {{"hint",
            "-O 'tpu=[NAME, NAME, ...]' in the order of slices, or -O queued_resource=NAME"}}};
    source.kind = Source::Kind::kNodes;
    for (int64_t n = 0; n < (*env)->slices; ++n)
      source.names.push_back(fmt::format("{}-{}", node.substr(0, node.size() - end.size()), n));
    if (source.zone.empty()) source.zone = (*env)->zone;
    return of_the_api(source, *env, call);
  }

  sdk::Result<Place> find_place(const Source& source, const sdk::Call& call) {
    Place out;
    out.version = options_.api_version;
    const std::string given(call.variable("TPU_API_DISCOVERY_URL").value_or(""));
    const std::string& document = given.empty() ? options_.discovery_url : given;
    if (!options_.endpoint.empty()) {
      out.base = options_.endpoint;
    } else if (!document.empty()) {
      if (!discovered_) {
        auto found = discover(document, options_.api_version, call);
        if (!found) return std::move(found).failure();
        discovered_ = *std::move(found);
      }
      out = *discovered_;
    } else {
      out.base = fmt::format("https://tpu.{}", credentials_.universe());
    }
    auto project = support::google::find_project(source.project, credentials_, call);
    if (!project) return std::move(project).failure();
    out.project = *std::move(project);
    return out;
  }

  sdk::Result<Answer> of_the_api(const Source& source, const std::optional<TpuEnv>& env,
                                 sdk::Call& call) {
    if (!place_) {
      if (auto found = credentials_.find(call); !found) return std::move(found).failure();
      auto place = find_place(source, call);
      if (!place) return std::move(place).failure();
      place_ = *std::move(place);
    }
    Wanted wanted{source.names, source.zone, env ? env->zone : "", source.said_by};
    Api api(credentials_, *place_, call);
    const auto ask = [&]() -> sdk::Result<Answer> {
      const int64_t now = support::google::now_s(call);
      auto slices = source.kind == Source::Kind::kQueued ? find_queued(api, wanted, options_, now)
                                                         : find_nodes(api, wanted, options_, now);
      if (!slices) return std::move(slices).failure();
      Answer out;
      out.slices = *std::move(slices);
      return out;
    };
    auto answer = ask();
    if (options_.wait) answer = wait_for(std::move(answer), ask, call);
    if (answer && env) say_who(*env, *answer);
    return answer;
  }

  // Asks again until the answer is whole, will never be, or the deadline is near. What it is then is the answer.
  template <typename Ask>
  sdk::Result<Answer> wait_for(sdk::Result<Answer> answer, const Ask& ask, sdk::Call& call) {
    const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
    if (clock == nullptr) return answer;
    const int64_t begin = clock->monotonic_ns(call.get());
    int64_t wait_ns = kSecond_ns;
    while (answer && !answer->whole() && !answer->lost()) {
      const int64_t now = clock->monotonic_ns(call.get());
      const int64_t left = call.get()->deadline_ns - kMargin_ns - now;
      const std::string why = answer->why();
      if (left <= 0) {
        answer->slices[0].warnings.push_back(fmt::format(
            "waited {} s for READY and HEALTHY, in vain: {}", (now - begin) / kSecond_ns, why));
        return answer;
      }
      call.progress(fmt::format("waiting for READY and HEALTHY: {}", why));
      const int32_t slept =
          clock->sleep_ns(call.get(), std::min(support::google::jittered_ns(wait_ns), left));
      if (slept != MUSTER_OK)
        return sdk::Failure{
            slept, fmt::format("stopped while waiting for READY and HEALTHY: {}", why), {}};
      wait_ns = std::min(wait_ns * 2, kLongestWait_ns);
      answer = ask();
    }
    return answer;
  }

  // What TPU this machine is of, where it is one's; asked once.
  std::optional<TpuEnv> own_env(const sdk::Call& call) {
    if (!own_env_ && Metadata::expected(call)) {
      auto env = own_tpu_env(call);
      if (env) {
        own_env_ = *std::move(env);
      } else {
        call.host().log(MUSTER_LOG_DEBUG,
                        "tpu: the metadata server does not say which TPU this machine is of");
      }
    }
    return own_env_.value_or(std::nullopt);
  }

  // What is heard of this machine, of the worker that it is.
  static void tell(const Notices& notices, Answer& answer) {
    if (!answer.own) return;
    Slice& slice = answer.slices[answer.own->slice];
    if (answer.own->worker < 0 ||
        answer.own->worker >= static_cast<int64_t>(slice.workers.size()) || !slice.missing.empty())
      return;
    Worker& worker = slice.workers[static_cast<size_t>(answer.own->worker)];
    if (worker.missing.empty()) worker.missing = notices.preempted();
    if (!worker.missing.empty()) return;
    if (std::string warning = notices.warning(worker.name); !warning.empty())
      slice.warnings.push_back(std::move(warning));
  }

  static void say_who(const TpuEnv& env, Answer& answer) {
    for (size_t n = 0; n < answer.slices.size(); ++n) {
      const Slice& slice = answer.slices[n];
      if (!env.worker || slice.name != env.node || slice.zone != env.zone) continue;
      answer.own = Own{n, *env.worker,
                       fmt::format("the metadata server says that this is worker {} of TPU {}",
                                   *env.worker, quote(env.node))};
      answer.megascale_address = env.megascale_address;
    }
  }

  Options options_;
  Credentials credentials_;
  std::optional<Place> discovered_;
  std::optional<Place> place_;  // of this call
  std::optional<std::optional<TpuEnv>> own_env_;
  std::optional<Answer> known_;  // the last, of a watch
  support::google::Watched watched_;
};

}  // namespace
}  // namespace muster::tpu

MUSTER_PLUGIN(muster::tpu::Tpu, "tpu", "0.1.0")

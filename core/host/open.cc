// From settings to a config whose plugins are found, and to a cluster whose plugins are loaded.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include <muster/plugin.h>

#include "core/file/replace.h"
#include "core/host/handles.h"
#include "core/isolate/isolated_library.h"
#include "core/isolate/policy.h"
#include "core/isolate/program.h"

namespace muster {
namespace {

constexpr int64_t kWatchInterval_ns = 10'000'000'000;

std::optional<std::string> process_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

// A wrong value of a setting tells who said it.
Error wrong_setting(const std::string& origin, const Error& error) {
  return Error{Code::kInvalidArgument, fmt::format("{}: {}", origin, error.message), {}};
}

// Settings over the file: timeout, expect, rpc_layer, environment, task.
Status apply_settings(const muster_settings& settings, Config& config) {
  if (const auto [text, origin] = settings.find_with_origin("timeout"); text != nullptr) {
    auto timeout = parse_duration(*text);
    if (!timeout) return wrong_setting(origin, timeout.error());
    config.timeout = *timeout;
  }
  if (const auto [text, origin] = settings.find_with_origin("expect"); text != nullptr) {
    auto expect = parse_expect(*text);
    if (!expect) return wrong_setting(origin, expect.error());
    config.expect = std::move(*expect);
  }
  if (const std::string* text = settings.find("rpc_layer")) config.rpc_layer = *text;
  if (const std::string* text = settings.find("environment")) config.environment = *text;
  const auto [type, type_origin] = settings.find_with_origin("task_type");
  const auto [id, id_origin] = settings.find_with_origin("task_id");
  if (type == nullptr && id == nullptr) return {};
  if (type == nullptr || id == nullptr) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is given without {}: this process's task is both or neither",
                             type == nullptr ? id_origin : type_origin,
                             type == nullptr ? "task_type" : "task_id"),
                 {}};
  }
  int64_t index = -1;
  const auto [end, problem] = std::from_chars(id->data(), id->data() + id->size(), index);
  if (problem != std::errc() || end != id->data() + id->size() || index < 0 || index > INT32_MAX) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}: '{}' is not a task index: 0 to {}", id_origin, *id, INT32_MAX),
                 {}};
  }
  if (Status name = check_job_name(*type); !name) return wrong_setting(type_origin, name.error());
  config.task_type = *type;
  config.task_id = index;
  config.task_origin = type_origin;
  config.task_overrides = true;
  return {};
}

std::shared_ptr<const Log> log_of(const muster_settings& settings) {
  if (settings.log_write == nullptr) return std::make_shared<const Log>();
  return std::make_shared<const Log>(
      settings.log_level,
      [write = settings.log_write, ctx = settings.log_ctx](int32_t level, std::string_view text) {
        write(ctx, level, text.data(), text.size());
      });
}

void add_secrets(const ResolverConfig& resolver, Secrets& secrets) {
  for (const std::string& secret : resolver.secrets) secrets.add(secret);
  for (const ResolverConfig& child : resolver.children) add_secrets(child, secrets);
}

size_t leaf_count(const ResolverConfig& resolver) {
  if (resolver.kind == ResolverConfig::Kind::kLeaf) return 1;
  size_t count = 0;
  for (const ResolverConfig& child : resolver.children) count += leaf_count(child);
  return count;
}

// Who set one of these would wonder why it does not count.
void log_ignored(const PluginSearch& search, const Log& log, const Secrets& secrets) {
  for (const SearchPlace& place : search.places) {
    if (!place.ignored) continue;
    log.write(MUSTER_LOG_INFO,
              fmt::format("plugins: {}{}: {}", place.origin,
                          place.directory.empty() ? "" : " '" + place.directory + "'", place.note),
              secrets);
  }
}

// How long a watch waits before it asks again.
Result<int64_t> watch_interval_setting(const muster_settings& settings) {
  const auto [text, origin] = settings.find_with_origin("watch_interval");
  if (text == nullptr) return kWatchInterval_ns;
  auto interval = parse_duration(*text);
  if (!interval) return wrong_setting(origin, interval.error());
  return interval->count();
}

// A config's ${VAR} is part of what was asked of the world: a replay answers it from the recording.
EnvironmentLookup environment_of(const std::shared_ptr<Session>& replay) {
  if (replay == nullptr) return EnvironmentLookup(process_variable);
  return EnvironmentLookup(
      [session = replay](const std::string& name) { return session->variable("", name); });
}

// Where the resolvers run that do not say; nothing: by the policy.
Result<std::optional<bool>> isolate_setting(const muster_settings& settings) {
  const auto [text, origin] = settings.find_with_origin("isolate");
  if (text == nullptr || *text == "auto") return std::optional<bool>();
  if (*text == "true" || *text == "false") return std::optional<bool>(*text == "true");
  return Error{Code::kInvalidArgument,
               fmt::format("{}: '{}' is not 'true', 'false' or 'auto'", origin, *text),
               {}};
}

// How long a backend's process may take to begin: no longer than a resolve. A wrong setting is told where settings are read.
int64_t start_limit(const muster_settings& settings, const Config* config) {
  std::chrono::nanoseconds timeout = config == nullptr ? Config().timeout : config->timeout;
  if (const std::string* text = settings.find("timeout")) {
    if (auto said = parse_duration(*text)) timeout = *said;
  }
  return std::min(kStart_ns, static_cast<int64_t>(timeout.count()));
}

// Whether the frames of all backends are shown, which then run isolated.
Result<bool> trace_setting(const muster_settings& settings) {
  const auto [text, origin] = settings.find_with_origin("trace");
  if (text == nullptr || *text == "false") return false;
  if (*text == "true") return true;
  return Error{
      Code::kInvalidArgument, fmt::format("{}: '{}' is not 'true' or 'false'", origin, *text), {}};
}

// In this process, or behind the functions of one of its own.
Result<std::shared_ptr<const PluginLibrary>> open_plugin(const FoundPlugin& found,
                                                         const Isolation& decided, const Log& log,
                                                         IsolatedSetting setting) {
  log.write(MUSTER_LOG_DEBUG,
            fmt::format("plugin '{}' runs {}: {}", found.descriptor.name,
                        decided.isolated ? "isolated" : "in this process", decided.why),
            Secrets());
  if (!decided.warning.empty()) log.write(MUSTER_LOG_WARNING, decided.warning, Secrets());
  if (!decided.isolated) return load_plugin(found, log);
  Result<std::string> helper = isolation_helper();
  if (!helper) return std::move(helper).error().with("plugin", found.descriptor.name);
  setting.helper = std::move(*helper);
  return isolate_plugin(found, std::move(setting));
}

// What all settings say, read and checked, and the config that they name with its plugins found but not loaded. There is no other
// reader of settings, so what muster_config_check calls right, muster_open takes.
struct Opening {
  std::shared_ptr<const Log> log;
  std::shared_ptr<Secrets> secrets = std::make_shared<Secrets>();
  std::string record;               // path, or ""
  std::shared_ptr<Session> replay;  // null: the world is asked
  int64_t watch_interval_ns = 0;
  std::optional<bool> isolate;  // where the resolvers run that do not say; nothing: by the policy
  bool trace = false;
  OpenedConfig config;
};

Result<Opening> read_settings(const muster_settings& settings) {
  Opening opening;
  opening.log = log_of(settings);
  if (const std::string* path = settings.find("record")) opening.record = *path;
  const std::string* replay = settings.find("replay");
  if (replay != nullptr && replay->empty()) replay = nullptr;
  if (!opening.record.empty() && replay != nullptr) {
    return Error{
        Code::kInvalidArgument,
        "record and replay exclude each other: a replay asks nothing that could be recorded",
        {}};
  }
  // Found out before anything is asked.
  if (!opening.record.empty()) {
    if (auto failure = refusal_of(opening.record))
      return Error{Code::kInvalidArgument, "record: " + failure->text, {}}.with(
          "hint", std::move(failure->hint));
  }
  const Result<int64_t> interval = watch_interval_setting(settings);
  if (!interval) return interval.error();
  opening.watch_interval_ns = *interval;
  const Result<std::optional<bool>> isolate = isolate_setting(settings);
  if (!isolate) return isolate.error();
  opening.isolate = *isolate;
  const Result<bool> trace = trace_setting(settings);
  if (!trace) return trace.error();
  opening.trace = *trace;
  if (replay != nullptr) {
    // The config is read out of the recording, so its timeout is not known yet.
    int64_t deadline_ns = INT64_MAX;
    if (const std::string* text = settings.find("timeout")) {
      if (const auto timeout = parse_duration(*text))
        deadline_ns = monotonic_ns() + timeout->count();
    }
    auto session = Session::replay(*replay, opening.log, opening.secrets, deadline_ns);
    if (!session) return std::move(session).error();
    opening.replay = std::move(*session);
  }
  auto config = open_config(settings, environment_of(opening.replay));
  if (!config) return std::move(config).error();
  opening.config = std::move(*config);
  add_secrets(opening.config.config.cluster, *opening.secrets);
  return opening;
}

Result<std::unique_ptr<muster_cluster>> open_cluster(const muster_settings& settings) {
  auto opening = read_settings(settings);
  if (!opening) return std::move(opening).error();
  auto cluster = std::make_unique<muster_cluster>();
  cluster->log = opening->log;
  cluster->secrets = opening->secrets;
  cluster->record = std::move(opening->record);
  cluster->replay = std::move(opening->replay);
  cluster->watch_interval_ns = opening->watch_interval_ns;
  cluster->variables = std::move(opening->config.variables);
  const Config& config = opening->config.config;

  PluginSearch search = search_of(settings, &config);
  log_ignored(search, *cluster->log, *cluster->secrets);
  auto http = make_http_library(
      [found_in = std::move(search)] { return find_service_library(found_in, "http"); });
  cluster->make_backend = [plugins = std::move(opening->config.plugins), isolate = opening->isolate,
                           trace = opening->trace, limit = start_limit(settings, &config),
                           log = cluster->log, secrets = cluster->secrets,
                           http](const ResolverConfig& leaf) -> Result<std::shared_ptr<Backend>> {
    const FoundPlugin& found = plugins.at({leaf.backend, leaf.command});
    const Isolation decided = trace
                                  ? Isolation{true, "its frames are traced", ""}
                                  : decide_isolation(found, leaf.isolate ? leaf.isolate : isolate);
    IsolatedSetting setting;
    setting.start_ns = limit;
    if (trace) setting.trace = log;
    setting.secrets = secrets;
    auto library = open_plugin(found, decided, *log, std::move(setting));
    if (!library) return std::move(library).error();
    return Backend::create(
        std::move(*library), leaf, log, secrets, http,
        fmt::format("{}: {}", decided.isolated ? "isolated" : "in process", decided.why));
  };
  auto made = Cluster::create(config, cluster->make_backend);
  if (!made) return std::move(made).error();
  cluster->cluster = std::move(*made);
  return cluster;
}

}  // namespace

PluginSearch search_of(const muster_settings& settings, const Config* config) {
  static const std::vector<std::string> none;
  PluginSearch search = search_places(
      settings.all("plugin_dir"), config == nullptr ? none : config->plugin_search,
      config == nullptr ? std::map<std::string, std::string>() : config->plugin_sha256);
  search.describe =
      [limit = start_limit(settings, config)](const FoundPlugin& program) -> Result<std::string> {
    Result<std::string> helper = isolation_helper();
    if (!helper) return helper;
    return describe_program(program, *helper, limit);
  };
  return search;
}

Result<OpenedConfig> open_config(const muster_settings& settings,
                                 const EnvironmentLookup& environment) {
  OpenedConfig opened;
  const EnvironmentLookup noting = [&](const std::string& name) {
    if (std::find(opened.variables.begin(), opened.variables.end(), name) == opened.variables.end())
      opened.variables.push_back(name);
    return environment(name);
  };
  const DescriptorLookup descriptors = [&](const PluginUse& use,
                                           const Config& so_far) -> Result<Descriptor> {
    const auto known = opened.plugins.find(use);
    if (known != opened.plugins.end()) return known->second.descriptor;
    const PluginSearch search = search_of(settings, &so_far);
    auto found = use.command.empty() ? find_plugin(search, use.backend)
                                     : find_program(search, use.backend, use.command);
    if (!found) return std::move(found).error();
    return opened.plugins.emplace(use, std::move(*found)).first->second.descriptor;
  };
  const std::string* backend = settings.find("backend");
  const std::string* text = settings.find("config_text");
  // MUSTER_CONFIG is for those who say nothing else.
  const bool said = backend != nullptr || text != nullptr;
  const std::string* file =
      said && settings.all("config_file").empty() ? nullptr : settings.find("config_file");
  const int given =
      (file != nullptr ? 1 : 0) + (text != nullptr ? 1 : 0) + (backend != nullptr ? 1 : 0);
  if (given != 1) {
    return Error{Code::kInvalidArgument,
                 given == 0 ? "no configuration: give a config file (-f FILE, or MUSTER_CONFIG), a "
                              "config text, or one backend (--backend NAME)"
                            : "more than one configuration: a config file, a config text and a "
                              "backend exclude each other",
                 {}};
  }
  if (backend == nullptr && !settings.all("option").empty()) {
    return Error{Code::kInvalidArgument,
                 "options (-O) go with --backend; those of a config file stand in the file",
                 {}};
  }
  const auto read = [&]() -> Result<Config> {
    if (backend != nullptr)
      return shorthand_config(*backend, settings.all("option"), {}, noting, descriptors);
    if (text != nullptr) {
      const std::string* name = settings.find("config_name");
      return parse_config(*text, name == nullptr ? "<text>" : *name, noting, descriptors);
    }
    return load_config(*file, noting, descriptors);
  };
  auto config = read();
  if (!config) return std::move(config).error();
  if (Status status = apply_settings(settings, *config); !status) return std::move(status).error();
  opened.config = std::move(*config);
  return opened;
}

}  // namespace muster

int32_t muster_cluster::resolve(const muster::CancelToken& cancel, muster::SnapshotPtr& snapshot,
                                std::string& recording_error, muster_error** error) {
  const std::shared_ptr<muster::Session> session =
      record.empty() ? this->session() : muster::Session::record(log, secrets);
  for (const std::string& name : variables) session->variable("", name);
  ++running;
  auto outcome = cluster->resolve(session, cancel);
  --running;
  // A failed resolve is recorded as well: it is the one that somebody else should look at.
  if (!record.empty()) {
    if (muster::Status written = session->write(record); !written) {
      recording_error =
          fmt::format("{}; {}", written.error().message, written.error().detail("hint"));
    }
  }
  if (auto* failure = std::get_if<muster::ResolveFailure>(&outcome)) {
    if (!recording_error.empty())
      failure->error.message += "\nthis resolve is not recorded: " + recording_error;
    return muster::fail_resolve(std::move(*failure), error);
  }
  snapshot = std::move(std::get<muster::SnapshotPtr>(outcome));
  return 0;
}

extern "C" {

int32_t muster_open(const muster_settings* settings, muster_cluster** cluster,
                    muster_error** error) {
  return muster::guarded(error, [&] {
    if (settings == nullptr || cluster == nullptr) {
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_open: settings and cluster must not be NULL",
                           {}},
                          error);
    }
    auto opened = muster::open_cluster(muster_settings(*settings));
    if (!opened) return muster::fail_open(std::move(opened).error(), error);
    *cluster = opened->release();
    return 0;
  });
}

int32_t muster_config_check(const muster_settings* settings, muster_text** report,
                            muster_error** error) {
  return muster::guarded(error, [&] {
    if (settings == nullptr)
      return muster::fail(
          {muster::Code::kInvalidArgument, "muster_config_check: settings must not be NULL", {}},
          error);
    const auto opening = muster::read_settings(muster_settings(*settings));
    if (!opening) return muster::fail_open(opening.error(), error);
    if (report == nullptr) return 0;
    const muster::Config& config = opening->config.config;
    const size_t leaves = muster::leaf_count(config.cluster);
    std::string text =
        fmt::format("{}: right; {} resolver{}", config.name, leaves, leaves == 1 ? "" : "s");
    for (const auto& [use, plugin] : opening->config.plugins) {
      text += fmt::format("\n  {}: {} {}", use.backend, plugin.path, plugin.descriptor.version);
    }
    *report = new muster_text{text + "\n"};
    return 0;
  });
}

int32_t muster_resolve(muster_cluster* cluster, muster_snapshot** snapshot, muster_error** error) {
  return muster::guarded(error, [&] {
    if (cluster == nullptr || snapshot == nullptr) {
      return muster::fail({muster::Code::kInvalidArgument,
                           "muster_resolve: cluster and snapshot must not be NULL",
                           {}},
                          error);
    }
    muster::SnapshotPtr answer;
    std::string recording_error;
    const int32_t code = cluster->resolve(muster::CancelToken::of(cluster->cancel_switch), answer,
                                          recording_error, error);
    if (code == 0) {
      *snapshot = new muster_snapshot(std::move(answer));
      (*snapshot)->recording_error = std::move(recording_error);
    }
    return code;
  });
}

int64_t muster_cluster_timeout_ms(const muster_cluster* cluster) {
  if (cluster == nullptr) return -1;
  return std::chrono::duration_cast<std::chrono::milliseconds>(cluster->cluster->config().timeout)
      .count();
}

void muster_cancel(muster_cluster* cluster) {
  if (cluster != nullptr) cluster->cancel();
}

void muster_cancel_reset(muster_cluster* cluster) {
  if (cluster != nullptr) cluster->reset_cancel();
}

size_t muster_progress(const muster_cluster* cluster, char* buffer, size_t size) {
  std::string lines;
  if (cluster != nullptr)
    lines = cluster->running.load() != 0 ? cluster->cluster->progress() : cluster->watch_progress();
  if (buffer != nullptr && size > 0) {
    const size_t copied = lines.copy(buffer, size - 1);
    buffer[copied] = '\0';
  }
  return lines.size();
}

void muster_cluster_destroy(muster_cluster* cluster) {
  muster_cancel(cluster);
  delete cluster;
}

}  // extern "C"

// Settings of the launcher's interface: texts by name, over environment variables.
#include <fmt/format.h>

#include <cstdlib>

#include "core/host/handles.h"

namespace {

struct Known {
  const char* name;
  const char* variable;  // read where the setting is not set; null: none
  bool repeatable;
};

constexpr Known kKnown[] = {
    {"config_file", "MUSTER_CONFIG", false},
    {"config_text", nullptr, false},
    {"config_name", nullptr, false},
    {"backend", nullptr, false},
    {"option", nullptr, true},
    {"plugin_dir", nullptr, true},
    {"timeout", "MUSTER_TIMEOUT", false},
    {"task_type", "MUSTER_TASK_TYPE", false},
    {"task_id", "MUSTER_TASK_ID", false},
    {"rpc_layer", "MUSTER_RPC_LAYER", false},
    {"environment", "MUSTER_ENVIRONMENT", false},
    {"expect", "MUSTER_EXPECT", false},
    {"record", nullptr, false},
    {"replay", nullptr, false},
    {"isolate", "MUSTER_ISOLATE", false},
    {"trace", nullptr, false},
    {"watch_interval", "MUSTER_WATCH_INTERVAL", false},
};

const Known* find_known(const std::string& name) {
  for (const Known& known : kKnown) {
    if (name == known.name) return &known;
  }
  return nullptr;
}

}  // namespace

std::pair<const std::string*, std::string> muster_settings::find_with_origin(
    const std::string& name) const {
  const auto set = values.find(name);
  if (set != values.end() && !set->second.empty())
    return {&set->second.back(), "the setting " + name};
  const Known* known = find_known(name);
  if (known == nullptr || known->variable == nullptr) return {nullptr, ""};
  const char* value = secure_getenv(known->variable);
  if (value == nullptr || *value == '\0') return {nullptr, ""};
  return {&(environment_[name] = value), known->variable};
}

const std::vector<std::string>& muster_settings::all(const std::string& name) const {
  static const std::vector<std::string> none;
  const auto set = values.find(name);
  return set == values.end() ? none : set->second;
}

extern "C" {

muster_settings* muster_settings_create(void) { return new (std::nothrow) muster_settings; }

int32_t muster_settings_set(muster_settings* settings, const char* name, const char* value,
                            muster_error** error) {
  return muster::guarded(error, [&] {
    using muster::Code;
    if (settings == nullptr || name == nullptr) {
      return muster::fail(
          {Code::kInvalidArgument, "muster_settings_set: settings and name must not be NULL", {}},
          error);
    }
    const Known* known = find_known(name);
    if (known == nullptr) {
      std::vector<std::string> names;
      for (const Known& one : kKnown) names.emplace_back(one.name);
      const std::string near = muster::nearest(name, names);
      return muster::fail(
          {Code::kInvalidArgument,
           fmt::format("there is no setting '{}'{}; the settings are {}", name,
                       near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                       fmt::join(names, ", ")),
           {}},
          error);
    }
    const std::lock_guard lock(settings->mutex);
    std::vector<std::string>& values = settings->values[name];
    if (value == nullptr) {
      values.clear();
    } else if (known->repeatable) {
      values.emplace_back(value);
    } else {
      values.assign(1, value);
    }
    return 0;
  });
}

void muster_settings_set_log(muster_settings* settings, int32_t level,
                             void (*write)(void* ctx, int32_t level, const char* text, size_t size),
                             void* ctx) {
  if (settings == nullptr) return;
  const std::lock_guard lock(settings->mutex);
  settings->log_level = level;
  settings->log_write = write;
  settings->log_ctx = ctx;
}

void muster_settings_destroy(muster_settings* settings) { delete settings; }

}  // extern "C"

#include "tools/muster/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

constexpr size_t kConfigMaximum = 16U << 20U;

const char* level_name(int32_t level) {
  switch (level) {
    case 0: return "debug: ";
    case 1: return "";
    case 2: return "warning: ";
    default: return "error: ";
  }
}

// A config on standard input.
std::optional<std::string> read_input() {
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      say(fmt::format("cannot read the config from standard input: {}", std::strerror(errno)));
      return std::nullopt;
    }
    if (count == 0) return text;
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > kConfigMaximum) {
      say("the config on standard input is longer than 16 MiB");
      return std::nullopt;
    }
  }
}

class Setter {
 public:
  explicit Setter(muster_settings* settings) : settings_(settings) {}
  void set(const char* name, const std::string& value) {
    if (failed_) return;
    Error error;
    if (muster_settings_set(settings_, name, value.c_str(), Out(error)) != 0) {
      say_error(error.get());
      failed_ = true;
    }
  }
  void set_given(const char* name, const std::string& value) {
    if (!value.empty()) set(name, value);
  }
  bool failed() const { return failed_; }

 private:
  muster_settings* settings_;
  bool failed_ = false;
};

}  // namespace

void write_log(void*, int32_t level, const char* text, size_t size) {
  say(fmt::format("{}{}", level_name(level), std::string_view(text, size)));
}

int32_t log_level(const Options& options) {
  return options.quiet ? std::numeric_limits<int32_t>::max() : 2 - std::min(options.verbose, 2);
}

Settings make_settings(const Options& options) {
  Settings settings(muster_settings_create());
  Setter setter(settings.get());
  if (options.file == "-") {
    const auto text = read_input();
    if (!text) return nullptr;
    setter.set("config_text", *text);
    setter.set("config_name", "<standard input>");
  } else {
    setter.set_given("config_file", options.file);
  }
  setter.set_given("backend", options.backend);
  for (const std::string& option : options.backend_options) setter.set("option", option);
  for (const std::string& directory : options.plugin_dirs) setter.set("plugin_dir", directory);
  setter.set_given("timeout", options.timeout);
  setter.set_given("watch_interval", options.interval);
  setter.set_given("expect", options.expect);
  setter.set_given("task_type", options.task_type);
  setter.set_given("task_id", options.task_id);
  if (options.rpc_layer_given) setter.set("rpc_layer", options.rpc_layer);
  if (options.environment_given) setter.set("environment", options.environment);
  setter.set_given("record", options.record);
  setter.set_given("replay", options.replay);
  if (setter.failed()) return nullptr;
  if (!options.quiet)
    muster_settings_set_log(settings.get(), log_level(options), write_log, nullptr);
  return settings;
}

int report(const Error& error) {
  say_error(error.get());
  return muster_error_exit_status(error.get());
}

}  // namespace muster_command

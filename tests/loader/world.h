// A test's whole way from a built plugin to an answer: find, load, create, resolve.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/isolate/isolated_library.h"
#include "core/plugin/backend.h"
#include "tests/loader/plugin_dir.h"

namespace muster::test {

// Whether a sanitizer watches: its own memory is beyond every limit.
#ifdef SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// Log lines, kept.
class Lines {
 public:
  std::shared_ptr<const Log> log() const { return log_; }
  std::string text() const {
    const std::lock_guard lock(state_->mutex);
    return state_->text;
  }

 private:
  struct State {
    std::mutex mutex;
    std::string text;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::shared_ptr<const Log> log_ = std::make_shared<const Log>(
      MUSTER_LOG_DEBUG, [state = state_](int32_t, std::string_view text) {
        const std::lock_guard lock(state->mutex);
        state->text.append(text).append("\n");
      });
};

inline bool has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

// A built plugin under the name of a backend, in a directory of its own: one of tests/loader/plugins, or a file by its path.
struct World {
  explicit World(const std::string& built, std::string backend_name)
      : name(std::move(backend_name)) {
    const bool ours = built.find('/') == std::string::npos;
    dir.add(ours ? std::string(PLUGINS) + "/lib" + built + ".so" : built, name);
  }

  Result<std::shared_ptr<const PluginLibrary>> load() {
    Result<FoundPlugin> found = find_plugin(dir.search(), name);
    if (!found) return std::move(found).error();
    if (isolated) return isolate_plugin(std::move(*found), *isolated);
    return load_plugin(*found, *lines.log());
  }
  Result<std::shared_ptr<Backend>> create(const std::string& options) {
    Result<std::shared_ptr<const PluginLibrary>> library = load();
    if (!library) return std::move(library).error();
    ResolverConfig config;
    config.path = "cluster";
    config.backend = name;
    config.options_json = options;
    return Backend::create(std::move(*library), config, lines.log(), secrets, http);
  }
  BackendOutcome resolve(Backend& backend, int64_t milliseconds = 60'000,
                         const CancelToken& cancel = {}) {
    return backend.resolve(Session::live(lines.log(), secrets),
                           monotonic_ns() + milliseconds * 1'000'000, cancel);
  }
  // The whole way; the error of whichever step fails.
  Result<BackendAnswer> answer(const std::string& options = "{}") {
    Result<std::shared_ptr<Backend>> backend = create(options);
    if (!backend) return std::move(backend).error();
    return resolve(**backend).answer;
  }
  Error error(const std::string& options = "{}") {
    Result<BackendAnswer> result = answer(options);
    REQUIRE_FALSE(result.ok());
    return std::move(result).error();
  }

  PluginDir dir;
  std::string name;
  Lines lines;
  std::shared_ptr<Secrets> secrets = std::make_shared<Secrets>();
  std::shared_ptr<HttpLibrary> http;        // null: there is none
  std::optional<IsolatedSetting> isolated;  // given: it runs in a process of its own
};

}  // namespace muster::test

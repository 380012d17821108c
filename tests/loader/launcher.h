// Launcher: a cluster as a launcher has it, by the functions of muster.h.
#pragma once

#include <doctest/doctest.h>
#include <muster/muster.h>

#include <string>
#include <vector>

#include "tests/loader/plugin_dir.h"

namespace muster::test {

// One of muster's own plugins.
inline std::string built(const std::string& name) {
  return std::string(BUILT_PLUGINS) + "/libmuster-" + name + ".so";
}

// A cluster as a launcher has it.
class Launcher {
 public:
  Launcher(const std::vector<std::string>& plugins, const std::string& config) {
    for (const std::string& file : plugins)
      dir.add(file,
              file.find("libmuster-") == std::string::npos
                  ? "bad"
                  : std::string(file, file.rfind('-') + 1, file.rfind('.') - file.rfind('-') - 1));
    set("plugin_dir", dir.path());
    set("config_text", config);
  }
  ~Launcher() {
    close();
    muster_settings_destroy(settings);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  void set(const char* name, const std::string& value) {
    REQUIRE(muster_settings_set(settings, name, value.c_str(), nullptr) == 0);
  }
  void open() {
    muster_error* error = nullptr;
    if (muster_open(settings, &cluster, &error) != 0) FAIL(muster_error_message(error, nullptr));
  }
  void close() {
    muster_cluster_destroy(cluster);
    cluster = nullptr;
  }
  std::string ask(const char* format) {
    muster_error* error = nullptr;
    muster_snapshot* snapshot = nullptr;
    if (muster_resolve(cluster, &snapshot, &error) != 0) {
      std::string message = muster_error_message(error, nullptr);
      muster_error_destroy(error);
      return message;
    }
    muster_text* text = nullptr;
    REQUIRE(muster_render(snapshot, format, nullptr, &text, nullptr) == 0);
    std::string copy = muster_text_data(text, nullptr);
    muster_text_destroy(text);
    muster_snapshot_destroy(snapshot);
    return copy;
  }

  PluginDir dir;
  muster_settings* settings = muster_settings_create();
  muster_cluster* cluster = nullptr;
};

}  // namespace muster::test

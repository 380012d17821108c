// The settings of a launcher, as its threads use them.
#include <muster/muster.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/loader/world.h"

TEST_CASE("one handle of settings is used by many threads, and set by another meanwhile") {
  // Too long to stand in a std::string itself.
  ::setenv("MUSTER_EXPECT", "worker_of_a_job_with_a_long_name=16", 1);
  ::setenv("MUSTER_RPC_LAYER", "grpc+with+a+name+that+takes+memory", 1);
  muster_settings* settings = muster_settings_create();
  const auto set = [&](const char* name, const char* value) {
    CHECK(muster_settings_set(settings, name, value, nullptr) == 0);
  };
  set("plugin_dir", BUILT_PLUGINS);
  set("config_text", "cluster: {backend: static, options: {cluster_spec: {}}}");
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 200; ++turn) {
        muster_text* report = nullptr;
        if (muster_config_check(settings, &report, nullptr) != 0) ++wrong;
        muster_text_destroy(report);
      }
    });
  }
  std::thread setting([&] {
    for (int turn = 0; !over; ++turn) {
      set("config_name", std::string(static_cast<size_t>(20 + turn % 200), 'n').c_str());
      set("expect", turn % 2 == 0 ? nullptr : "another_job_with_a_long_name=16");
    }
  });
  for (std::thread& thread : threads) thread.join();
  over = true;
  setting.join();
  CHECK(wrong == 0);
  muster_settings_destroy(settings);
  ::unsetenv("MUSTER_EXPECT");
  ::unsetenv("MUSTER_RPC_LAYER");
}

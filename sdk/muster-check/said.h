// What a plugin said in a test, as it said it: before the core redacts it.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/service/session.h"

namespace muster::check {

// One a process, because set_error of the plugin interface says nothing of who is asked. [thread-safe]
class Said {
 public:
  explicit Said(std::shared_ptr<Secrets> secrets) : secrets_(std::move(secrets)) {}

  // `where`: "a log line", "an error". The text is looked through for what is known as a secret.
  void add(std::string_view where, std::string_view text);
  void host_misbehaves(std::string_view text);

  // What broke MP-17, and what the plugin holds against the core, in words; forgets them.
  std::vector<std::string> take_leaks();
  std::vector<std::string> take_complaints();
  uint64_t texts() const;

 private:
  std::shared_ptr<Secrets> secrets_;
  mutable std::mutex mutex_;
  std::vector<std::string> leaks_, complaints_;
  uint64_t texts_ = 0;
};

}  // namespace muster::check

#include "sdk/muster-check/said.h"

#include <fmt/format.h>

#include <utility>

namespace muster::check {

void Said::add(std::string_view where, std::string_view text) {
  const std::string clean = secrets_->redact(text);
  const std::lock_guard lock(mutex_);
  ++texts_;
  if (clean != text) leaks_.push_back(fmt::format("a secret stands in {}: '{}'", where, clean));
}

void Said::host_misbehaves(std::string_view text) {
  const std::lock_guard lock(mutex_);
  complaints_.emplace_back(secrets_->redact(text));
}

std::vector<std::string> Said::take_leaks() {
  const std::lock_guard lock(mutex_);
  return std::exchange(leaks_, {});
}

std::vector<std::string> Said::take_complaints() {
  const std::lock_guard lock(mutex_);
  return std::exchange(complaints_, {});
}

uint64_t Said::texts() const {
  const std::lock_guard lock(mutex_);
  return texts_;
}

}  // namespace muster::check

// SPDX-License-Identifier: Apache-2.0
/**
 * How a function of a backend fails: Failure, Result and Status. Part of <muster/plugin.hpp>, which includes it.
 */
#ifndef MUSTER_PLUGIN_RESULT_HPP
#define MUSTER_PLUGIN_RESULT_HPP

#include <muster/plugin.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace muster {
namespace sdk {

/** Why something failed: one of MUSTER_E_*, words for the user, and facts by the keys of add_detail. */
struct Failure {
  int32_t code = MUSTER_E_UNKNOWN;
  std::string message;  // empty: the core has been told already, by a service or a refused push
  std::vector<std::pair<std::string, std::string>> details;

  /** Adds a fact, to build a failure in one statement. */
  Failure&& with(std::string key, std::string value) && {
    details.emplace_back(std::move(key), std::move(value));
    return std::move(*this);
  }
};

/** A value, or the failure in its place. Asking for the one that is not there throws. */
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Failure& failure() const& { return std::get<1>(state_); }
  Failure&& failure() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Failure> state_;
};

/** Success, or a failure. */
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Failure failure) : failure_(std::move(failure)) {}

  explicit operator bool() const { return !failure_; }
  const Failure& failure() const& { return *failure_; }
  Failure&& failure() && { return *std::move(failure_); }

 private:
  std::optional<Failure> failure_;
};

}  // namespace sdk
}  // namespace muster

#endif /* MUSTER_PLUGIN_RESULT_HPP */

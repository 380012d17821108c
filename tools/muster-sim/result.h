#pragma once

#include <string>
#include <utility>
#include <variant>

namespace muster::sim {

// What went wrong, as one sentence a person can act on.
struct Failure {
  std::string message;
};

// A value, or the reason there is none. The simulator's own, because a tool may not use the
// core's private headers.
template <typename T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Result(Failure failure) : state_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return std::holds_alternative<T>(state_); }
  T& operator*() { return std::get<T>(state_); }
  const T& operator*() const { return std::get<T>(state_); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  const std::string& error() const { return std::get<Failure>(state_).message; }

 private:
  std::variant<T, Failure> state_;
};

}  // namespace muster::sim

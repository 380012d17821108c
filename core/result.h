// Result<T>: a value or an Error. How functions inside the core fail.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace muster {

// google.rpc.Code: the same numbers as MUSTER_E_* of <muster/plugin.h>.
enum class Code : int32_t {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "NOT_FOUND"; "UNKNOWN" for a number that is no code.
const char* code_name(Code code);

// What the system calls an errno, whatever the locale of this process.
std::string system_text(int number);

// A fact about an error; keys as in muster_host_v1::add_detail, and `plugin`, `duty`, `path`.
struct Detail {
  std::string key;
  std::string value;
};

struct Error {
  Code code = Code::kUnknown;
  std::string message;
  std::vector<Detail> details;

  // The value of the first detail of this key, or "".
  const std::string& detail(const std::string& key) const;
  // Adds a detail and returns the error, to build one in a statement.
  Error&& with(std::string key, std::string value) && {
    details.push_back({std::move(key), std::move(value)});
    return std::move(*this);
  }
};

// Memory or a thread that the system does not give: RESOURCE_EXHAUSTED, with what to do about it.
Error no_memory(std::string message = "out of memory");
// What an exception of the standard library or of a library of ours is: no_memory(), or else INTERNAL, "WHAT: its own words".
Error exception_error(const std::exception& exception, const std::string& what);

// A value, or the error why there is none. Asking for the one that is not there is a bug of ours.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value, or an error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::in_place_index<1>, std::move(error)) {}  // NOLINT

  bool ok() const { return error_.index() == 0; }
  explicit operator bool() const { return ok(); }
  Error& error() & { return std::get<1>(error_); }
  const Error& error() const& { return std::get<1>(error_); }
  Error&& error() && { return std::get<1>(std::move(error_)); }

 private:
  std::variant<std::monostate, Error> error_;
};

}  // namespace muster

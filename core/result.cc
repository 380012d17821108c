#include "core/result.h"

#include <new>
#include <system_error>
#include <utility>

namespace muster {

const char* code_name(Code code) {
  switch (code) {
    case Code::kOk: return "OK";
    case Code::kCancelled: return "CANCELLED";
    case Code::kUnknown: return "UNKNOWN";
    case Code::kInvalidArgument: return "INVALID_ARGUMENT";
    case Code::kDeadlineExceeded: return "DEADLINE_EXCEEDED";
    case Code::kNotFound: return "NOT_FOUND";
    case Code::kAlreadyExists: return "ALREADY_EXISTS";
    case Code::kPermissionDenied: return "PERMISSION_DENIED";
    case Code::kResourceExhausted: return "RESOURCE_EXHAUSTED";
    case Code::kFailedPrecondition: return "FAILED_PRECONDITION";
    case Code::kAborted: return "ABORTED";
    case Code::kOutOfRange: return "OUT_OF_RANGE";
    case Code::kUnimplemented: return "UNIMPLEMENTED";
    case Code::kInternal: return "INTERNAL";
    case Code::kUnavailable: return "UNAVAILABLE";
    case Code::kDataLoss: return "DATA_LOSS";
    case Code::kUnauthenticated: return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

Error no_memory(std::string message) {
  return {Code::kResourceExhausted,
          std::move(message),
          {{"hint",
            "raise the limit of processes (ulimit -u), of memory (ulimit -d, ulimit -v), or "
            "those of the container (pids.max, memory.max)"}}};
}

Error exception_error(const std::exception& exception, const std::string& what) {
  if (dynamic_cast<const std::bad_alloc*>(&exception) != nullptr) return no_memory();
  return {Code::kInternal, what + ": " + exception.what(), {}};
}

std::string system_text(int number) { return std::generic_category().message(number); }

const std::string& Error::detail(const std::string& key) const {
  static const std::string none;
  for (const Detail& detail : details) {
    if (detail.key == key) return detail.value;
  }
  return none;
}

}  // namespace muster

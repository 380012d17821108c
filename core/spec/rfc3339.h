// rfc3339: a time as text.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

// RFC 3339 in UTC with milliseconds: "2026-01-31T12:00:00.123Z". `time_ns` counts since 1970 UTC.
std::string rfc3339(int64_t time_ns);

}  // namespace muster

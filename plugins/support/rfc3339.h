// Times as APIs write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::support {

// Seconds since 1970-01-01 UTC of an RFC 3339 time ("2026-01-31T12:00:00Z", "...T12:00:00.5+01:00"); its fraction is left out.
// Nothing when it is none.
std::optional<int64_t> parse_rfc3339(std::string_view text);

// The same as text, in UTC: "2026-01-31T12:00:00Z".
std::string to_rfc3339(int64_t seconds);

}  // namespace muster::support

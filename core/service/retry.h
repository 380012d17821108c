// When a request is sent again, and how long that waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// Attempts of one request at most.
constexpr int kMostAttempts = 6;

// Whether sending it twice does no more than sending it once (RFC 9110 9.2.2).
bool is_idempotent_method(std::string_view method);
// 408, 429, 500, 502, 503, 504.
bool is_transient_status(int64_t status);

// Full jitter: anywhere between nothing and 100 ms doubled with each attempt, at most 10 s. Many members start in the same second, so
// none of them may wait what the others wait. `failed_attempts` is 1 or more.
int64_t backoff_ns(int failed_attempts);

// What a Retry-After header asks for, from now: seconds, or an HTTP-date (RFC 9110 10.2.3), counted from the answer's own Date where it
// has one. nullopt when it is neither. Never negative.
std::optional<int64_t> retry_after_ns(std::string_view value, std::string_view date,
                                      int64_t now_seconds);

// Seconds since 1970 UTC of an HTTP-date in any of its three forms (RFC 9110 5.6.7).
std::optional<int64_t> parse_http_date(std::string_view text);

// "1.5 s", "250 ms".
std::string duration_text(int64_t duration_ns);

}  // namespace muster

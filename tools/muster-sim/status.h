#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer.h"

namespace muster::sim {

// A Kubernetes Status object of a failure.
struct Status {
  int code = 500;
  std::string reason;
  std::string message;
  std::string name;  // details.name, and so on; left out when empty
  std::string group;
  std::string kind;
  std::vector<std::pair<std::string, std::string>> causes;  // reason and message
  std::optional<std::int64_t> retry_after;  // details.retryAfterSeconds and the header
  std::string fresh_continue;               // metadata.continue of a 410

  Answer answer() const;
};

// The status the real server gives for a code when nothing more is known: its reason and a
// message. For 429 the answer is text, as the real server's flow control gives it.
Answer plain_status(int code, std::string_view message, std::optional<std::int64_t> retry_after,
                    std::string_view fresh_continue);

}  // namespace muster::sim

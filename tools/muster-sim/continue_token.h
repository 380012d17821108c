#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "result.h"

namespace muster::sim {

// Where a list goes on: the opaque text of metadata.continue.
struct ContinueToken {
  std::int64_t version = 0;  // of the state all pages come from; -1: whatever is newest
  std::string start;         // the first storage key not given yet
  std::int64_t page = 2;     // the number of the page it asks for
  std::int64_t issued_ms = 0;

  std::string encode() const;  // base64url of JSON, without padding
  static Result<ContinueToken> decode(std::string_view text);
};

// Milliseconds since 1970, for issued_ms.
std::int64_t now_ms();

}  // namespace muster::sim

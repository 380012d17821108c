// The head of a response: status line and headers, read strictly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/http/failure.h"

namespace muster::http {

constexpr size_t kMostHeadBytes = 64 * 1024;
constexpr size_t kMostHeaders = 1000;

// How the end of a body is told.
enum class Framing { none, length, chunked, until_close };

struct Head {
  int status = 0;
  bool http_1_0 = false;
  std::vector<std::pair<std::string, std::string>> headers;  // as received, in order

  Framing framing = Framing::until_close;
  uint64_t length = 0;      // with Framing::length
  bool gzip = false;        // the body is compressed
  bool keep_alive = false;  // the server allows another request on this connection

  // The first of that name, or "".
  std::string_view header(std::string_view name) const;
};

// Where the head that begins `text` ends (behind its empty line), or npos when it is not whole yet.
size_t find_head_end(std::string_view text, size_t from);

// Reads a whole head that answers `method`. Fails with DATA_LOSS when it is not HTTP/1.x or contradicts
// itself: lengths that differ, an unknown transfer coding, a content coding that was not asked for. Of a `secret` answer it quotes nothing.
Failed parse_head(std::string_view text, std::string_view method, bool secret, Head &head);

}  // namespace muster::http

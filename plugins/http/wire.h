// A response as it comes over a connection: its head, then its body without the framing.
#pragma once

#include <memory>
#include <string>

#include "plugins/http/connection.h"
#include "plugins/http/head.h"

namespace muster::http {

class Wire {
 public:
  // `connection` and `patience` outlive this; `method` is the request's. Of an answer that is `secret` no failure quotes a word.
  Wire(Connection &connection, const Patience &patience, std::string method, bool secret = false);

  // Reads the head of the final response; interim ones (1xx) are passed over.
  // UNAVAILABLE when the connection ends before; RESOURCE_EXHAUSTED beyond 64 KiB or 1000 headers.
  Failed read_head(Head &head);

  // The next bytes of the body; `got` 0: it is whole. UNAVAILABLE "cut off after N of M bytes".
  Failed read_body(char *data, size_t size, size_t &got);

  // Whether any byte of a response came.
  bool answered() const { return answered_; }
  // The body is whole.
  bool whole() const { return finished_; }
  // And nothing came behind it.
  bool finished() const { return finished_ && begin_ == end_; }

 private:
  // Refills the empty buffer; `got` 0: the connection ended.
  Failed fill(Phase phase, size_t &got);
  // Bytes of the body as framed: out of the buffer first, then of the connection.
  Failed take(char *data, size_t size, size_t &got);
  Failed read_chunked(char *data, size_t size, size_t &got);
  // A line of the chunked framing, without its end; at most 8 KiB.
  Failed read_line(std::string &line);
  Failed read_chunk_size();
  Failed cut_off() const;
  std::string waiting_for_body() const;

  static constexpr size_t kBufferSize = 64 * 1024;

  Connection &connection_;
  const Patience &patience_;
  std::string method_;
  bool secret_;
  std::unique_ptr<char[]> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool answered_ = false;
  bool finished_ = false;

  Framing framing_ = Framing::none;
  uint64_t length_ = 0;    // of the whole body, with Framing::length
  uint64_t received_ = 0;  // of the body, without framing
  uint64_t left_ = 0;      // in this chunk, or in the whole with Framing::length
  bool in_chunk_ = false;
};

}  // namespace muster::http

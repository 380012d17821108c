// Where the body of a response goes: undone from gzip, limited, kept whole or handed over in pieces.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "plugins/http/failure.h"

namespace muster::http {

// Bytes that grow without being zeroed or copied byte by byte, followed by 64 zero bytes when finished.
class Buffer {
 public:
  static constexpr size_t kZeros = 64;

  Buffer() = default;
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&other) noexcept;
  ~Buffer() { std::free(data_); }

  // Room for `size` bytes in all. False when memory is short.
  bool reserve(uint64_t size);
  // Room for `more` beyond the size, growing by half at least but not beyond `most` in all without need.
  bool grow(uint64_t more, uint64_t most);
  char *end() { return data_ + size_; }
  uint64_t room() const { return capacity_ - size_; }
  void added(uint64_t count) { size_ += count; }
  // The zero bytes behind; also allocates for an empty body. False when memory is short.
  bool finish();

  const char *data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  char *data_ = nullptr;
  uint64_t size_ = 0;
  uint64_t capacity_ = 0;  // without the zeros
};

struct BodyOptions {
  uint64_t limit = 0;  // of the bytes after gzip
  bool gzip = false;
  uint64_t expected = 0;  // reserved at once when not 0; without gzip
  int32_t (*on_body)(void *, const char *, uint64_t) = nullptr;
  void *on_body_ctx = nullptr;
};

class Body {
 public:
  Body() = default;
  Body(const Body &) = delete;
  Body &operator=(const Body &) = delete;
  ~Body();

  Failed open(const BodyOptions &options);
  // Where the next bytes are to be put, and how many: at the place where they stay when they are kept as they come, so that nobody
  // copies them. Valid until `came`.
  Failed place(char *&data, size_t &room);
  // So many bytes were put there, at least 1. RESOURCE_EXHAUSTED beyond the limit; DATA_LOSS for what is not gzip;
  // the code of on_body when that refused.
  Failed came(size_t size);
  // After the last byte: a gzip stream that has not ended is UNAVAILABLE (cut off).
  Failed close();

  uint64_t received() const { return received_; }  // before gzip
  bool handed_over() const { return handed_over_; }
  Buffer &buffer() { return buffer_; }

 private:
  Failed count(uint64_t size);
  Failed inflate_all(const char *data, size_t size);
  Failed hand_over(const char *data, uint64_t size);
  Failure too_large() const;

  // What passes through: handed over, or compressed. Half of it and what a caller makes of it fit into a processor's own cache.
  static constexpr size_t kPiece = 256 * 1024;

  BodyOptions options_;
  Buffer buffer_;
  std::unique_ptr<char[]> piece_;
  uint64_t total_ = 0;  // after gzip
  uint64_t received_ = 0;
  bool handed_over_ = false;
  z_stream stream_{};
  bool inflating_ = false;
  bool stream_ended_ = false;
};

}  // namespace muster::http

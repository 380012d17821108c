// Where the body of a response goes.
#include "plugins/http/body.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace muster::http {

namespace {
Failure out_of_memory() {
  return failure(MUSTER_E_RESOURCE_EXHAUSTED, Phase::receive, "out of memory for the body");
}

// A large body touches each of its pages once, and the faults cost more than the copying: huge pages
// make them few, where the kernel has some to give.
char *allocate(size_t size) {
  constexpr size_t kHugePage = size_t{2} * 1024 * 1024;
  if (size < 2 * kHugePage) return static_cast<char *>(std::malloc(size));
  const size_t rounded = (size + kHugePage - 1) / kHugePage * kHugePage;
  auto *data = static_cast<char *>(std::aligned_alloc(kHugePage, rounded < size ? size : rounded));
  if (data) madvise(data, rounded, MADV_HUGEPAGE);
  return data;
}
}  // namespace

Buffer::Buffer(Buffer &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      capacity_(std::exchange(other.capacity_, 0)) {}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

bool Buffer::reserve(uint64_t size) {
  if (data_ && size <= capacity_) return true;
  if (size > SIZE_MAX - kZeros) return false;
  char *grown =
      data_ ? static_cast<char *>(std::realloc(data_, size + kZeros)) : allocate(size + kZeros);
  if (!grown) return false;
  data_ = grown;
  capacity_ = size;
  return true;
}

bool Buffer::grow(uint64_t more, uint64_t most) {
  if (data_ && more <= room()) return true;
  const uint64_t needed = size_ + more;
  return reserve(std::max(needed, std::min(capacity_ + capacity_ / 2, most)));
}

bool Buffer::finish() {
  if (!reserve(size_)) return false;
  std::memset(end(), 0, kZeros);
  return true;
}

Body::~Body() {
  if (inflating_) inflateEnd(&stream_);
}

Failed Body::open(const BodyOptions &options) {
  options_ = options;
  if (options_.gzip) {
    // 16 + 15: gzip alone, the largest window.
    if (inflateInit2(&stream_, 16 + 15) != Z_OK) return out_of_memory();
    inflating_ = true;
  } else if (!options_.on_body && options_.expected != 0) {
    // What a server says of itself is believed up to here; beyond it the buffer grows as bytes come.
    constexpr uint64_t kBelieved = 256 * 1024 * 1024;
    if (!buffer_.reserve(std::min(options_.expected, kBelieved))) return out_of_memory();
  }
  return {};
}

Failure Body::too_large() const {
  return failure(MUSTER_E_RESOURCE_EXHAUSTED, Phase::receive,
                 "the body is longer than the limit of " + std::to_string(options_.limit) +
                     " bytes" + (options_.gzip ? " after gzip" : ""));
}

Failed Body::hand_over(const char *data, uint64_t size) {
  if (size == 0) return {};
  handed_over_ = true;
  if (const int32_t code = options_.on_body(options_.on_body_ctx, data, size); code != MUSTER_OK) {
    return failure(code, Phase::receive, "the caller stopped the exchange");
  }
  return {};
}

Failed Body::place(char *&data, size_t &room) {
  if (options_.gzip || options_.on_body) {
    if (!piece_) piece_ = std::make_unique_for_overwrite<char[]>(kPiece);
    data = piece_.get();
    room = kPiece;
    return {};
  }
  // Never nothing: one byte beyond the limit is enough to know.
  if (buffer_.room() == 0 && !buffer_.grow(kPiece, std::max<uint64_t>(options_.limit, kPiece)))
    return out_of_memory();
  data = buffer_.end();
  room = buffer_.room();
  return {};
}

Failed Body::came(size_t size) {
  received_ += size;
  if (options_.gzip) return inflate_all(piece_.get(), size);
  if (Failed failed = count(size)) return failed;
  if (options_.on_body) return hand_over(piece_.get(), size);
  buffer_.added(size);
  return {};
}

Failed Body::count(uint64_t size) {
  if (size > options_.limit - total_) return too_large();
  total_ += size;
  return {};
}

Failed Body::inflate_all(const char *data, size_t size) {
  stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(data));
  stream_.avail_in = static_cast<uInt>(size);  // pieces are far below 4 GiB
  for (;;) {
    if (stream_ended_) {
      if (stream_.avail_in == 0) return {};
      // gzip files may follow each other and are one text then (RFC 1952, 2.2).
      if (inflateReset(&stream_) != Z_OK) return out_of_memory();
      stream_ended_ = false;
    }
    // One byte beyond the limit is enough to know.
    const uint64_t room = std::min<uint64_t>(
        kPiece, options_.limit - total_ + (options_.limit == UINT64_MAX ? 0 : 1));
    if (!buffer_.grow(room, std::max<uint64_t>(options_.limit, kPiece))) return out_of_memory();
    stream_.next_out = reinterpret_cast<Bytef *>(buffer_.end());
    stream_.avail_out = static_cast<uInt>(room);
    const int result = inflate(&stream_, Z_NO_FLUSH);
    const uint64_t made = room - stream_.avail_out;
    if (result == Z_MEM_ERROR) return out_of_memory();
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
      return failure(MUSTER_E_DATA_LOSS, Phase::receive,
                     std::string("the body is not the gzip it says it is") +
                         (stream_.msg ? std::string(": ") + stream_.msg : ""));
    }
    if (Failed failed = count(made)) return failed;
    if (options_.on_body) {
      if (Failed failed = hand_over(buffer_.end(), made)) return failed;
    } else {
      buffer_.added(made);
    }
    stream_ended_ = result == Z_STREAM_END;
    if (!stream_ended_ && stream_.avail_in == 0 && stream_.avail_out != 0) return {};
  }
}

Failed Body::close() {
  if (options_.gzip && received_ != 0 && !stream_ended_) {
    return failure(MUSTER_E_UNAVAILABLE, Phase::receive,
                   "the body was cut off: its gzip has not ended after " +
                       std::to_string(received_) + " bytes");
  }
  if (!buffer_.finish()) return out_of_memory();
  return {};
}

}  // namespace muster::http

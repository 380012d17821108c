// A response as it comes over a connection.
#include "plugins/http/wire.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "plugins/http/words.h"

namespace muster::http {

Wire::Wire(Connection &connection, const Patience &patience, std::string method, bool secret)
    : connection_(connection),
      patience_(patience),
      method_(std::move(method)),
      secret_(secret),
      buffer_(std::make_unique_for_overwrite<char[]>(kBufferSize)) {}

std::string Wire::waiting_for_body() const {
  std::string text =
      "the rest of the body of " + quote(connection_.endpoint()) + " (" + std::to_string(received_);
  if (framing_ == Framing::length) text += " of " + std::to_string(length_);
  return text + " bytes came)";
}

Failed Wire::cut_off() const {
  return failure(MUSTER_E_UNAVAILABLE, Phase::receive,
                 "the body was cut off after " + std::to_string(received_) +
                     (framing_ == Framing::length ? " of " + std::to_string(length_)
                                                  : " of an unknown number of") +
                     " bytes: " + quote(connection_.endpoint()) + " closed the connection");
}

Failed Wire::fill(Phase phase, size_t &got) {
  begin_ = end_ = 0;
  const std::string waited_for =
      phase == Phase::wait ? "the answer of " + quote(connection_.endpoint()) : waiting_for_body();
  if (Failed failed =
          connection_.read(buffer_.get(), kBufferSize, got, patience_, phase, waited_for))
    return failed;
  end_ = got;
  return {};
}

Failed Wire::read_head(Head &head) {
  constexpr int kMostInterim = 16;
  for (int interim = 0;; ++interim) {
    std::string text;
    size_t head_end = std::string::npos;
    while (head_end == std::string::npos) {
      if (begin_ == end_) {
        size_t got = 0;
        if (Failed failed = fill(Phase::wait, got)) return failed;
        if (got == 0) {
          return failure(
              MUSTER_E_UNAVAILABLE, Phase::wait,
              quote(connection_.endpoint()) + " closed the connection " +
                  (answered_ ? "in the middle of the answer's header" : "without an answer"));
        }
        answered_ = true;
      }
      const size_t before = text.size();
      text.append(buffer_.get() + begin_, std::min(end_ - begin_, kMostHeadBytes + 1 - before));
      head_end = find_head_end(text, before < 2 ? 0 : before - 2);
      const size_t used = head_end == std::string::npos ? text.size() : head_end;
      begin_ += used - before;
      if (head_end == std::string::npos && text.size() > kMostHeadBytes) {
        return failure(
            MUSTER_E_RESOURCE_EXHAUSTED, Phase::wait,
            "the header of the answer is longer than " + std::to_string(kMostHeadBytes) + " bytes");
      }
      // What is plainly something else is not waited for until the time is over.
      if (head_end == std::string::npos && text.size() >= 5 && !text.starts_with("HTTP/"))
        head_end = text.size();
    }
    if (Failed failed =
            parse_head(std::string_view(text).substr(0, head_end), method_, secret_, head))
      return failed;
    if (head.status / 100 != 1) break;
    if (head.status == 101 || interim == kMostInterim) {
      return failure(MUSTER_E_DATA_LOSS, Phase::wait,
                     head.status == 101
                         ? "the server switched to another protocol, which was not asked for"
                         : "the server sent only interim answers (1xx)");
    }
  }
  framing_ = head.framing;
  length_ = left_ = framing_ == Framing::length ? head.length : 0;
  finished_ = framing_ == Framing::none || (framing_ == Framing::length && length_ == 0);
  return {};
}

Failed Wire::take(char *data, size_t size, size_t &got) {
  // What is framed by length is followed by nothing that the buffer would be for.
  const bool through_buffer = size < kBufferSize && framing_ != Framing::length;
  if (begin_ == end_ && through_buffer) {
    if (Failed failed = fill(Phase::receive, got)) return failed;
  }
  if (begin_ != end_) {
    got = std::min(size, end_ - begin_);
    std::memcpy(data, buffer_.get() + begin_, got);
    begin_ += got;
    return {};
  }
  if (through_buffer) return {};  // the connection ended
  return connection_.read(data, size, got, patience_, Phase::receive, waiting_for_body());
}

Failed Wire::read_body(char *data, size_t size, size_t &got) {
  got = 0;
  if (finished_) return {};
  switch (framing_) {
    case Framing::none: return {};
    case Framing::chunked: return read_chunked(data, size, got);
    case Framing::length:
      if (Failed failed = take(data, std::min<uint64_t>(size, left_), got)) {
        return connection_.broke() ? cut_off() : failed;
      }
      if (got == 0) return cut_off();
      left_ -= got;
      finished_ = left_ == 0;
      break;
    case Framing::until_close:
      if (Failed failed = take(data, size, got)) return connection_.broke() ? cut_off() : failed;
      finished_ = got == 0;
      break;
  }
  received_ += got;
  return {};
}

Failed Wire::read_line(std::string &line) {
  constexpr size_t kMost = 8 * 1024;
  line.clear();
  for (;;) {
    if (begin_ == end_) {
      size_t got = 0;
      if (Failed failed = fill(Phase::receive, got))
        return connection_.broke() ? cut_off() : failed;
      if (got == 0) return cut_off();
    }
    const std::string_view came(buffer_.get() + begin_, end_ - begin_);
    const size_t newline = came.find('\n');
    const std::string_view piece =
        came.substr(0, newline == std::string_view::npos ? came.size() : newline + 1);
    line += piece;
    begin_ += piece.size();
    if (line.size() > kMost) {
      return failure(MUSTER_E_DATA_LOSS, Phase::receive,
                     "the body's chunks are broken: a line of more than 8 KiB");
    }
    if (newline == std::string_view::npos) continue;
    line.pop_back();
    if (line.ends_with('\r')) line.pop_back();
    return {};
  }
}

Failed Wire::read_chunk_size() {
  std::string line;
  if (in_chunk_) {
    if (Failed failed = read_line(line)) return failed;
    if (!line.empty()) {
      return failure(MUSTER_E_DATA_LOSS, Phase::receive,
                     "the body's chunks are broken: no line end after " +
                         std::to_string(received_) + " bytes");
    }
  }
  if (Failed failed = read_line(line)) return failed;
  const std::string_view digits = trimmed(std::string_view(line).substr(0, line.find(';')));
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), left_, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return failure(MUSTER_E_DATA_LOSS, Phase::receive,
                   "the body's chunks are broken: after " + std::to_string(received_) +
                       " bytes no size follows");
  }
  in_chunk_ = true;
  if (left_ != 0) return {};
  // The trailer: headers that come too late to matter, up to an empty line.
  for (size_t lines = 0; lines < kMostHeaders; ++lines) {
    if (Failed failed = read_line(line)) return failed;
    if (line.empty()) {
      finished_ = true;
      return {};
    }
  }
  return failure(MUSTER_E_RESOURCE_EXHAUSTED, Phase::receive,
                 "the body's trailer has more than 1000 headers");
}

Failed Wire::read_chunked(char *data, size_t size, size_t &got) {
  if (left_ == 0) {
    if (Failed failed = read_chunk_size()) return failed;
    if (finished_) return {};
  }
  if (Failed failed = take(data, std::min<uint64_t>(size, left_), got))
    return connection_.broke() ? cut_off() : failed;
  if (got == 0) return cut_off();
  left_ -= got;
  received_ += got;
  return {};
}

}  // namespace muster::http

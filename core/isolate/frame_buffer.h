// Frames of sdk/frames in bytes: gathered to be written, taken apart as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.h"
#include "sdk/frames/frames.pb.h"

namespace muster {

inline constexpr uint32_t kFramesMajor = 1;
inline constexpr uint32_t kFramesMinor = 0;
inline constexpr size_t kFrameMaximum = size_t{64} << 20;
// Content of one Answer or Piece; longer ones go in parts.
inline constexpr size_t kContentPart = size_t{1} << 20;

// Before each frame stands its size.
inline constexpr size_t kSizeBytes = 4;
void put_size(size_t size, char* to);

// Adds a frame as it is written. False when it is longer than kFrameMaximum; then nothing is added.
bool append_frame(const frames::v1::Frame& frame, std::string& out);

// What has come of the other side's frames. Bytes in any pieces, frames out.
class FrameBuffer {
 public:
  // Where to read at most `size` bytes to; then say how many have come. Memory grows with what has come, not with what a size promises.
  char* space(size_t size);
  void filled(size_t size) { end_ += size; }

  // Takes the next whole frame; false: more bytes are needed. kInternal says what is wrong with the bytes; they can be read no further.
  Result<bool> next(frames::v1::Frame& frame);
  // The same in two steps: its message, which stays until the next space; and that as a Frame.
  Result<bool> next(std::string_view& message);
  static Status read(std::string_view message, frames::v1::Frame& frame);

 private:
  std::string bytes_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// "AddTask", "SendHttp", ...: how people read of a frame.
const char* frame_name(frames::v1::Frame::KindCase kind);

}  // namespace muster

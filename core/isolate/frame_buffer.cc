#include "core/isolate/frame_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace muster {
namespace {

size_t get_size(const char* from) {
  size_t size = 0;
  for (size_t n = 0; n < kSizeBytes; ++n)
    size |= static_cast<size_t>(static_cast<unsigned char>(from[n])) << (8 * n);
  return size;
}

}  // namespace

void put_size(size_t size, char* to) {
  for (size_t n = 0; n < kSizeBytes; ++n) to[n] = static_cast<char>(size >> (8 * n));
}

bool append_frame(const frames::v1::Frame& frame, std::string& out) {
  const size_t size = frame.ByteSizeLong();
  if (size > kFrameMaximum) return false;
  const size_t at = out.size();
  out.resize(at + kSizeBytes + size);
  put_size(size, out.data() + at);
  frame.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(out.data() + at + kSizeBytes));
  return true;
}

char* FrameBuffer::space(size_t size) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (bytes_.size() - end_ < size && begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (bytes_.size() - end_ < size) bytes_.resize(std::max(end_ + size, 2 * bytes_.size()));
  return bytes_.data() + end_;
}

Result<bool> FrameBuffer::next(frames::v1::Frame& frame) {
  std::string_view message;
  Result<bool> whole = next(message);
  if (!whole || !*whole) return whole;
  if (Status status = read(message, frame); !status) return std::move(status).error();
  return true;
}

Status FrameBuffer::read(std::string_view message, frames::v1::Frame& frame) {
  if (frame.ParseFromArray(message.data(), static_cast<int>(message.size()))) return {};
  return Error{
      Code::kInternal, fmt::format("a frame of {} bytes cannot be read", message.size()), {}};
}

Result<bool> FrameBuffer::next(std::string_view& message) {
  if (end_ - begin_ < kSizeBytes) return false;
  const size_t size = get_size(bytes_.data() + begin_);
  if (size == 0 || size > kFrameMaximum) {
    return Error{
        Code::kInternal,
        fmt::format("a frame says that it has {} bytes; it has 1 to {}", size, kFrameMaximum),
        {}};
  }
  if (end_ - begin_ - kSizeBytes < size) return false;
  message = {bytes_.data() + begin_ + kSizeBytes, size};
  begin_ += kSizeBytes + size;
  return true;
}

const char* frame_name(frames::v1::Frame::KindCase kind) {
  using Frame = frames::v1::Frame;
  switch (kind) {
    case Frame::kHello: return "Hello";
    case Frame::kAnswer: return "Answer";
    case Frame::kCreate: return "Create";
    case Frame::kRun: return "Run";
    case Frame::kCancel: return "Cancel";
    case Frame::kRefused: return "Refused";
    case Frame::kPiece: return "Piece";
    case Frame::kLog: return "Log";
    case Frame::kCheckAddress: return "CheckAddress";
    case Frame::kAddJob: return "AddJob";
    case Frame::kAddTask: return "AddTask";
    case Frame::kSetAttribute: return "SetAttribute";
    case Frame::kAddMissing: return "AddMissing";
    case Frame::kSetExpected: return "SetExpected";
    case Frame::kSetIdentity: return "SetIdentity";
    case Frame::kAddWarning: return "AddWarning";
    case Frame::kMarkSecret: return "MarkSecret";
    case Frame::kSetProgress: return "SetProgress";
    case Frame::kCommit: return "Commit";
    case Frame::kAddPermission: return "AddPermission";
    case Frame::kSetGrant: return "SetGrant";
    case Frame::kAddPlanned: return "AddPlanned";
    case Frame::kMisbehaved: return "Misbehaved";
    case Frame::kGetTime: return "GetTime";
    case Frame::kSleep: return "Sleep";
    case Frame::kGetVariable: return "GetVariable";
    case Frame::kReadFile: return "ReadFile";
    case Frame::kSendHttp: return "SendHttp";
    case Frame::kBeginHttp: return "BeginHttp";
    case Frame::kNextHttp: return "NextHttp";
    case Frame::kEndHttp: return "EndHttp";
    case Frame::kHasTerminal: return "HasTerminal";
    case Frame::kRunProgram: return "RunProgram";
    case Frame::kGetHostname: return "GetHostname";
    case Frame::KIND_NOT_SET: return "a frame of no known kind";
  }
  return "a frame of no known kind";
}

}  // namespace muster

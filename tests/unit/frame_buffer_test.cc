#include "core/isolate/frame_buffer.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "core/file_descriptor.h"

namespace muster {
namespace {

// Takes what is written to stderr for as long as it lives.
class StandardError {
 public:
  StandardError() : usual_(::dup(STDERR_FILENO)), taken_(::memfd_create("stderr", MFD_CLOEXEC)) {
    ::dup2(taken_.get(), STDERR_FILENO);
  }
  ~StandardError() { ::dup2(usual_.get(), STDERR_FILENO); }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  off_t size() const { return ::lseek(taken_.get(), 0, SEEK_END); }

 private:
  FileDescriptor usual_;
  FileDescriptor taken_;
};

void put(FrameBuffer& buffer, std::string_view bytes) {
  std::memcpy(buffer.space(bytes.size()), bytes.data(), bytes.size());
  buffer.filled(bytes.size());
}

TEST_CASE("a frame comes out once its last byte is there") {
  std::string bytes;
  frames::v1::Frame frame;
  frame.mutable_hello()->set_software("roster 1.0");
  REQUIRE(append_frame(frame, bytes));
  FrameBuffer buffer;
  put(buffer, std::string_view(bytes).substr(0, bytes.size() - 1));
  frames::v1::Frame read;
  CHECK_FALSE(*buffer.next(read));
  put(buffer, std::string_view(bytes).substr(bytes.size() - 1));
  REQUIRE(*buffer.next(read));
  CHECK(read.hello().software() == "roster 1.0");
}

TEST_CASE("what is no frame is an error, and nothing is said on the host's stderr") {
  using namespace std::string_view_literals;
  // A Hello whose `software` is no UTF-8; and one that is cut off.
  for (const std::string_view bytes :
       {"\x06\0\0\0\x12\x04\x1a\x02\xff\xfe"sv, "\x03\0\0\0\x12\x04\x1a"sv}) {
    FrameBuffer buffer;
    put(buffer, bytes);
    frames::v1::Frame frame;
    const StandardError error;
    const Result<bool> read = buffer.next(frame);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message.find("cannot be read") != std::string::npos);
    CHECK(error.size() == 0);
  }
}

}  // namespace
}  // namespace muster

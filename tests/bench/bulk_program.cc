// Backend "bulk" as an executable: muster-backend-bulk TASKS ipv4|dns. The frames as any program in C++ would write them.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "core/isolate/frame_buffer.h"
#include "tests/bench/bulk.h"

namespace {

constexpr int kFrames = 3;
constexpr size_t kGathered = 64 << 10;

using muster::frames::v1::Frame;

void write_all(std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t written = ::write(kFrames, bytes.data() + at, bytes.size() - at);
    if (written <= 0) std::exit(1);
    at += static_cast<size_t>(written);
  }
  bytes.clear();
}

void push_tasks(int64_t tasks, const bulk_address* addresses, std::string& bytes) {
  Frame frame;
  for (int64_t index = 0; index < tasks; ++index) {
    frame.mutable_add_task()->set_job("worker");
    frame.mutable_add_task()->set_index(index);
    frame.mutable_add_task()->set_address(addresses[index].text, addresses[index].size);
    muster::append_frame(frame, bytes);
    if (bytes.size() >= kGathered) write_all(bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::getenv("MUSTER_FRAMES_FD") == nullptr) return 2;
  const int64_t tasks = std::strtoll(argv[1], nullptr, 10);
  const bulk_address* addresses = bulk_addresses(tasks, std::strcmp(argv[2], "dns") == 0 ? 1 : 0);
  std::string bytes;
  Frame said;
  said.mutable_hello()->set_major(muster::kFramesMajor);
  said.mutable_hello()->set_descriptor(
      R"({"name": "bulk", "version": "1.0.0", "abi": {"major": 1, "minor": 0}, "description": "Many tasks.",
          "options": {"type": "object"}})");
  muster::append_frame(said, bytes);
  write_all(bytes);
  muster::FrameBuffer come;
  for (;;) {
    constexpr size_t kRead = 4096;
    const ssize_t got = ::read(kFrames, come.space(kRead), kRead);
    if (got <= 0) return 0;
    come.filled(static_cast<size_t>(got));
    for (;;) {
      Frame frame;
      const auto whole = come.next(frame);
      if (!whole) return 1;
      if (!*whole) break;
      if (!frame.has_create() && !frame.has_run()) continue;
      if (frame.has_run()) push_tasks(tasks, addresses, bytes);
      Frame answer;
      answer.set_id(frame.id());
      answer.mutable_answer();
      muster::append_frame(answer, bytes);
      write_all(bytes);
    }
  }
}

// Any bytes as what a backend's process writes: the same frames in whatever pieces they come, and a conversation that ends, with an
// answer or with words that say why there is none. What it asks for comes out of a recording: nothing is read, sent or run.
//
// The first byte says which function is called, and whether the bytes behind it begin with its Hello or with what comes in the call.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/isolate/conversation.h"
#include "core/isolate/quick_frames.h"
#include "core/plugin/sink.h"
#include "core/service/host.h"
#include "core/service/text.h"

namespace {

using namespace muster;
using frames::v1::Frame;

// The core's answers to more than that, which nobody reads here, would fill a socket.
constexpr size_t kLongest = 2048;
constexpr int64_t kSecond = 1'000'000'000;

constexpr std::string_view kRecording = R"(muster_recording: 1
resolvers:
  - path: "cluster"
    times: ["2026-01-31T12:00:00.000000000Z"]
    variables: {A: "value"}
    files:
      - file: "/f"
        content: "text"
    requests:
      - {method: GET, url: "http://h/", milliseconds: 1, status: 200, response: "body"}
      - {method: GET, url: "http://h/", milliseconds: 1, status: 200, response: "body"}
)";

std::shared_ptr<Session> read_session() {
  std::string name = "/tmp/muster-fuzz-XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0 || ::write(file, kRecording.data(), kRecording.size()) < 0) std::abort();
  ::close(file);
  auto session = Session::replay(name, std::make_shared<const Log>(), std::make_shared<Secrets>());
  ::unlink(name.c_str());
  if (!session) std::abort();
  return *session;
}

// What is read without a Frame is what a Frame has, and is written as a Frame is.
void check_quick(std::string_view message) {
  Frame frame;
  const bool read = FrameBuffer::read(message, frame).ok();
  std::string theirs, ours;
  if (read && !append_frame(frame, theirs)) std::abort();
  muster_task_v1 task;
  std::string_view key, value;
  if (read_task(message, task)) {
    if (!read) return;  // a text in it is not UTF-8
    const frames::v1::AddTask& said = frame.add_task();
    if (said.index() != task.index || said.port() != task.port ||
        said.job() != std::string_view(task.job, task.job_size) ||
        said.name() != std::string_view(task.name, task.name_size) ||
        said.address() != std::string_view(task.address, task.address_size))
      std::abort();
    append_task(task, ours);
  } else if (read_attribute(message, key, value)) {
    if (!read) return;
    if (frame.set_attribute().key() != key || frame.set_attribute().value() != value) std::abort();
    append_attribute(key, value, ours);
  } else {
    return;
  }
  if (ours != theirs) std::abort();
}

// The frames of all bytes, given `part` at a time; what is wrong with them is the last.
std::vector<std::string> frames_of(std::string_view bytes, size_t part) {
  FrameBuffer buffer;
  std::vector<std::string> out;
  for (;;) {
    std::string_view message;
    const Result<bool> whole = buffer.next(message);
    if (!whole) {
      out.push_back(whole.error().message);
      return out;
    }
    if (*whole) {
      check_quick(message);
      out.emplace_back(message);
      continue;
    }
    if (bytes.empty()) return out;
    const std::string_view piece = bytes.substr(0, part);
    std::memcpy(buffer.space(piece.size()), piece.data(), piece.size());
    buffer.filled(piece.size());
    bytes.remove_prefix(piece.size());
  }
}

std::string beginning() {
  std::string bytes;
  Frame frame;
  frame.mutable_hello()->set_major(kFramesMajor);
  append_frame(frame, bytes);
  frame.set_id(1);
  frame.mutable_answer();
  append_frame(frame, bytes);
  return bytes;
}

// A process that has written these bytes, reads nothing and ends without a word.
class Writer {
 public:
  explicit Writer(const std::string& bytes) {
    std::array<int, 2> frames, output, control;
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, frames.data()) != 0 ||
        ::pipe(output.data()) != 0 || ::socketpair(AF_UNIX, SOCK_STREAM, 0, control.data()) != 0)
      std::abort();
    if (::write(frames[1], bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      std::abort();
    ::shutdown(frames[1], SHUT_WR);
    ::close(output[1]);
    ::close(control[1]);
    end_.reset(frames[1]);
    process_ = BackendProcess::adopt(FileDescriptor(frames[0]), FileDescriptor(output[0]),
                                     FileDescriptor(control[0]));
  }
  std::unique_ptr<BackendProcess> take() { return std::move(process_); }

 private:
  FileDescriptor end_;
  std::unique_ptr<BackendProcess> process_;
};

void check_failure(const Error& error) {
  if (error.message.empty() || error.code == Code::kOk) std::abort();
  if (!is_utf8(error.message) || error.message.find('\0') != std::string::npos) std::abort();
}

void talk(frames::v1::Function function, const std::string& bytes) {
  static const std::shared_ptr<Session> session = read_session();
  const Host host("fuzz", "cluster", "{}", session->shared_log(), session->shared_secrets(),
                  nullptr);
  const auto trace = std::make_shared<const Log>(kFrameLevel, [](int32_t, std::string_view line) {
    if (!is_utf8(line) || line.find('\n') != std::string_view::npos) std::abort();
  });
  Speaker speaker{"fuzz", "cluster", host.table(), 0, trace, session->shared_secrets()};
  Writer writer(bytes);
  auto conversation = Conversation::begin(writer.take(), std::move(speaker));
  if (!conversation) return check_failure(conversation.error());
  const auto created = (*conversation)->create("{}");
  if (!created) return check_failure(created.error());

  SinkCall call(session->replay_again(), "cluster", "fuzz", monotonic_ns() + kSecond,
                CancelToken());
  if (function == frames::v1::WATCH) call.watch([](const BackendAnswer&) {});
  if (function == frames::v1::PERMISSIONS) call.ask_needs();
  if (function == frames::v1::PLAN) call.ask_plan();
  call.begin();
  frames::v1::Run run;
  run.set_function(function);
  const auto answer = (*conversation)->run(call.table(), run);
  if (!answer) {
    check_failure(answer.error());
    const bool over = (*conversation)->failed();
    const auto again = (*conversation)->run(call.table(), run);
    if (over && (again || again.error().message != answer.error().message)) std::abort();
    return;
  }
  const auto outcome = call.finish(answer->code(), {Code::kUnknown, answer->message(), {}});
  if (!outcome) check_failure(outcome.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > kLongest) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t part = 1 + data[0] / 16;
  if (frames_of(bytes, part) != frames_of(bytes, kLongest)) std::abort();
  const bool from_hello = (data[0] & 4) != 0;
  const auto function = static_cast<frames::v1::Function>(frames::v1::RESOLVE + (data[0] & 3));
  talk(function, from_hello ? bytes : beginning() + bytes);
  return 0;
}

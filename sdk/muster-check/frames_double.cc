#include "sdk/muster-check/frames_double.h"

#include <fmt/format.h>
#include <muster/plugin.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "core/cancel.h"
#include "core/isolate/isolated_library.h"
#include "sdk/muster-check/resolver.h"

namespace muster::check {
namespace {

using frames::v1::Answer;
using frames::v1::Frame;

constexpr int64_t kStart_ns = 5 * kSecond;
constexpr int64_t kCall_ns = 20 * kSecond;
// Field 2000 of any message, which has none: a text of one byte.
constexpr std::string_view kUnknownField("\x82\x7d\x01x", 4);

void add_unknown_field(google::protobuf::MessageLite& message) {
  message.MergeFromString(std::string(kUnknownField));
}

void add_unknown_fields(Frame& frame) {
  if (frame.has_hello()) add_unknown_field(*frame.mutable_hello());
  if (frame.has_create()) add_unknown_field(*frame.mutable_create());
  if (frame.has_run()) add_unknown_field(*frame.mutable_run());
  if (frame.has_piece()) add_unknown_field(*frame.mutable_piece());
  if (!frame.has_answer()) return;
  add_unknown_field(*frame.mutable_answer());
  if (frame.answer().has_http()) add_unknown_field(*frame.mutable_answer()->mutable_http());
}

bool pushes(const Frame& frame) {
  const int kind = frame.kind_case();
  return kind >= Frame::kAddJob && kind <= Frame::kAddPlanned && kind != Frame::kSetProgress &&
         kind != Frame::kMarkSecret;
}

}  // namespace

bool Called::same(const Called& other) const {
  return answer && other.answer && answer->code() == other.answer->code() &&
         answer->message() == other.answer->message() && pushed == other.pushed;
}

std::unique_ptr<FramesDouble> FramesDouble::start(Trial& trial, uint32_t major, uint32_t minor) {
  std::unique_ptr<FramesDouble> made(new FramesDouble(trial, minor));
  auto process =
      BackendProcess::start(isolated_process(*trial.target.found, {trial.target.helper}));
  if (!process) {
    trial.report.note(process.error().message);
    return nullptr;
  }
  made->process_ = std::move(*process);
  Frame hello;
  hello.mutable_hello()->set_major(major);
  hello.mutable_hello()->set_minor(minor);
  hello.mutable_hello()->set_software("muster-check");
  made->write(std::move(hello));
  return made;
}

// ---- Frames ------------------------------------------------------------------------------------

void FramesDouble::write(Frame frame) {
  if (minor_ > kFramesMinor) add_unknown_fields(frame);
  std::string bytes;
  if (append_frame(frame, bytes)) write_bytes(bytes);
}

void FramesDouble::write_bytes(std::string_view bytes) {
  const int64_t until = monotonic_ns() + kStart_ns;
  while (!bytes.empty() && monotonic_ns() < until) {
    const ssize_t written = ::send(process_->frames(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
    if (written > 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return;  // it is gone, which who reads will see
    pollfd waiting = {process_->frames(), POLLOUT, 0};
    ::poll(&waiting, 1, 100);
  }
}

Frame unknown_frame() {
  Frame frame;
  add_unknown_field(frame);
  return frame;
}

void FramesDouble::write_unknown() {
  Frame frame = unknown_frame();
  write(frame);
  frame.set_id(++last_id_);
  unknown_.insert(last_id_);
  write(std::move(frame));
}

std::string FramesDouble::output() {
  std::array<char, 4096> bytes;
  ssize_t got = 0;
  while ((got = ::read(process_->output(), bytes.data(), bytes.size())) > 0)
    output_.append(bytes.data(), static_cast<size_t>(got));
  return output_;
}

std::optional<Frame> FramesDouble::read(int64_t until_ns) {
  for (;;) {
    Frame frame;
    const Result<bool> whole = come_.next(frame);
    if (!whole) {
      trial_.report.broke("MP-29", whole.error().message);
      return std::nullopt;
    }
    if (*whole) {
      const auto unknown = frame.has_answer() ? unknown_.find(frame.id()) : unknown_.end();
      if (unknown == unknown_.end()) return frame;
      if (frame.answer().code() != MUSTER_E_UNIMPLEMENTED)
        trial_.report.broke(
            "MP-29", fmt::format("a request of a kind that it cannot know was answered {}, not "
                                 "UNIMPLEMENTED",
                                 code_name(static_cast<Code>(frame.answer().code()))));
      unknown_.erase(unknown);
      continue;
    }
    const int64_t rest = until_ns - monotonic_ns();
    if (rest <= 0) return std::nullopt;
    output();  // a program whose pipe is full would wait
    pollfd waiting = {process_->frames(), POLLIN, 0};
    ::poll(&waiting, 1, static_cast<int>(std::min(rest, 100 * kMillisecond) / kMillisecond) + 1);
    constexpr size_t kRead = 64 << 10;
    const ssize_t got = ::recv(process_->frames(), come_.space(kRead), kRead, MSG_DONTWAIT);
    if (got > 0) come_.filled(static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
  }
}

// ---- A life ------------------------------------------------------------------------------------

bool FramesDouble::greet() {
  const auto frame = read(monotonic_ns() + kStart_ns);
  if (frame && frame->has_hello()) return true;
  break_off("MP-29", "it did not say Hello");
  return false;
}

void FramesDouble::write_create() {
  Frame frame;
  frame.set_id(++last_id_);
  frame.mutable_create()->set_options(trial_.target.config.options_json);
  frame.mutable_create()->set_path(trial_.target.config.path);
  write(std::move(frame));
}

bool FramesDouble::create() {
  write_create();
  const uint64_t id = last_id_;
  const int64_t until = monotonic_ns() + kStart_ns;
  while (const auto frame = read(until)) {
    if (!frame->has_answer()) continue;
    if (frame->id() != id) break;
    if (frame->answer().code() == MUSTER_OK) return true;
    trial_.report.skip(fmt::format("with these options create says {}; give --options",
                                   frame->answer().message()));
    return false;
  }
  break_off("MP-29", "Create was not answered");
  return false;
}

void FramesDouble::break_off(const char* duty, const std::string& what) {
  const auto ended = process_->ended(100 * kMillisecond);
  if (ended) {
    trial_.report.broke("MP-26", fmt::format("{}: {}", what, words_of(*ended)));
  } else {
    trial_.report.broke(duty, what);
  }
}

Called FramesDouble::resolve(const Moment& moment) {
  RecordedResolvers recorded;
  recorded[trial_.target.config.path] = trial_.target.recorded.value_or(RecordedResolver());
  recording_ = std::make_unique<Recording>(std::move(recorded));
  streams_.clear();
  Called called;
  called.first_push = -1;
  int64_t since = monotonic_ns();
  until_ns_ = since + kCall_ns;
  bool cancelled = false;
  const auto reach = [&](int number) {
    if (number != moment.number) return;
    moment.act();
    cancelled = moment.cancelled;
    since = monotonic_ns();
    until_ns_ = since + moment.limit_ns;
  };

  Frame run;
  run.set_id(++last_id_);
  const uint64_t id = last_id_;
  run.mutable_run()->set_function(frames::v1::RESOLVE);
  run.mutable_run()->set_deadline_ns(until_ns_);
  run.mutable_run()->set_remaining_ns(kCall_ns);
  write(std::move(run));
  reach(0);
  while (const auto frame = read(until_ns_)) {
    if (frame->has_answer()) {
      if (frame->id() != id) {
        trial_.report.broke("MP-29",
                            fmt::format("an Answer to {}, which nobody asked, came", frame->id()));
        break;
      }
      called.answer = frame->answer();
      break;
    }
    if (pushes(*frame)) {
      called.pushed += frame->SerializeAsString();
      if (called.first_push < 0) called.first_push = called.requests;
    }
    if (frame->has_end_http()) streams_.erase(frame->end_http().number());
    if (frame->id() == 0) continue;
    reach(++called.requests);
    answer(*frame, cancelled);
  }
  called.took_ns = monotonic_ns() - since;
  return called;
}

}  // namespace muster::check

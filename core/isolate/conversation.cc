#include "core/isolate/conversation.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <muster/muster.h>

#include "core/cancel.h"
#include "core/isolate/serving.h"
#include "core/service/call.h"
#include "core/service/text.h"

namespace muster {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kRefused_ns = 1'000 * kMillisecond;  // to end a call that has failed
constexpr int64_t kLook_ns =
    250 * kMillisecond;  // a cancel that nobody tells of is seen after this
// Somebody who was held up until after the deadline gets this long at least.
constexpr int64_t kLeast_ns = 100 * kMillisecond;
constexpr size_t kRead = 256 << 10;
constexpr int kFramesBetweenLooks = 512;
constexpr int64_t kLines = 1'000;  // of the log, a second
constexpr size_t kLongestLine = 4096;
constexpr size_t kLastLines = 1024;

}  // namespace

Conversation::Conversation(Speaker speaker) : speaker_(std::move(speaker)) {}

Result<std::unique_ptr<Conversation>> Conversation::start(const ProcessRequest& request,
                                                          Speaker speaker) {
  auto process = BackendProcess::start(request);
  if (!process) return std::move(process).error();
  return begin(std::move(*process), std::move(speaker));
}

Result<std::unique_ptr<Conversation>> Conversation::begin(std::unique_ptr<BackendProcess> process,
                                                          Speaker speaker) {
  std::unique_ptr<Conversation> conversation(new Conversation(std::move(speaker)));
  conversation->process_ = std::move(process);
  conversation->wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (conversation->wake_.get() < 0)
    return Error{Code::kUnavailable, "no descriptor is left: " + system_text(errno), {}};
  if (Status status = conversation->say_hello(); !status) return std::move(status).error();
  return conversation;
}

Conversation::~Conversation() {
  if (process_ != nullptr && !failed()) {
    doing_ = "its end";
    process_->end_frames();
    const int64_t until = monotonic_ns() + isolate::kGrace_ns;
    // What it still has to say is its log.
    Frame frame;
    for (bool open = true; open && monotonic_ns() < until;) {
      for (Result<bool> whole = come_.next(frame); (open = whole.ok()) && *whole;
           whole = come_.next(frame)) {
        if (frame.has_log()) log(frame.log().level(), frame.log().text());
      }
      open = open && wait(until, false);
    }
    const std::optional<isolate::Ended> ended = process_->ended(until - monotonic_ns());
    read_output();
    // Nobody asks it any more, so this is where it is told.
    if (ended && ended->idle_ns != 0)
      log(MUSTER_LOG_ERROR, fmt::format("misbehaved: {} (MP-29)", words_of(*ended)));
  }
  process_.reset();
}

void Conversation::wake() const {
  const uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

// ---- What is said ------------------------------------------------------------------------------

Status Conversation::say_hello() {
  doing_ = "its start";
  deadline_ns_ = monotonic_ns() + speaker_.start_ns;
  Frame frame;
  frame.mutable_hello()->set_major(kFramesMajor);
  frame.mutable_hello()->set_minor(kFramesMinor);
  frame.mutable_hello()->set_software("muster " MUSTER_VERSION);
  if (Status status = send(frame); !status) return status;
  for (;;) {
    const Result<bool> whole = come_.next(frame);
    if (!whole) return breach(whole.error().message);
    if (*whole) break;
    if (Status status = look_at_time(); !status) return status;
    if (!wait(deadline_ns_, false)) return fail_by_end();
  }
  trace(false, frame);
  if (!frame.has_hello())
    return breach(fmt::format("its first frame is {}, not Hello", frame_name(frame.kind_case())));
  hello_ = std::move(*frame.mutable_hello());
  if (hello_.major() != kFramesMajor) {
    return fail(Code::kInvalidArgument, "MP-29",
                fmt::format("it speaks frames {}.{}; this muster speaks {}.x", hello_.major(),
                            hello_.minor(), kFramesMajor));
  }
  return {};
}

Result<frames::v1::Answer> Conversation::create(const std::string& options) {
  doing_ = "create";
  deadline_ns_ = monotonic_ns() + speaker_.start_ns;
  Frame frame;
  frame.mutable_create()->set_options(options);
  frame.mutable_create()->set_path(speaker_.path);
  Result<Answer> answer = ask(frame);
  if (answer && misbehaved_)
    return fail(Code::kInternal, misbehaved_->first.c_str(), misbehaved_->second);
  process_->call_is_over();
  return answer;
}

Result<frames::v1::Answer> Conversation::run(const muster_call_v1* call, frames::v1::Run run) {
  if (failure_) return *failure_;
  constexpr const char* kNames[] = {"a call", "resolve", "watch", "permissions", "plan"};
  doing_ = kNames[run.function() <= frames::v1::PLAN ? run.function() : 0];
  call_ = call;
  end_by_ns_ = 0;
  cancel_said_ = refused_ = false;
  misbehaved_.reset();
  run.set_live((call->flags & MUSTER_CALL_LIVE) != 0);
  run.set_interval_ns(call->interval_ns);
  run.set_deadline_ns(call->deadline_ns);
  run.set_remaining_ns(std::max<int64_t>(call->deadline_ns - monotonic_ns(), 0));
  Frame frame;
  *frame.mutable_run() = std::move(run);
  process_->call_begins();
  Result<Answer> answer = ask(frame);
  process_->call_is_over();
  read_output();
  call_ = nullptr;
  targets_.clear();
  if (answer && misbehaved_) {
    return Error{Code::kInternal,
                 fmt::format("plugin '{}' ({}) misbehaved: {} ({})", speaker_.name, speaker_.path,
                             misbehaved_->second, misbehaved_->first),
                 {{"duty", misbehaved_->first}}};
  }
  return answer;
}

Result<frames::v1::Answer> Conversation::ask(Frame& request) {
  const uint64_t id = ++last_id_;
  request.set_id(id);
  if (Status status = send(request); !status) return std::move(status).error();
  std::string content;
  Frame frame;
  int looked = 0;
  for (;;) {
    if (looked == 0) {
      if (Status status = look_at_time(); !status) return std::move(status).error();
      looked = kFramesBetweenLooks;
    }
    std::string_view message;
    const Result<bool> whole = come_.next(message);
    if (!whole) return breach(whole.error().message);
    if (!*whole) {
      const int64_t end = end_by_ns_ != 0    ? end_by_ns_
                          : call_ != nullptr ? call_->deadline_ns
                                             : deadline_ns_;
      if (!wait(std::min(end, monotonic_ns() + kLook_ns), false)) return fail_by_end();
      looked = 0;
      continue;
    }
    --looked;
    if (!tracing()) {
      if (std::optional<Status> served = Serving(*this).serve_quickly(message)) {
        if (!*served) return std::move(*served).error();
        continue;
      }
    }
    if (const Status read = FrameBuffer::read(message, frame); !read)
      return breach(read.error().message);
    trace(false, frame);
    if (!frame.has_answer()) {
      if (Status status = serve(frame); !status) return std::move(status).error();
      continue;
    }
    if (frame.id() != id)
      return breach(fmt::format("an Answer to {}, which nobody asked, came", frame.id()));
    Answer& answer = *frame.mutable_answer();
    content += answer.content();
    if (content.size() > kFrameMaximum) return breach("an Answer is too long");
    if (answer.more()) continue;
    answer.set_content(std::move(content));
    return std::move(answer);
  }
}

Status Conversation::serve(const Frame& frame) {
  Status status = Serving(*this).serve(frame);
  if (!status && !failure_) return breach(status.error().message);
  return status;
}

Status Conversation::send(const Frame& frame) {
  if (failure_) return *failure_;
  trace(true, frame);
  if (!append_frame(frame, to_write_))
    return fail(
        Code::kResourceExhausted, "",
        fmt::format("a {} for it is longer than a frame can be", frame_name(frame.kind_case())));
  // Where a deadline comes in the middle of a frame, look_at_time sends a Cancel: it goes behind that frame, and both are
  // written when it returns.
  while (written_ < to_write_.size()) {
    const ssize_t written = ::send(process_->frames(), to_write_.data() + written_,
                                   to_write_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written > 0) {
      written_ += static_cast<size_t>(written);
      continue;
    }
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno != EAGAIN) return fail_by_end();
    if (Status status = look_at_time(); !status) return status;
    wait(monotonic_ns() + kLook_ns, true);
  }
  to_write_.clear();
  written_ = 0;
  return {};
}

// ---- Waiting -----------------------------------------------------------------------------------

Status Conversation::look_at_time() {
  const int64_t now = monotonic_ns();
  if (call_ == nullptr) {
    if (now < deadline_ns_) return {};
    if (speaker_.start_ns < kStart_ns) {  // the call had less time: no duty is broken
      failure_ = Error{Code::kDeadlineExceeded,
                       fmt::format("plugin '{}' ({}) has not answered {} ms after {} began: the "
                                   "deadline came first; a start may take {} ms",
                                   speaker_.name, speaker_.path, speaker_.start_ns / kMillisecond,
                                   doing_, kStart_ns / kMillisecond),
                       {}};
      process_->end_now();
      return *failure_;
    }
    return fail(Code::kDeadlineExceeded, "MP-19",
                fmt::format("it has not answered {} ms after {} began",
                            speaker_.start_ns / kMillisecond, doing_));
  }
  const bool late = now >= call_->deadline_ns;
  if (!cancel_said_ && (late || call_->is_cancelled(call_) != 0)) {
    const int64_t end = late ? std::max(call_->deadline_ns + isolate::kGrace_ns, now + kLeast_ns)
                             : now + isolate::kGrace_ns;
    end_by_ns_ = end_by_ns_ == 0 ? end : std::min(end_by_ns_, end);
    cancel_said_ = true;
    Frame frame;
    frame.mutable_cancel();
    return send(frame);
  }
  if (end_by_ns_ == 0 || now < end_by_ns_) return {};
  if (!cancel_said_)
    return fail(Code::kInternal, "MP-10",
                "it went on although what it pushed was refused, and was ended");
  const std::string progress = Call::of(call_).progress();
  failure_ = Error{late ? Code::kDeadlineExceeded : Code::kCancelled,
                   fmt::format("plugin '{}' ({}) has not returned {} ms after {}{}; its process "
                               "was ended (MP-12)",
                               speaker_.name, speaker_.path, isolate::kGrace_ns / kMillisecond,
                               late ? "its deadline" : "being cancelled",
                               progress.empty() ? "" : ", while waiting for: " + progress),
                   {{"duty", "MP-12"}}};
  process_->end_now();
  return *failure_;
}

bool Conversation::wait(int64_t until_ns, bool to_write) {
  const int64_t rest = std::max<int64_t>(until_ns - monotonic_ns(), 0);
  std::array<pollfd, 3> waiting = {
      {{process_->frames(), static_cast<short>(to_write ? POLLOUT : POLLIN), 0},
       {process_->output(), POLLIN, 0},
       {wake_.get(), POLLIN, 0}}};
  if (output_over_) waiting[1].fd = -1;
  ::poll(waiting.data(), waiting.size(), static_cast<int>(rest / kMillisecond) + 1);
  if (waiting[1].revents != 0) read_output();
  uint64_t woken = 0;
  if (waiting[2].revents != 0) static_cast<void>(!::read(wake_.get(), &woken, sizeof woken));
  if (to_write || waiting[0].revents == 0) return true;
  const ssize_t got = ::recv(process_->frames(), come_.space(kRead), kRead, MSG_DONTWAIT);
  if (got > 0) come_.filled(static_cast<size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// ---- What it writes to its standard streams, and its log -----------------------------------------

void Conversation::read_output() {
  std::array<char, 16384> bytes;
  // A pipe's capacity at most: it may write without end.
  for (int pieces = 0; pieces < 4 && !output_over_; ++pieces) {
    const ssize_t got = ::read(process_->output(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      output_over_ = true;
      break;
    }
    const std::string_view piece(bytes.data(), static_cast<size_t>(got));
    last_lines_ += piece;
    if (last_lines_.size() > kLastLines) last_lines_.erase(0, last_lines_.size() - kLastLines);
    for (const char c : piece) {
      if (c != '\n' && line_.size() < kLongestLine) line_ += c;
      if (c != '\n') continue;
      show_line(line_);
      line_.clear();
    }
  }
  if (!output_over_ || line_.empty()) return;
  show_line(line_);
  line_.clear();
}

void Conversation::show_line(std::string_view line) {
  if (!line.empty()) log(MUSTER_LOG_INFO, fmt::format("its process wrote: {}", line));
}

void Conversation::log(int32_t level, std::string_view text) {
  const int64_t now = monotonic_ns();
  if (now - lines_since_ns_ >= 1'000 * kMillisecond) {
    if (dropped_ > 0) {
      const std::string words = fmt::format("{} lines of its log are left out", dropped_);
      speaker_.host->log(speaker_.host, MUSTER_LOG_WARNING, words.data(), words.size());
    }
    lines_since_ns_ = now;
    lines_ = dropped_ = 0;
  }
  if (++lines_ > kLines) {
    ++dropped_;
    return;
  }
  speaker_.host->log(speaker_.host, level, text.data(), text.size());
}

bool Conversation::tracing() const {
  return speaker_.trace != nullptr && speaker_.trace->enabled(kFrameLevel);
}

void Conversation::trace(bool ours, const Frame& frame) {
  if (!tracing()) return;
  speaker_.trace->write(kFrameLevel,
                        fmt::format("{} ({}) {} {}", speaker_.name, speaker_.path,
                                    ours ? "->" : "<-", frame_text(frame, *speaker_.secrets)),
                        *speaker_.secrets);
}

// ---- The end -------------------------------------------------------------------------------------

std::string Conversation::wrote_last() const {
  const std::string wrote = clean_text(trim(last_lines_), true);
  return wrote.empty() ? "" : fmt::format("; the last that it wrote: {}", wrote);
}

Error Conversation::fail(Code code, const char* duty, const std::string& what) {
  if (failure_) return *failure_;
  read_output();
  std::string words =
      fmt::format("plugin '{}' ({}) misbehaved: {}", speaker_.name, speaker_.path, what);
  if (*duty != '\0') words += fmt::format(" ({})", duty);
  words += wrote_last();
  failure_ = Error{code, std::move(words), {}};
  if (*duty != '\0') failure_->details.push_back({"duty", duty});
  process_->end_now();
  return *failure_;
}

void Conversation::refuse() {
  refused_ = true;
  if (end_by_ns_ == 0) end_by_ns_ = monotonic_ns() + kRefused_ns;
}

Error Conversation::breach(const std::string& what) {
  return fail(Code::kInternal, "MP-29", fmt::format("it does not keep to the frames: {}", what));
}

Error Conversation::fail_by_end() {
  if (failure_) return *failure_;
  const std::optional<isolate::Ended> ended = process_->ended(isolate::kTerm_ns);
  if (!ended)
    return fail(Code::kUnavailable, "MP-29",
                fmt::format("its process closed the frames during {}", doing_));
  std::string what = words_of(*ended);
  if (ended->idle_ns != 0) return fail(Code::kUnavailable, "MP-29", what);
  if (ended->kind == isolate::Ended::kWait) what += fmt::format(" during {}", doing_);
  const uint64_t peak = static_cast<uint64_t>(ended->peak_kib) << 10;
  if (speaker_.memory != 0 && peak >= speaker_.memory - speaker_.memory / 8)
    what += fmt::format("; it had used {} MiB of the {} MiB that it may have", peak >> 20,
                        speaker_.memory >> 20);
  else if (is_out_of_memory(*ended))
    return fail_by_memory(what);
  return fail(Code::kUnavailable, "MP-26", what);
}

Error Conversation::fail_by_memory(const std::string& what) {
  read_output();
  failure_ = no_memory(
      fmt::format("plugin '{}' ({}): {}{}", speaker_.name, speaker_.path, what, wrote_last()));
  process_->end_now();
  return *failure_;
}

}  // namespace muster

#include "core/isolate/child/link.h"

#include <fmt/format.h>
#include <muster/plugin.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/isolate/control.h"
#include "core/isolate/quick_frames.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace muster::isolate {
namespace {

constexpr size_t kGathered = 64 << 10;
constexpr size_t kRead = 256 << 10;

}  // namespace

void give_up(const std::string& why, int status) {
  std::fprintf(stderr, "muster-isolate: %s\n", why.c_str());
  ::_exit(status);
}

void Link::write(const Frame& frame, bool now) {
  const std::lock_guard lock(write_mutex_);
  if (!append_frame(frame, gathered_))
    give_up(fmt::format("a {} is longer than a frame can be", frame_name(frame.kind_case())));
  if (now || gathered_.size() >= kGathered) flush();
}

void Link::gather(const muster_task_v1& task) {
  const std::lock_guard lock(write_mutex_);
  append_task(task, gathered_);
  flush_much();
}

void Link::gather_attribute(std::string_view key, std::string_view value) {
  const std::lock_guard lock(write_mutex_);
  append_attribute(key, value, gathered_);
  flush_much();
}

// Under the lock.
void Link::flush_much() {
  if (gathered_.size() >= kGathered) flush();
}

// Under the lock.
void Link::flush() {
  const char* at = gathered_.data();
  size_t rest = gathered_.size();
  while (rest > 0) {
    const ssize_t written = ::send(descriptor_, at, rest, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EBADF) ::_exit(kClosed);
    if (written <= 0) give_up("the frames cannot be written: " + system_text(errno));
    at += written;
    rest -= static_cast<size_t>(written);
  }
  gathered_.clear();
}

void Link::read(const std::function<void()>& cancel) {
  FrameBuffer buffer;
  for (;;) {
    const ssize_t got = ::read(descriptor_, buffer.space(kRead), kRead);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EBADF) ::_exit(kClosed);
    if (got < 0) give_up("the frames cannot be read: " + system_text(errno));
    if (got == 0) break;
    buffer.filled(static_cast<size_t>(got));
    for (;;) {
      Frame frame;
      const Result<bool> whole = buffer.next(frame);
      if (!whole) give_up(whole.error().message);
      if (!*whole) break;
      take(std::move(frame), cancel);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    cancelled_ = true;
  }
  changed_.notify_all();
  cancel();
}

void Link::take(Frame frame, const std::function<void()>& cancel) {
  const Frame::KindCase kind = frame.kind_case();
  {
    const std::lock_guard lock(mutex_);
    if (kind == Frame::kCancel) {
      if (!in_call_) return;  // it crossed the call's answer
      cancelled_ = true;
    } else if (kind == Frame::kRefused) {
      if (in_call_) refused_ = frame.refused().code();
      return;
    } else {
      if (kind == Frame::kRun) in_call_ = true;
      come_.push_back(std::move(frame));
    }
  }
  changed_.notify_all();
  if (kind == Frame::kCancel) cancel();
}

std::optional<Link::Frame> Link::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return over_ || !come_.empty(); });
  if (come_.empty()) return std::nullopt;
  Frame frame = std::move(come_.front());
  come_.pop_front();
  return frame;
}

std::optional<Link::Frame> Link::next_work() {
  for (;;) {
    std::optional<Frame> frame = next();
    if (!frame) return frame;
    const Frame::KindCase kind = frame->kind_case();
    if (kind == Frame::kCreate || kind == Frame::kRun || kind == Frame::kHello) return frame;
    if (kind != Frame::KIND_NOT_SET) give_up(fmt::format("a stray {} came", frame_name(kind)));
    if (frame->id() == 0) continue;  // of a newer core
    Frame answer;
    answer.set_id(frame->id());
    answer.mutable_answer()->set_code(MUSTER_E_UNIMPLEMENTED);
    send(answer);
  }
}

Link::Answer Link::ask(Frame& request, const TakePiece& take) {
  const uint64_t id = ++last_id_;
  request.set_id(id);
  send(request);
  std::string content;
  for (;;) {
    std::optional<Frame> frame = next();
    if (!frame) {
      Answer gone;
      gone.set_code(MUSTER_E_CANCELLED);
      gone.set_message("the launcher has ended this backend");
      return gone;
    }
    if (frame->kind_case() == Frame::kPiece && take != nullptr) {
      Frame taken;
      taken.set_id(frame->id());
      taken.mutable_answer()->set_code(take(frame->piece()));
      send(taken);
      continue;
    }
    if (frame->kind_case() != Frame::kAnswer || frame->id() != id)
      give_up(fmt::format("a stray {} came", frame_name(frame->kind_case())));
    Answer& answer = *frame->mutable_answer();
    if (content.empty()) {
      content = std::move(*answer.mutable_content());
    } else {
      content += answer.content();
    }
    if (answer.more()) continue;
    answer.set_content(std::move(content));
    return std::move(answer);
  }
}

void Link::refuse(int32_t code) { refused_.store(code, std::memory_order_release); }

void Link::end_call() {
  const std::lock_guard lock(mutex_);
  in_call_ = false;
  if (!over_) cancelled_ = false;
  refused_ = 0;
}

}  // namespace muster::isolate

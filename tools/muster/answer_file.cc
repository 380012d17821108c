#include "tools/muster/answer_file.h"

#include <fmt/format.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <utility>

#include "core/file/replace.h"
#include "core/spec/quote.h"
#include "core/spec/rfc3339.h"
#include "tools/muster/options.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

constexpr std::chrono::seconds kFirstPause(1);
constexpr std::chrono::seconds kLongestPause(30);
constexpr size_t kMostOfAReason = 4096;

std::string json_of(const AnswerState& state, const std::string& digest) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> out(buffer);
  const auto text = [&](const char* key, const std::string& value) {
    out.Key(key);
    out.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  out.StartObject();
  text("state", state.state);
  text("since", utc_text(state.since_ms));
  out.Key("complete");
  out.Bool(state.complete);
  text("digest", digest);
  text("time", utc_text(now_ms()));
  text("reason", muster::printable(state.reason, kMostOfAReason));
  out.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

// Whether a reader may take FILE for the newest answer, and whole.
bool trusts(const AnswerWish& wish) {
  return wish.file == AnswerWish::File::kWrite && wish.state.state == "fresh" &&
         wish.state.complete;
}

}  // namespace

std::string utc_text(int64_t ms) { return muster::rfc3339(ms * 1'000'000); }

int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

AnswerFile::AnswerFile(std::string path, bool with_state)
    : path_(std::move(path)), with_state_(with_state) {}

int AnswerFile::check() const {
  auto failure = muster::refusal_of(path_);
  if (!failure && with_state_) failure = muster::refusal_of(path_ + ".state");
  if (!failure) return 0;
  say(fmt::format("--write: {}", failure->text));
  say_hint(failure->hint);
  return kExitUsage;
}

void AnswerFile::begin() {
  begun_ = true;
  wish({AnswerWish::File::kKeep,
        "",
        "",
        {"stale", now_ms(), false, "this watch has no answer yet"}});
}

void AnswerFile::wish(AnswerWish wish) {
  wish_ = std::move(wish);
  pause_ = {};
  attempt();
}

int64_t AnswerFile::wait_ms() const {
  if (done_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ - Clock::now());
  return std::max<int64_t>(left.count(), 0);
}

void AnswerFile::retry() {
  if (!done_ && Clock::now() >= next_) attempt();
}

void AnswerFile::end(const std::string& reason) {
  if (!begun_ || !with_state_) return;
  if (wish_.state.state == "fresh") {
    wish_.state.state = "stale";
    wish_.state.since_ms = now_ms();
  }
  wish_.state.reason = reason;
  write_state(wish_.state);
}

// What makes a reader trust FILE less is said before FILE changes, what makes him trust it more after: at no moment, and after no crash
// between the two, does FILE.state vouch for an address that FILE has from an older answer.
void AnswerFile::attempt() {
  bool good = true;
  if (trusts(wish_)) {
    good = write_file();
    AnswerState state = wish_.state;
    if (!good) {
      state.state = "stale";
      state.since_ms = now_ms();
      state.reason = file_failure_;
    }
    good = write_state(state) && good;
  } else {
    good = write_state(wish_.state);
    const std::string before = digest_;
    good = write_file() && good;
    if (digest_ != before) good = write_state(wish_.state) && good;
  }
  if (good && !failure_.empty()) {
    say(fmt::format("'{}' is written again", path_));
    failure_.clear();
  }
  done_ = good;
  pause_ = pause_.count() == 0 ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  next_ = Clock::now() + pause_;
}

bool AnswerFile::write_file() {
  std::optional<muster::FileFailure> failure;
  switch (wish_.file) {
    case AnswerWish::File::kKeep: return true;
    case AnswerWish::File::kWrite:
      failure = muster::replace_file(path_, wish_.content, muster::FileAccess::kUmask);
      break;
    case AnswerWish::File::kRemove: failure = muster::remove_file(path_); break;
  }
  if (!failure) {
    digest_ = wish_.file == AnswerWish::File::kWrite ? wish_.digest : "";
    return true;
  }
  file_failure_ = failure->text;
  return fail(failure->text, failure->hint);
}

// A FILE.state that cannot be written, on a full disk above all, may vouch for an answer that is no longer the newest: it is removed.
bool AnswerFile::write_state(const AnswerState& state) {
  if (!with_state_) return true;
  const std::string path = path_ + ".state";
  const auto failure =
      muster::replace_file(path, json_of(state, digest_), muster::FileAccess::kUmask);
  if (!failure) return true;
  const auto stays = muster::remove_file(path);
  return fail(failure->text + (stays ? "; nor can what it said before be removed" : ""),
              failure->hint);
}

bool AnswerFile::fail(const std::string& text, const std::string& hint) {
  if (text != failure_) {
    failure_ = text;
    say(fmt::format("--write: {}", text));
    say_hint(hint + "; it is tried again");
  }
  return false;
}

}  // namespace muster_command

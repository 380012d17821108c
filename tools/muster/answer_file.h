// The file of `muster watch --write`: kept as the newest answer wants it, tried again where that fails, with FILE.state beside it where its
// format cannot say what the answer is worth.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace muster_command {

// What FILE.state says: what the content of FILE is worth.
struct AnswerState {
  std::string state;      // as muster_snapshot_state
  int64_t since_ms = 0;   // since when it is so; milliseconds since 1970
  bool complete = false;  // of the newest answer
  std::string reason;     // why it is not fresh, or not complete; "" where there is nothing to tell
};

// What is to become of FILE.
struct AnswerWish {
  enum class File { kWrite, kKeep, kRemove };
  File file = File::kKeep;
  std::string content;  // of kWrite
  std::string digest;   // of its members
  AnswerState state;
};

class AnswerFile {
 public:
  // `with_state`: keeps FILE.state.
  AnswerFile(std::string path, bool with_state);

  // 0; or, with a message, the exit status of a command that must not begin: what is there is no regular file, or the directory is missing.
  int check() const;
  // FILE, which a watch before this one may have left, has no answer behind it yet.
  void begin();
  // Does what is wished, at once. What fails is said, and tried again by retry() until it is done or something else is wished.
  void wish(AnswerWish wish);
  // Until retry() should be called; -1: everything is done.
  int64_t wait_ms() const;
  void retry();
  // Nobody keeps FILE from now on: FILE.state says so.
  void end(const std::string& reason);

 private:
  using Clock = std::chrono::steady_clock;
  void attempt();
  bool write_file();
  bool write_state(const AnswerState& state);
  // False, having said it once.
  bool fail(const std::string& text, const std::string& hint);

  const std::string path_;
  const bool with_state_;
  AnswerWish wish_;
  std::string digest_;  // of the answer in FILE; "" when it has none of this watch's
  bool done_ = true;
  bool begun_ = false;
  std::string failure_;  // said last
  std::string file_failure_;
  Clock::time_point next_;
  std::chrono::seconds pause_{};
};

// RFC 3339 in UTC, of milliseconds since 1970: "2026-01-31T12:00:00.123Z".
std::string utc_text(int64_t ms);
int64_t now_ms();

}  // namespace muster_command

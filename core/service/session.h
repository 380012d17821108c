// Session: what all resolvers of one resolve share: the world they ask, secrets, log, recording.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/spec/snapshot.h"

namespace muster {

// Texts that must show up nowhere. [thread-safe]
class Secrets {
 public:
  // Shorter than 4 bytes is ignored. Blanks around the text are not part of it. Hidden also as the inside of a JSON string, and
  // when longer than 8 bytes in base64 (both alphabets, padded or not) and percent-encoded: a secret travels in those
  // forms through headers, queries and bodies.
  void add(std::string_view text);
  // Each becomes REDACTED; where two overlap, one REDACTED covers both. So does the beginning of one, of 4 bytes and more, that a quote was
  // cut after ("…" or "..." follows it). Takes time in proportion to text times secrets.
  std::string redact(std::string_view text) const;
  // Whether there is nothing to redact.
  bool empty() const { return shortest_.load(std::memory_order_acquire) == kNothing; }
  // Whether there may be one in the text: true also for a few that have none. Costs little, for what is told of each task.
  bool may_be_in(std::string_view text) const;
  // How often something was added: while it stays the same, what had none of them in it has none.
  uint64_t additions() const { return additions_.load(std::memory_order_acquire); }

 private:
  using Texts = std::vector<std::string>;  // longest first, each once
  static constexpr size_t kNothing = std::numeric_limits<size_t>::max();
  std::shared_ptr<const Texts> texts() const;

  mutable std::mutex mutex_;
  std::shared_ptr<const Texts> texts_ = std::make_shared<const Texts>();
  std::array<std::atomic<uint64_t>, 1024> beginnings_ =
      {};  // a bit for each first two bytes of one
  std::atomic<size_t> shortest_ = kNothing;
  std::atomic<uint64_t> additions_ = 0;
};

// Where log lines go. Redacts before it writes. [thread-safe]
class Log {
 public:
  using Write = std::function<void(int32_t level, std::string_view text)>;
  Log() = default;
  Log(int32_t level, Write write) : level_(level), write_(std::move(write)) {}
  void write(int32_t level, std::string_view text, const Secrets& secrets) const;
  // From here on nothing is written, so what `write` stands on may go; waits for a line that is being written. For a
  // plugin that is stuck and logs when the launcher is done with it.
  void disarm() const;
  bool enabled(int32_t level) const { return write_ != nullptr && level >= level_; }

 private:
  int32_t level_ = 0;
  Write write_;
  mutable std::mutex mutex_;
  mutable bool armed_ = true;  // under the mutex
};

// A file of everything a resolve asked of the world and was answered: written by a recording session, read by a replaying one.
class Recording;

// One resolve. Shared by the threads of its resolvers, also by a stuck one that is left behind.
class Session {
 public:
  enum class Mode { kLive, kRecord, kReplay };

  static std::shared_ptr<Session> live(std::shared_ptr<const Log> log,
                                       std::shared_ptr<Secrets> secrets);
  static std::shared_ptr<Session> record(std::shared_ptr<const Log> log,
                                         std::shared_ptr<Secrets> secrets);
  // kInvalidArgument with file:line:column when the recording cannot be read, kDeadlineExceeded when it was not read by then
  // (nanoseconds of CLOCK_MONOTONIC; INT64_MAX: no deadline).
  static Result<std::shared_ptr<Session>> replay(const std::string& path,
                                                 std::shared_ptr<const Log> log,
                                                 std::shared_ptr<Secrets> secrets,
                                                 int64_t deadline_ns = INT64_MAX);
  // Replays the same recording from its start, without reading the file again. Only of a replaying session.
  std::shared_ptr<Session> replay_again() const;
  // Replays `recording` but for its exchanges, which go through the HTTP library of the call: for who plays the servers himself. A
  // file or program that was not recorded is then one that is not there.
  static std::shared_ptr<Session> replay_but_exchanges(std::unique_ptr<Recording> recording,
                                                       std::shared_ptr<const Log> log,
                                                       std::shared_ptr<Secrets> secrets);
  ~Session();

  Mode mode() const { return mode_; }
  // Whether exchanges come out of the recording.
  bool replays_exchanges() const { return mode_ == Mode::kReplay && !plays_servers_; }
  const Log& log() const { return *log_; }
  Secrets& secrets() const { return *secrets_; }
  const std::shared_ptr<const Log>& shared_log() const { return log_; }
  const std::shared_ptr<Secrets>& shared_secrets() const { return secrets_; }

  // Time of day: recorded, replayed.
  int64_t realtime_ns(const std::string& path);
  // Environment variable, for a resolver's path or "" for the core itself.
  std::optional<std::string> variable(const std::string& path, const std::string& name);
  // The host's name, for a resolver's path.
  std::optional<std::string> hostname(const std::string& path);
  // Whole file; see muster_environment_v1::read_file.
  Result<std::string> read_file(const std::string& path, const std::string& file,
                                uint64_t maximum_size, bool secret);

  // Milliseconds that a source took: given back as recorded in a replay, so that the answer is the same to the byte.
  int64_t milliseconds(const std::string& path, int64_t measured);

  // Writes the recording, redacted, atomically (temporary file, rename, mode 0600). Only in record mode.
  Status write(const std::string& file) const;

  Recording* recording() const {
    return recording_.get();
  }  // for core/service alone; null when live

 private:
  Session(Mode mode, std::shared_ptr<const Log> log, std::shared_ptr<Secrets> secrets);
  Mode mode_ = Mode::kLive;
  bool plays_servers_ = false;
  std::shared_ptr<const Log> log_;
  std::shared_ptr<Secrets> secrets_;
  std::unique_ptr<Recording> recording_;  // null when live
};

}  // namespace muster

// Recording: what a resolve asked of the world and was answered, by resolver path. Its file format: sdk/recording.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/service/session.h"

namespace muster {

// A file that was read, or why it was not.
struct RecordedFile {
  std::string file;  // as it was asked for
  std::string content;
  std::optional<Error> error;
};

// One exchange with a server: one attempt, one hop of a redirect.
struct RecordedExchange {
  using Headers = std::vector<std::pair<std::string, std::string>>;

  // The request: what a replay finds it by, then what is there for the reader alone.
  std::string method;
  std::string url;
  std::string body;
  int attempt = 1;
  Headers headers;

  // The answer, or the error.
  int64_t milliseconds = 0;
  int64_t status = 0;
  Headers response_headers;
  std::string response_body;
  uint64_t bytes = 0;  // of the body as it was received; redaction may have changed its size
  std::optional<Error> error;
};

// A program that was run.
struct RecordedRun {
  std::vector<std::string> arguments;  // what a replay finds it by
  int64_t milliseconds = 0;
  int64_t exit_status = 0;
  std::string output;
  std::string error_output;
  std::optional<Error> error;  // instead of the three
};

// Everything of one resolver.
struct RecordedResolver {
  std::optional<int64_t> milliseconds;
  std::vector<int64_t> times;                                   // nanoseconds since 1970 UTC
  std::map<std::string, std::optional<std::string>> variables;  // nullopt: unset
  std::optional<std::string> hostname;                          // where that was asked
  std::vector<RecordedFile> files;
  std::vector<RecordedExchange> exchanges;
  std::optional<bool> terminal;  // whether there was one, where that was asked
  std::vector<RecordedRun> runs;
};

// The content of a recording file: "" is the core itself.
using RecordedResolvers = std::map<std::string, RecordedResolver>;

// As text, every part of it redacted.
std::string write_recording(const RecordedResolvers& resolvers, const Secrets& secrets);
// From text. kInvalidArgument: every message begins with `name`:line:column.
// kDeadlineExceeded: not by then (nanoseconds of CLOCK_MONOTONIC; INT64_MAX: no deadline).
Result<RecordedResolvers> read_recording(std::string_view text, const std::string& name,
                                         int64_t deadline_ns = INT64_MAX);

// The recording of a running session. [thread-safe]
class Recording {
 public:
  Recording() = default;
  explicit Recording(RecordedResolvers resolvers)
      : Recording(std::make_shared<RecordedResolvers>(std::move(resolvers))) {}
  // The same content with nothing taken yet. Only of one that nobody adds to.
  std::unique_ptr<Recording> from_the_start() const;

  // --- a recording session adds
  void add_time(const std::string& path, int64_t time_ns);
  void add_variable(const std::string& path, const std::string& name,
                    const std::optional<std::string>& value);
  void set_hostname(const std::string& path, const std::string& name);
  void add_file(const std::string& path, RecordedFile file);
  void add_exchange(const std::string& path, RecordedExchange exchange);
  void add_run(const std::string& path, RecordedRun run);
  void set_terminal(const std::string& path, bool terminal);
  void set_milliseconds(const std::string& path, int64_t milliseconds);
  std::string text(const Secrets& secrets) const;

  // --- a replaying session takes, in the order of recording
  int64_t time(const std::string& path);
  std::optional<std::string> variable(const std::string& path, const std::string& name) const;
  std::optional<std::string> hostname(const std::string& path) const;
  Result<std::string> file(const std::string& path, const std::string& file);
  std::optional<int64_t> milliseconds(const std::string& path) const;
  // The next recorded exchange with this method, URL and body; kInvalidArgument (no chain goes on after it) names the request and the
  // nearest recorded ones.
  Result<RecordedExchange> exchange(const std::string& path, const std::string& method,
                                    const std::string& url, const std::string& body);
  // The next recorded run with these arguments; kInvalidArgument names the program and those that were run.
  Result<RecordedRun> run(const std::string& path, const std::vector<std::string>& arguments);
  bool terminal(const std::string& path) const;
  // Whether the next exchange of this key was attempt number `attempt`: whether the recorded resolve tried again.
  bool tried_again(const std::string& path, const std::string& method, const std::string& url,
                   const std::string& body, int attempt) const;

 private:
  explicit Recording(std::shared_ptr<RecordedResolvers> resolvers);

  struct Cursor {
    size_t time = 0;
    std::map<std::string, size_t> files;  // per name: how many were taken
    std::vector<bool> taken;              // exchanges
    std::vector<bool> taken_runs;
  };

  mutable std::mutex mutex_;
  std::shared_ptr<RecordedResolvers> resolvers_ = std::make_shared<RecordedResolvers>();
  std::map<std::string, Cursor> cursors_;
};

}  // namespace muster

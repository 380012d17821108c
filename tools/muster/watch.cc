// muster watch: each answer as it changes, on stdout or in a file that is replaced at once.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "tools/muster/answer.h"
#include "tools/muster/answer_file.h"
#include "tools/muster/settings.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

constexpr int32_t kCancelled = 1;
constexpr int32_t kDeadlineExceeded = 4;
constexpr int kStatusNotFound = 11;
constexpr int kStatusNotPermitted = 13;
constexpr int kStatusDeadline = 15;

// What another time may answer. Anything else, a wrong config above all, stays as it is.
bool may_pass(int status) {
  return status == kStatusNotFound || status == kStatusNotPermitted || status == kExitUnavailable ||
         status == kStatusDeadline;
}

// The formats that say what an answer is worth. Those in which no incomplete answer is refused need nothing beside them.
bool says_state(const std::string& format) {
  return format == "json" || format == "yaml" || format == "table" || format == "explain" ||
         format == "env";
}
bool says_everything(const std::string& format) { return says_state(format) && format != "env"; }

// The formats of which nothing at all is an answer without members.
bool may_be_empty(const std::string& format) {
  return format == "addresses" || format == "hostfile" || format == "names";
}

std::vector<std::string> warnings_of(const Snapshot& snapshot) {
  std::vector<std::string> warnings;
  for (size_t n = 0; n < muster_snapshot_warning_count(snapshot.get()); ++n) {
    size_t size = 0;
    const char* text = muster_snapshot_warning(snapshot.get(), n, &size);
    warnings.emplace_back(text, size);
  }
  return warnings;
}

class Watching {
 public:
  explicit Watching(const Options& options)
      : options_(options), file_(options.write, !says_everything(options.format)) {}

  // 0, or with a message the exit status of what cannot begin.
  int check() const { return options_.write.empty() ? 0 : file_.check(); }
  void begin() {
    if (!options_.write.empty() && !options_.until_complete) file_.begin();
  }

  // The exit status when this answer ends the watch.
  std::optional<int> tell(const Snapshot& snapshot) {
    last_error_.clear();
    note_state(snapshot);
    const bool complete = muster_snapshot_complete(snapshot.get()) == 1;
    if (options_.until_complete && !(complete && state_.state == "fresh")) {
      if (!options_.quiet && !complete) say_incomplete(snapshot);
      return std::nullopt;
    }
    const std::optional<int> status = options_.write.empty() ? show(snapshot) : keep(snapshot);
    if (status) return status;
    ends_when_written_ = options_.until_complete;
    return ended();
  }

  // The same, of an error before the first answer.
  std::optional<int> tell(const Error& error) {
    const int status = muster_error_exit_status(error.get());
    if (!may_pass(status)) return report(error);
    // Asked again and again, it is said once.
    const char* message = muster_error_message(error.get(), nullptr);
    if (message != last_error_) {
      last_error_ = message;
      report(error);
      if (!options_.quiet) say_hint("asking again");
    }
    return std::nullopt;
  }

  // How long to wait for the next answer; -1: for ever.
  int64_t wait_ms() const { return file_.wait_ms(); }
  // The same as tell(), when that time is over.
  std::optional<int> retry() {
    file_.retry();
    return ended();
  }
  void end(const std::string& reason) { file_.end(reason); }

 private:
  std::optional<int> ended() const {
    return ends_when_written_ && file_.wait_ms() < 0 ? std::optional(0) : std::nullopt;
  }

  // Why an answer is not fresh: what it warns of and the last fresh one did not.
  std::string reason_of(const Snapshot& snapshot, const char* otherwise) const {
    std::string reason;
    for (const std::string& warning : warnings_of(snapshot)) {
      if (std::find(fresh_warnings_.begin(), fresh_warnings_.end(), warning) !=
          fresh_warnings_.end())
        continue;
      reason += (reason.empty() ? "" : "; ") + warning;
    }
    return reason.empty() ? otherwise : reason;
  }

  // Says each change of what the answers are worth.
  void note_state(const Snapshot& snapshot) {
    AnswerState now;
    now.state = muster_snapshot_state(snapshot.get());
    now.complete = muster_snapshot_complete(snapshot.get()) == 1;
    now.since_ms = now_ms();
    if (now.state == "stale") {
      now.since_ms = muster_snapshot_stale_since_ms(snapshot.get());
      now.reason = reason_of(snapshot, "a source fails");
    } else if (now.state == "gone") {
      now.reason = reason_of(snapshot, "the source says that there is nobody any longer");
    } else {
      fresh_warnings_ = warnings_of(snapshot);
      if (!now.complete) now.reason = incomplete_text(snapshot);
    }
    if (now.state == state_.state) {
      if (now.state != "stale") now.since_ms = state_.since_ms;
    } else if (!options_.quiet) {
      if (now.state == "stale") {
        say(fmt::format("stale since {}: {}", utc_text(now.since_ms), now.reason));
      } else if (now.state == "gone") {
        say(fmt::format("gone: {}", now.reason));
      } else if (!state_.state.empty()) {
        say(fmt::format("fresh again after {} s",
                        std::max<int64_t>(now.since_ms - state_.since_ms, 0) / 1000));
      }
    }
    state_ = std::move(now);
  }

  // What is not fresh has been said; the other answers are rendered with a word about what they lack. Nothing with `status` set: it ends.
  std::optional<std::string> text_of(const Snapshot& snapshot, std::optional<int>& ends) {
    if (state_.state != "fresh") {
      Error refused;
      return render_silently(snapshot, options_, refused);
    }
    int status = 0;
    auto data = render(snapshot, options_, status);
    if (!data && state_.complete) ends = status;
    return data;
  }

  // On stdout: a format that cannot say what an answer is worth shows fresh ones alone, and with --allow-incomplete that there is nobody.
  std::optional<int> show(const Snapshot& snapshot) {
    const bool sayable = says_state(options_.format);
    if (state_.state == "stale" && !sayable) return std::nullopt;
    std::optional<int> ends;
    const auto data = text_of(snapshot, ends);
    if (!data) return ends;
    // That the source answers again is no change of what such a format says.
    if (!sayable && shown_ == data) return std::nullopt;
    shown_ = data;
    const int status = print(separator() + *data);
    return status == 0 ? std::nullopt : std::optional(status);
  }

  std::optional<int> keep(const Snapshot& snapshot) {
    AnswerWish wish;
    wish.state = state_;
    wish.digest = muster_snapshot_digest(snapshot.get(), nullptr);
    std::optional<int> ends;
    if (state_.state == "stale" && options_.on_stale == "remove") {
      wish.file = AnswerWish::File::kRemove;
    } else if (state_.state != "stale" || says_state(options_.format)) {
      auto data = text_of(snapshot, ends);
      if (!data && ends) return ends;
      // A dead address does not stay in the file: who is gone is written as nobody, or the file goes.
      if (!data && state_.state == "gone") {
        const bool nobody = muster_snapshot_task_count(snapshot.get()) == 0;
        if (nobody && may_be_empty(options_.format)) data = "";
        if (!data) wish.file = AnswerWish::File::kRemove;
      }
      if (data) {
        wish.file = AnswerWish::File::kWrite;
        wish.content = std::move(*data);
      }
    }
    file_.wish(std::move(wish));
    return std::nullopt;
  }

  std::string separator() {
    if (first_) {
      first_ = false;
      return "";
    }
    return options_.format == "yaml"                 ? "---\n"
           : options_.format == "cluster_def_binary" ? ""
                                                     : "\n";
  }

  const Options& options_;
  AnswerFile file_;
  AnswerState state_;                        // of the last answer; its state is "" before the first
  std::vector<std::string> fresh_warnings_;  // of the last fresh answer
  std::optional<std::string> shown_;
  std::string last_error_;
  bool first_ = true;
  bool ends_when_written_ = false;
};

}  // namespace

int watch(const Options& options) {
  if (!check_format(options)) return kExitUsage;
  if (options.format == "cluster_def_binary" && options.write.empty()) {
    say("-o cluster_def_binary: nobody could tell where one answer ends and the next begins; "
        "--write FILE keeps the newest in a file");
    return kExitUsage;
  }
  Watching watching(options);
  if (const int status = watching.check(); status != 0) return status;
  const Settings settings = make_settings(options);
  if (settings == nullptr) return kExitUsage;
  Cluster cluster;
  Error error;
  if (muster_open(settings.get(), Out(cluster), Out(error)) != 0) return report(error);
  WatchHandle handle;
  if (muster_watch_start(cluster.get(), Out(handle), Out(error)) != 0) return report(error);
  std::optional<int> status;
  {
    const CancelOnSignal signals(cluster.get());
    watching.begin();
    while (!status) {
      Snapshot snapshot;
      const int64_t wait = watching.wait_ms();
      const int32_t code = muster_watch_next(handle.get(), wait, Out(snapshot), Out(error));
      if (code == kCancelled) break;
      if (code == kDeadlineExceeded && wait >= 0) {
        status = watching.retry();
      } else {
        status = code == 0 ? watching.tell(snapshot) : watching.tell(error);
      }
    }
    if (status != 0) watching.end("this watch has ended: nobody keeps the file up to date");
  }
  CancelOnSignal::die_if_signalled();
  return status.value_or(1);
}

}  // namespace muster_command

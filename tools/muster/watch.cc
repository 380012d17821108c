// muster watch: each answer as it changes, on stdout or in a file that is replaced at once.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tools/muster/answer.h"
#include "tools/muster/settings.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

constexpr int32_t kCancelled = 1;
constexpr int kStatusNotFound = 11;
constexpr int kStatusNotPermitted = 13;
constexpr int kStatusUnavailable = 14;
constexpr int kStatusDeadline = 15;

// What another time may answer. Anything else, a wrong config above all, stays as it is.
bool may_pass(int status) {
  return status == kStatusNotFound || status == kStatusNotPermitted ||
         status == kStatusUnavailable || status == kStatusDeadline;
}

// Until then a machine that goes down may forget which files are in the folder. It may not be ours to read, or know no such thing:
// the file is there all the same.
void sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

// A file that readers see whole: written beside its place, then moved there. What is in it is on the disk before its name is, so that a
// machine that goes down leaves this answer or the one before, and no empty file. False with a message.
bool replace_file(const std::string& path, std::string_view text) {
  const auto refuse = [&](const char* what) {
    say(fmt::format("--write {}: cannot {} it: {}", path, what, std::strerror(errno)));
    return false;
  };
  std::string beside = path + ".XXXXXX";
  const int file = ::mkostemp(beside.data(), O_CLOEXEC);
  if (file < 0) return refuse("write");
  const mode_t mask = ::umask(0);
  ::umask(mask);
  bool good = ::fchmod(file, 0666 & ~mask) == 0;
  while (good && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    good = written > 0;
    if (good) text.remove_prefix(static_cast<size_t>(written));
  }
  good = good && (::fsync(file) == 0 || errno == EINVAL);  // EINVAL: there is no disk behind it
  // Closed before it is moved, and asked whether that went well: a full disk may only be told then.
  good = ::close(file) == 0 && good;
  if (good && ::rename(beside.c_str(), path.c_str()) == 0) {
    sync_folder_of(path);
    return true;
  }
  const bool refused = refuse("write");
  ::unlink(beside.c_str());
  return refused;
}

class Watching {
 public:
  explicit Watching(const Options& options) : options_(options) {}

  // The exit status when this answer ends the watch.
  std::optional<int> tell(const Snapshot& snapshot) {
    last_error_.clear();
    if (muster_snapshot_stale(snapshot.get()) == 1) {
      say_stale(snapshot);
      return std::nullopt;
    }
    const bool complete = muster_snapshot_complete(snapshot.get()) == 1;
    if (options_.until_complete && !complete) {
      if (!options_.quiet) say_incomplete(snapshot);
      return std::nullopt;
    }
    int status = 0;
    const auto data = render(snapshot, options_, status);
    if (!data) return complete ? std::optional(status) : std::nullopt;
    if (!(options_.write.empty() ? print(separator() + *data)
                                 : replace_file(options_.write, *data)))
      return 1;
    if (options_.until_complete) return 0;
    return std::nullopt;
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

 private:
  void say_stale(const Snapshot& snapshot) const {
    if (options_.quiet) return;
    const size_t warnings = muster_snapshot_warning_count(snapshot.get());
    say(warnings == 0 ? "the last answer stays, for a source fails"
                      : muster_snapshot_warning(snapshot.get(), warnings - 1, nullptr));
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
  std::string last_error_;
  bool first_ = true;
};

}  // namespace

int watch(const Options& options) {
  if (!check_format(options)) return kExitUsage;
  if (options.format == "cluster_def_binary" && options.write.empty()) {
    say("-o cluster_def_binary: nobody could tell where one answer ends and the next begins; "
        "--write FILE keeps the newest in a file");
    return kExitUsage;
  }
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
    Watching watching(options);
    while (!status) {
      Snapshot snapshot;
      const int32_t code = muster_watch_next(handle.get(), -1, Out(snapshot), Out(error));
      if (code == kCancelled) break;
      status = code == 0 ? watching.tell(snapshot) : watching.tell(error);
    }
  }
  CancelOnSignal::die_if_signalled();
  return status.value_or(1);
}

}  // namespace muster_command

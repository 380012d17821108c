// muster resolve, muster explain.
#include <fmt/format.h>

#include <string_view>

#include "tools/muster/answer.h"
#include "tools/muster/settings.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

// One resolve with a live line and Ctrl-C. Status 0 with a snapshot, or an error.
int32_t ask(const Settings& settings, const Options& options, Snapshot& snapshot, Error& error) {
  Cluster cluster;
  if (const int32_t code = muster_open(settings.get(), Out(cluster), Out(error)); code != 0)
    return code;
  int32_t code = 0;
  {
    const CancelOnSignal signals(cluster.get());
    const LiveLine live(cluster.get(), options);
    code = muster_resolve(cluster.get(), Out(snapshot), Out(error));
  }
  CancelOnSignal::die_if_signalled();
  return code;
}

// The answer is printed also where its recording is lost, which makes a status of its own of an answer that is complete.
int report_recording(const Snapshot& snapshot, int status) {
  size_t size = 0;
  const char* error = muster_snapshot_recording_error(snapshot.get(), &size);
  if (size == 0) return status;
  say(fmt::format("this resolve is not recorded: {}", std::string_view(error, size)));
  return status == 0 ? kExitNotWritten : status;
}

int show(const Snapshot& snapshot, const Options& options) {
  int status = 0;
  const auto data = render(snapshot, options, status);
  if (!data) return report_recording(snapshot, status);
  if (const int lost = print(*data); lost != 0) return lost;
  if (status != 0 && !options.quiet && options.format != "table" && options.format != "explain")
    say_incomplete(snapshot);
  return report_recording(snapshot, status);
}

}  // namespace

int resolve(const Options& options) {
  if (!check_format(options)) return kExitUsage;
  const Settings settings = make_settings(options);
  if (settings == nullptr) return kExitUsage;
  static Snapshot& snapshot = *new Snapshot;  // goes with the process, not task by task
  Error error;
  if (ask(settings, options, snapshot, error) != 0) return report(error);
  return show(snapshot, options);
}

int explain(const Options& options) {
  const Settings settings = make_settings(options);
  if (settings == nullptr) return kExitUsage;
  Snapshot snapshot;
  Error error;
  if (ask(settings, options, snapshot, error) == 0) {
    Options shown = options;
    shown.format = options.json ? "json" : "explain";
    return show(snapshot, shown);
  }
  // What each source did stands on stdout also when the whole failed: it is what was asked for.
  size_t size = 0;
  const char* sources = muster_error_sources(error.get(), options.json ? "json" : "explain", &size);
  const int lost =
      size == 0 ? 0 : print(std::string(sources, size) + (sources[size - 1] == '\n' ? "" : "\n"));
  const int status = report(error);
  return lost == 0 ? status : lost;
}

}  // namespace muster_command

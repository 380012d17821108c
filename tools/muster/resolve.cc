// muster resolve, muster explain.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

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

bool names_format(std::string_view name) {
  std::string_view lines = muster_format_names();
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    if (line.substr(0, line.find('\t')) == name) return true;
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  return false;
}

// A wrong format costs no resolve. The library words the error.
bool check_format(const Options& options) {
  if (!names_format(options.format)) {
    std::string names;
    std::string_view lines = muster_format_names();
    while (!lines.empty()) {
      const std::string_view line = lines.substr(0, lines.find('\n'));
      const size_t tab = line.find('\t');
      names += fmt::format("\n  {:<20} {}", line.substr(0, tab), line.substr(tab + 1));
      lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    }
    say(fmt::format("-o {}: there is no such format; the formats are{}", options.format, names));
    return false;
  }
  if (options.format == "cluster_def_binary" && isatty(STDOUT_FILENO) == 1) {
    say("-o cluster_def_binary is not for a terminal: redirect it to a file, or use -o "
        "cluster_def");
    return false;
  }
  return true;
}

// The formats that show warnings themselves.
bool shows_warnings(const std::string& format) {
  return format == "table" || format == "json" || format == "yaml" || format == "explain";
}

void say_incomplete(const Snapshot& snapshot) {
  std::string counts;
  for (size_t n = 0; n < muster_snapshot_job_count(snapshot.get()); ++n) {
    const char* job = muster_snapshot_job_name(snapshot.get(), n, nullptr);
    const int64_t expected = muster_snapshot_expected(snapshot.get(), job);
    if (expected >= 0)
      counts += fmt::format("{}{} {} of {}", counts.empty() ? "" : ", ", job,
                            muster_snapshot_found(snapshot.get(), job), expected);
  }
  say(fmt::format("the answer is incomplete{}{}", counts.empty() ? "" : ": ", counts));
}

int show(const Snapshot& snapshot, const Options& options) {
  const bool complete = muster_snapshot_complete(snapshot.get()) == 1;
  const std::string format_options =
      fmt::format("color={},incomplete={}", colored(STDOUT_FILENO, options) ? 1 : 0,
                  options.allow_incomplete ? 1 : 0);
  if (!options.quiet && !shows_warnings(options.format)) {
    for (size_t n = 0; n < muster_snapshot_warning_count(snapshot.get()); ++n) {
      say(fmt::format("warning: {}", muster_snapshot_warning(snapshot.get(), n, nullptr)));
    }
  }
  Text text;
  Error error;
  if (muster_render(snapshot.get(), options.format.c_str(), format_options.c_str(), Out(text),
                    Out(error)) != 0) {
    if (complete) return report(error);
    // Only a format that cannot say so refuses an incomplete answer.
    say_incomplete(snapshot);
    say_hint(fmt::format(
        "-o {} cannot say so, so nothing is printed; --allow-incomplete prints what is there",
        options.format));
    return kExitIncomplete;
  }
  std::string data = to_string(text);
  if (options.format != "cluster_def_binary" && !data.empty() && data.back() != '\n') data += '\n';
  if (!print(data)) return 1;
  if (complete) return 0;
  if (!options.quiet && options.format != "table" && options.format != "explain")
    say_incomplete(snapshot);
  return kExitIncomplete;
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
  if (size > 0 && !print(std::string(sources, size) + (sources[size - 1] == '\n' ? "" : "\n")))
    return 1;
  return report(error);
}

}  // namespace muster_command

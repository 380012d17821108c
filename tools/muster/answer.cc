#include "tools/muster/answer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "tools/muster/settings.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

bool names_format(std::string_view name) {
  std::string_view lines = muster_format_names();
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    if (line.substr(0, line.find('\t')) == name) return true;
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  return false;
}

// The formats that show warnings themselves.
bool shows_warnings(const std::string& format) {
  return format == "table" || format == "json" || format == "yaml" || format == "explain";
}

}  // namespace

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

std::string incomplete_text(const Snapshot& snapshot) {
  std::string counts;
  for (size_t n = 0; n < muster_snapshot_job_count(snapshot.get()); ++n) {
    const char* job = muster_snapshot_job_name(snapshot.get(), n, nullptr);
    const int64_t expected = muster_snapshot_expected(snapshot.get(), job);
    if (expected >= 0)
      counts += fmt::format("{}{} {} of {}", counts.empty() ? "" : ", ", job,
                            muster_snapshot_found(snapshot.get(), job), expected);
  }
  return fmt::format("the answer is incomplete{}{}", counts.empty() ? "" : ": ", counts);
}

void say_incomplete(const Snapshot& snapshot) { say(incomplete_text(snapshot)); }

std::optional<std::string> render_silently(const Snapshot& snapshot, const Options& options,
                                           Error& error) {
  const std::string format_options =
      fmt::format("color={},incomplete={}", colored(STDOUT_FILENO, options) ? 1 : 0,
                  options.allow_incomplete ? 1 : 0);
  Text text;
  if (muster_render(snapshot.get(), options.format.c_str(), format_options.c_str(), Out(text),
                    Out(error)) != 0)
    return std::nullopt;
  std::string data = to_string(text);
  if (options.format != "cluster_def_binary" && !data.empty() && data.back() != '\n') data += '\n';
  return data;
}

std::optional<std::string> render(const Snapshot& snapshot, const Options& options, int& status) {
  const bool complete = muster_snapshot_complete(snapshot.get()) == 1;
  status = complete ? 0 : kExitIncomplete;
  if (!options.quiet && !shows_warnings(options.format)) {
    for (size_t n = 0; n < muster_snapshot_warning_count(snapshot.get()); ++n) {
      say(fmt::format("warning: {}", muster_snapshot_warning(snapshot.get(), n, nullptr)));
    }
  }
  Error error;
  if (auto data = render_silently(snapshot, options, error)) return data;
  if (complete) {
    status = report(error);
  } else {
    // Only a format that cannot say so refuses an incomplete answer.
    say_incomplete(snapshot);
    say_hint(fmt::format(
        "-o {} cannot say so, so nothing is printed; --allow-incomplete prints what is there",
        options.format));
  }
  return std::nullopt;
}

}  // namespace muster_command

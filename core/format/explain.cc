#include <fmt/format.h>

#include "core/format/renderers.h"
#include "core/format/text.h"
#include "core/spec/quote.h"
#include "core/spec/rfc3339.h"

namespace muster {
namespace {

std::string size_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

constexpr size_t kMostOfAMessage = 64 * 1024;

// Every further line of a message starts under its first.
std::string indented(std::string_view message, size_t columns) {
  const std::string shown = printable_lines(message, kMostOfAMessage);
  std::string_view text = shown;
  std::string out;
  while (true) {
    const size_t end = text.find('\n');
    out.append(columns, ' ');
    out += text.substr(0, end);
    out += '\n';
    if (end == std::string_view::npos || end + 1 == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

const char* style_of(const SourceRecord& source) {
  if (source.status == "OK") return kGreen;
  return source.status == "NOT_ASKED" ? kDim : kRed;
}

std::string program_line(const RequestRecord& run, bool color) {
  const bool good = run.error.empty() && run.status == 0;
  const std::string outcome =
      run.error.empty() ? fmt::format("exit status {}", run.status) : printable(run.error);
  return fmt::format("    ran {}\n      {}, {} ms\n", printable(run.url),
                     paint(outcome, good ? kGreen : kRed, color), run.milliseconds);
}

std::string request_line(const RequestRecord& request, bool color) {
  std::string line = fmt::format("    {} {}", printable(request.method), printable(request.url));
  const bool good = request.error.empty() && request.status >= 200 && request.status < 400;
  std::string outcome =
      request.error.empty() ? fmt::format("{}", request.status) : printable(request.error);
  line += "\n      " + paint(outcome, good ? kGreen : kRed, color);
  line += fmt::format(", {} ms, {}", request.milliseconds, size_text(request.bytes));
  if (request.attempt > 1) line += fmt::format(", attempt {}", request.attempt);
  if (!request.purpose.empty()) line += fmt::format(" ({})", printable(request.purpose));
  return line + "\n";
}

std::string explain_source(const SourceRecord& source, bool color) {
  std::string text = fmt::format("  {} ({}): {}", printable(source.path), printable(source.backend),
                                 paint(printable(source.status), style_of(source), color));
  if (source.status != "NOT_ASKED") {
    if (source.status == "OK") text += fmt::format(", {}", count_of(source.tasks, "task"));
    text += fmt::format(", {} ms", source.milliseconds);
    const int64_t programs = source.programs();
    const int64_t requests = static_cast<int64_t>(source.requests.size()) - programs;
    if (requests > 0) text += fmt::format(", {}", count_of(requests, "request"));
    if (programs > 0) text += fmt::format(", {}", count_of(programs, "program"));
  }
  text += '\n';
  if (!source.where.empty()) text += indented(source.where, 4);
  if (!source.message.empty()) text += indented(source.message, 4);
  for (const RequestRecord& request : source.requests)
    text += request.of_program() ? program_line(request, color) : request_line(request, color);
  return text;
}

std::string explain_jobs(const Snapshot& snapshot, bool color) {
  std::string text;
  for (const JobStatus& job : snapshot.jobs) {
    text += fmt::format("  {}: {} found, ", printable(job.name), job.found);
    text += job.expected ? fmt::format("{} expected\n", *job.expected)
                         : std::string("nobody says how many there should be\n");
    for (const MissingTask& missing : job.missing) {
      std::string line = "    missing";
      if (missing.index >= 0) line += fmt::format(" {}", missing.index);
      if (!missing.name.empty()) line += fmt::format(" {}", printable(missing.name));
      if (!missing.reason.empty()) line += fmt::format(": {}", printable(missing.reason));
      text += paint(line, kRed, color) + "\n";
    }
  }
  return text;
}

std::string explain_identity(const Snapshot& snapshot) {
  const Identity& own = snapshot.identity;
  if (!own.known()) {
    return "which task this process is, is not known: no source has evidence, and neither the "
           "config nor a flag says it\n";
  }
  std::string text = fmt::format("this process is {}\n", task_label(own.type, own.index));
  for (const std::string& evidence : own.evidence) text += indented("because " + evidence, 2);
  return text;
}

}  // namespace

std::string render_sources_explain(const std::vector<SourceRecord>& sources, bool color) {
  std::string text = paint("sources", kBold, color) + "\n";
  for (const SourceRecord& source : sources) text += explain_source(source, color);
  return text;
}

std::string render_explain(const Snapshot& snapshot, const FormatOptions& options) {
  const bool color = options.color;
  std::string text =
      snapshot.complete ? paint("complete", kGreen, color) : paint("INCOMPLETE", kRed, color);
  text += fmt::format(": {}\n", count_summary(snapshot));
  text += explain_jobs(snapshot, color);
  text += explain_identity(snapshot);
  text += fmt::format("master is {}\n", snapshot.master.empty() ? "'': this process itself"
                                                                : quote(snapshot.master, 1024));
  text += fmt::format("{} at {}{}\n", digest(snapshot.spec), rfc3339(snapshot.time_ns),
                      snapshot.stale  ? ", stale since " + rfc3339(snapshot.stale_since_ns)
                      : snapshot.gone ? ", gone"
                                      : "");
  text += render_sources_explain(snapshot.sources, color);
  for (const std::string& warning : snapshot.warnings)
    text += paint("warning: " + printable(warning), kYellow, color) + "\n";
  return text;
}

}  // namespace muster

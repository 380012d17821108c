#include <fmt/format.h>

#include <algorithm>

#include "core/format/renderers.h"
#include "core/format/text.h"
#include "core/spec/quote.h"
#include "core/spec/rfc3339.h"

namespace muster {
namespace {

using Row = std::vector<std::string>;

void note(std::string& notes, const std::string& text) {
  if (!notes.empty()) notes += ", ";
  notes += text;
}

class Table {
 public:
  Table(const Snapshot& snapshot, bool color) : snapshot_(snapshot), color_(color) {}

  std::string text() {
    add({"JOB", "INDEX", "NAME", "ADDRESS", "NOTES"}, kBold);
    for (const JobStatus& status : snapshot_.jobs) add_job(status);
    std::string text = head();
    if (rows_.size() > 1) text += align_columns(rows_, styles_);
    for (const std::string& warning : snapshot_.warnings) {
      text += paint(fmt::format("warning: {}", printable(warning)), kYellow, color_) + "\n";
    }
    return text;
  }

 private:
  void add(Row row, const char* style) {
    rows_.push_back(std::move(row));
    styles_.emplace_back(color_ ? style : "");
  }

  std::string head() const {
    const Identity& own = snapshot_.identity;
    std::string text =
        snapshot_.complete ? paint("complete", kGreen, color_) : paint("INCOMPLETE", kRed, color_);
    text += fmt::format(": {}\n", count_summary(snapshot_));
    text += own.known() ? fmt::format("this process is {}\n", task_label(own.type, own.index))
                        : "which task this process is, is not known\n";
    if (snapshot_.stale)
      text += paint(fmt::format("stale since {}: a source fails; this is the answer of {}",
                                rfc3339(snapshot_.stale_since_ns), rfc3339(snapshot_.time_ns)),
                    kYellow, color_) +
              "\n";
    if (snapshot_.gone)
      text += paint("gone: the source says that there is nobody any longer", kRed, color_) + "\n";
    return text;
  }

  // Found and missing tasks by index, then the missing ones without an index, then what nobody can name.
  void add_job(const JobStatus& status) {
    std::vector<const MissingTask*> missing;
    for (const MissingTask& task : status.missing) missing.push_back(&task);
    std::stable_sort(
        missing.begin(), missing.end(), [](const MissingTask* a, const MissingTask* b) {
          return static_cast<uint64_t>(a->index) < static_cast<uint64_t>(b->index);  // -1 last
        });
    auto next = missing.begin();
    if (const Job* job = snapshot_.spec.find(status.name)) {
      for (const Task& task : job->tasks) {
        for (; next != missing.end() && (*next)->index >= 0 && (*next)->index < task.index; ++next)
          add_missing(status, **next);
        add_task(*job, task);
      }
    }
    for (; next != missing.end(); ++next) add_missing(status, **next);
    const int64_t unnamed =
        status.expected.value_or(0) - status.found - static_cast<int64_t>(status.missing.size());
    if (unnamed > 0)
      add({printable(status.name), "-", "-", "-",
           fmt::format("missing: {} more expected", unnamed)},
          kRed);
    if (unnamed <= 0 && status.found == 0 && status.missing.empty())
      add({printable(status.name), "-", "-", "-", "no tasks"}, kDim);
  }

  void add_task(const Job& job, const Task& task) {
    const bool own = snapshot_.identity.index == task.index && snapshot_.identity.type == job.name;
    std::string notes;
    if (own) note(notes, "this process");
    for (const auto& [type, count] : accelerators_of(task.attributes, {}))
      note(notes, fmt::format("{} {}", count, printable(type)));
    add({printable(job.name), std::to_string(task.index),
         task.name.empty() ? "-" : printable(task.name), task.address.to_string(), notes},
        own ? kGreen : "");
  }

  void add_missing(const JobStatus& status, const MissingTask& task) {
    add({printable(status.name), task.index >= 0 ? std::to_string(task.index) : "-",
         task.name.empty() ? "-" : printable(task.name), "-",
         task.reason.empty() ? "missing" : fmt::format("missing: {}", printable(task.reason))},
        kRed);
  }

  const Snapshot& snapshot_;
  bool color_;
  std::vector<Row> rows_;
  std::vector<std::string> styles_;
};

}  // namespace

std::string render_table(const Snapshot& snapshot, const FormatOptions& options) {
  return Table(snapshot, options.color).text();
}

}  // namespace muster

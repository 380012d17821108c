// Small things that several formats need: widths, columns, colours, shell words, times.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/snapshot.h"

namespace muster {

// Columns that a UTF-8 text takes on a terminal: two for East Asian wide characters and emoji, none for combining marks.
size_t display_width(std::string_view text);

// Rows of cells as aligned columns, two blanks between them, none at the end of a line. A row may be shorter than
// others. `styles` (optional, one a row) is an escape sequence for the whole line, "" for none.
std::string align_columns(const std::vector<std::vector<std::string>>& rows,
                          const std::vector<std::string>& styles = {});

// Wraps a text in an escape sequence; returns it as it is when `color` is false.
std::string paint(std::string_view text, const char* style, bool color);
inline constexpr const char* kRed = "\x1b[31m";
inline constexpr const char* kGreen = "\x1b[32m";
inline constexpr const char* kYellow = "\x1b[33m";
inline constexpr const char* kBold = "\x1b[1m";
inline constexpr const char* kDim = "\x1b[2m";

// A word that a POSIX shell reads as this very text: 'it'\''s'. The text has no NUL.
std::string shell_quote(std::string_view text);

// "1 task", "3 tasks".
std::string count_of(int64_t count, std::string_view noun);

// "worker 3", as people are told which task is meant; control characters made harmless.
std::string task_label(std::string_view job, int64_t index);

// "worker 2 of 3, ps 1": found and expected of every job.
std::string count_summary(const Snapshot& snapshot);

// A task in the order of ranks.
struct RankedTask {
  const Job* job;
  const Task* task;
};

// All tasks in the order of ranks: the jobs 'chief' and 'master' come first, for TensorFlow and torch alike give them rank 0; then
// the others as they stand in the spec; inside a job by index.
std::vector<RankedTask> ranked_tasks(const ClusterSpec& spec);

}  // namespace muster

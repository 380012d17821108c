#include "core/format/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/spec/quote.h"

namespace muster {
namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

// Unicode's combining marks and format characters in common use.
constexpr Range kZeroWidth[] = {
    {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
    {0x900, 0x902},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x2060, 0x2064},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef}};
// East Asian Wide and Fullwidth (UAX 11), by block, and emoji.
constexpr Range kWide[] = {{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},
                           {0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xa000, 0xa4cf},
                           {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
                           {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
                           {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

template <size_t N>
bool among(const Range (&ranges)[N], uint32_t code) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [code](Range range) { return code >= range.first && code <= range.last; });
}

uint32_t decode(std::string_view character) {
  const auto at = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(character[i]));
  };
  switch (character.size()) {
    case 1: return at(0);
    case 2: return (at(0) & 0x1f) << 6 | (at(1) & 0x3f);
    case 3: return (at(0) & 0xf) << 12 | (at(1) & 0x3f) << 6 | (at(2) & 0x3f);
    default:
      return (at(0) & 0x7) << 18 | (at(1) & 0x3f) << 12 | (at(2) & 0x3f) << 6 | (at(3) & 0x3f);
  }
}

}  // namespace

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(utf8_length(text), 1);
    const uint32_t code = decode(text.substr(0, length));
    if (code < 0x300) {
      ++width;
    } else if (!among(kZeroWidth, code)) {
      width += among(kWide, code) ? 2 : 1;
    }
    text.remove_prefix(length);
  }
  return width;
}

std::string align_columns(const std::vector<std::vector<std::string>>& rows,
                          const std::vector<std::string>& styles) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    const bool styled = r < styles.size() && !styles[r].empty();
    if (styled) out += styles[r];
    size_t owed = 0;  // blanks, written only when something follows
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string& cell = rows[r][i];
      if (!cell.empty()) {
        out.append(owed, ' ');
        out += cell;
        owed = 0;
      }
      owed += widths[i] - display_width(cell) + 2;
    }
    if (styled) out += "\x1b[0m";
    out += '\n';
  }
  return out;
}

std::string paint(std::string_view text, const char* style, bool color) {
  if (!color) return std::string(text);
  return fmt::format("{}{}\x1b[0m", style, text);
}

std::string shell_quote(std::string_view text) {
  std::string word = "'";
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find('\'', at), text.size());
    word.append(text, at, next - at);
    if (next < text.size()) word += "'\\''";
    at = next + 1;
  }
  word += '\'';
  return word;
}

std::string count_of(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string task_label(std::string_view job, int64_t index) {
  return fmt::format("{} {}", printable(job), index);
}

std::string count_summary(const Snapshot& snapshot) {
  std::string text;
  for (const JobStatus& job : snapshot.jobs) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", printable(job.name), job.found);
    if (job.expected) {
      text += fmt::format(" of {}", *job.expected);
    } else if (!job.missing.empty()) {
      text += fmt::format(" ({} missing)", job.missing.size());
    }
  }
  return text.empty() ? "no jobs" : text;
}

std::vector<RankedTask> ranked_tasks(const ClusterSpec& spec) {
  std::vector<const Job*> jobs;
  for (const char* first : {"chief", "master"}) {
    if (const Job* job = spec.find(first)) jobs.push_back(job);
  }
  for (const Job& job : spec.jobs()) {
    if (job.name != "chief" && job.name != "master") jobs.push_back(&job);
  }
  std::vector<RankedTask> ranked;
  ranked.reserve(spec.task_count());
  for (const Job* job : jobs) {
    for (const Task& task : job->tasks) ranked.push_back({job, &task});
  }
  return ranked;
}

}  // namespace muster

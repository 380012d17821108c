#include "core/config/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/config/utf8.h"
#include "core/config/words.h"

namespace muster::conf {
namespace {

constexpr size_t kShown = 20;
constexpr size_t kWidth = 120;  // characters of a line that are shown
constexpr std::string_view kRedacted = "REDACTED";

// Skips `count` characters; returns the byte after them, or the size.
size_t skip_characters(std::string_view text, size_t from, size_t count) {
  size_t at = from;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && continues_character(text[at])) ++at;
    --count;
  }
  return at;
}

struct Line {
  size_t begin = 0;
  size_t end = 0;  // before the line's end
};

Line line_at(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  Line line;
  const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  line.begin = newline == std::string_view::npos ? 0 : newline + 1;
  line.end = std::min(text.find('\n', line.begin), text.size());
  if (line.end > line.begin && text[line.end - 1] == '\r') --line.end;
  return line;
}

// Puts REDACTED over the hidden bytes of a line; moves `caret` along.
std::string redact(std::string_view text, Line line, const std::vector<Hidden>& hidden,
                   size_t* caret) {
  std::string shown;
  size_t shown_caret = 0;
  bool placed = false;
  for (size_t at = line.begin; at < line.end;) {
    size_t end = 0;  // of the hidden bytes at `at`
    for (const Hidden& span : hidden) {
      if (span.begin <= at && at < span.end) end = std::max(end, std::min(span.end, line.end));
    }
    const size_t step = end > at ? end - at : 1;
    if (!placed && *caret < at + step) {
      shown_caret = shown.size();
      placed = true;
    }
    if (end > at) {
      if (!std::string_view(shown).ends_with(kRedacted)) shown += kRedacted;
    } else {
      shown += text[at];
    }
    at += step;
  }
  *caret = placed ? shown_caret : shown.size();
  return shown;
}

}  // namespace

Mark mark_at(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  Mark mark;
  mark.line = 1 + static_cast<int>(
                      std::count(text.begin(), text.begin() + static_cast<long>(offset), '\n'));
  const Line line = line_at(text, offset);
  mark.column = 1 + static_cast<int>(characters(text.substr(line.begin, offset - line.begin)));
  return mark;
}

size_t offset_of(std::string_view text, Mark mark) {
  size_t at = 0;
  for (int line = 1; line < mark.line; ++line) {
    const size_t newline = text.find('\n', at);
    if (newline == std::string_view::npos) return text.size();
    at = newline + 1;
  }
  const Line line = line_at(text, at);
  const size_t columns = mark.column > 1 ? static_cast<size_t>(mark.column - 1) : 0;
  return std::min(skip_characters(text, at, columns), std::max(line.end, at));
}

std::string excerpt(std::string_view text, size_t offset, const std::vector<Hidden>& hidden) {
  const Line line = line_at(text, offset);
  size_t caret = std::min(offset, line.end);
  std::string shown = redact(text, line, hidden, &caret);

  std::string_view before(shown.data(), caret);
  std::string_view after(shown.data() + caret, shown.size() - caret);
  std::string_view lead;
  std::string_view trail;
  if (characters(before) + characters(after) > kWidth) {
    if (const size_t count = characters(before); count > kWidth / 2) {
      before.remove_prefix(skip_characters(before, 0, count - kWidth / 2));
      lead = "...";
    }
    const size_t room = kWidth - characters(before);
    if (characters(after) > room) {
      after = after.substr(0, skip_characters(after, 0, room));
      trail = "...";
    }
  }
  // Below a tab stands a tab, so that the caret is under its character whatever the terminal's tabs are.
  std::string padding(lead.size(), ' ');
  for (char byte : before) {
    if (!continues_character(byte)) padding += byte == '\t' ? '\t' : ' ';
  }
  return fmt::format("  {}{}{}{}\n  {}^", lead, printable(before), printable(after), trail,
                     padding);
}

void Problems::add(size_t offset, std::string message, Code code, std::vector<Detail> details) {
  for (const Problem& known : problems_) {
    if (known.offset == offset && known.message == message) return;
  }
  problems_.push_back({offset, std::move(message), code, std::move(details)});
}

Error Problems::error() const {
  std::vector<const Problem*> sorted;
  for (const Problem& problem : problems_) sorted.push_back(&problem);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Problem* a, const Problem* b) { return a->offset < b->offset; });

  Error error;
  error.code = Code::kInvalidArgument;
  const bool other_codes = std::none_of(sorted.begin(), sorted.end(), [](const Problem* problem) {
    return problem->code == Code::kInvalidArgument;
  });
  if (other_codes && !sorted.empty()) {
    error.code = sorted.front()->code;
    error.details = sorted.front()->details;
  }
  size_t shown = 0;
  for (const Problem* problem : sorted) {
    if (shown == kShown) {
      error.message += fmt::format("\nand {} more", sorted.size() - kShown);
      break;
    }
    const Mark mark = mark_at(text_, problem->offset);
    // The excerpt follows the first line: what a message adds (the story of a search) comes after it.
    const size_t newline = std::min(problem->message.find('\n'), problem->message.size());
    if (shown > 0) error.message += '\n';
    error.message += fmt::format("{}:{}:{}: {}\n{}{}", name_, mark.line, mark.column,
                                 std::string_view(problem->message).substr(0, newline),
                                 excerpt(text_, problem->offset, hidden_),
                                 std::string_view(problem->message).substr(newline));
    ++shown;
  }
  return error;
}

}  // namespace muster::conf

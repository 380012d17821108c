#include "sdk/muster-check/reporter.h"

#include <unistd.h>

#include <cerrno>

namespace muster::check {
namespace {

constexpr size_t kMostFindings = 20;
constexpr size_t kLongestText = 2000;

// A line is a line: kind, duty and text between tabs.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kLongestText)) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char next = text[++at];
    out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
  }
  return out;
}

}  // namespace

void Reporter::write_line(char kind, std::string_view duty, std::string_view text) {
  const std::string line =
      std::string(1, kind) + "\t" + std::string(duty) + "\t" + escaped(text) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t written = ::write(descriptor_, line.data() + done, line.size() - done);
    if (written < 0 && errno != EINTR) return;
    if (written > 0) done += static_cast<size_t>(written);
  }
}

void Reporter::step(std::string_view duty, std::string_view what) {
  const std::lock_guard lock(mutex_);
  write_line('S', duty, with_.empty() ? std::string(what) : std::string(what) + " with " + with_);
}

void Reporter::with(std::string_view what) {
  const std::lock_guard lock(mutex_);
  with_ = what;
}

void Reporter::broke(std::string_view duty, std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (told_.size() >= kMostFindings) return;
  if (told_.insert(std::string(duty) + std::string(text)).second) write_line('F', duty, text);
}

void Reporter::note(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (noted_.insert(std::string(text)).second) write_line('N', "", text);
}

void Reporter::skip(std::string_view why) {
  const std::lock_guard lock(mutex_);
  write_line('K', "", why);
}

bool Reporter::found_any() const {
  const std::lock_guard lock(mutex_);
  return !told_.empty();
}

void Reporter::end() {
  {
    const std::lock_guard lock(mutex_);
    write_line('E', "", "");
  }
  _exit(0);
}

Verdict read_report(std::string_view lines) {
  Verdict verdict;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    if (end == std::string_view::npos) break;  // cut off in the middle of a line
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end + 1);
    const size_t tab = line.find('\t', 2);
    if (line.size() < 2 || tab == std::string_view::npos) continue;
    const std::string duty(line.substr(2, tab - 2));
    const std::string text = unescaped(line.substr(tab + 1));
    switch (line[0]) {
      case 'S':
        verdict.step = text;
        verdict.step_duty = duty;
        break;
      case 'F': verdict.findings.push_back({duty, text}); break;
      case 'N': verdict.notes.push_back(text); break;
      case 'K': verdict.skipped = text; break;
      case 'E': verdict.ended = true; break;
      default: break;
    }
  }
  return verdict;
}

}  // namespace muster::check

// Faults: what goes wrong on purpose, and when.
#include "fault.h"

#include <limits>

#include <fmt/format.h>

#include "yaml_reader.h"

namespace muster::sim {

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Fault read_fault(MapReader& reader) {
  constexpr auto kMany = std::numeric_limits<std::int32_t>::max();
  Fault fault;
  if (const auto match = reader.text("match")) {
    std::string_view rest = *match;
    if (const auto space = rest.find(' '); space != std::string_view::npos) {
      fault.method = rest.substr(0, space);
      rest.remove_prefix(space + 1);
    }
    const auto mark = rest.find('?');
    fault.path = rest.substr(0, mark);
    if (mark != std::string_view::npos) fault.query = rest.substr(mark + 1);
    if (!fault.path.starts_with('/') && !fault.path.starts_with('*')) {
      reader.problem(
          fmt::format("'match' of a fault must be \"[METHOD ]/PATH[?QUERY]\", not '{}'", *match));
    }
  } else {
    reader.problem("a fault needs 'match', such as \"GET /api/v1/*pods\"");
  }
  fault.page = reader.number("page", 1, kMany).value_or(0);
  fault.after = reader.number("after", 0, kMany).value_or(0);
  fault.times = reader.number("times", 0, kMany).value_or(-1);
  fault.delay_ms = reader.duration_ms("delay").value_or(0);
  fault.status = static_cast<int>(reader.number("status", 200, 599).value_or(0));
  fault.retry_after = reader.number("retry_after", 0, kMany);
  fault.message = reader.text("message").value_or("");
  fault.body = reader.text("body");
  fault.content_type = reader.text("content_type").value_or(fault.content_type);
  fault.headers = reader.texts("headers");
  fault.drop_after_bytes = reader.number("drop_after_bytes", 0, kMany);
  fault.drop = reader.boolean("drop").value_or(false);
  fault.reset = reader.boolean("reset").value_or(false);
  fault.drip = reader.number("drip", 1, kMany).value_or(0);
  reader.finish();
  const bool acts = fault.delay_ms > 0 || fault.status != 0 || fault.body ||
                    fault.drop_after_bytes || fault.drop || fault.drip > 0 || fault.retry_after ||
                    !fault.headers.empty();
  if (!acts && reader.problems().empty()) {
    reader.problem(
        "a fault must do something: status, delay, body, headers, drop, drop_after_bytes or drip");
  }
  return fault;
}

std::optional<Fault> FaultPlan::strike(std::string_view method, std::string_view path,
                                       std::string_view query, std::int64_t page) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < faults_.size(); ++i) {
    const auto& fault = faults_[i];
    if (!fault.method.empty() && fault.method != method) continue;
    if (!glob_matches(fault.path, path)) continue;
    if (!fault.query.empty() && !glob_matches(fault.query, query)) continue;
    if (fault.page != 0 && fault.page != page) continue;
    const auto place = seen_[i]++;
    if (place < fault.after || (fault.times >= 0 && place >= fault.after + fault.times)) continue;
    return fault;
  }
  return std::nullopt;
}

void FaultPlan::reset() {
  const std::lock_guard lock(mutex_);
  seen_.assign(faults_.size(), 0);
}

}  // namespace muster::sim

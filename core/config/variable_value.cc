#include "core/config/variable_value.h"

#include <algorithm>

#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr size_t kShortest = 4;
// Of a longer value so much of its beginning is enough to know it by.
constexpr size_t kKnownBy = 16;

std::string replaced(const std::string& text, const std::string& value, const std::string& name) {
  const std::string_view beginning = std::string_view(value).substr(0, kKnownBy);
  std::string out;
  size_t done = 0;
  for (size_t at = text.find(beginning); at != std::string::npos; at = text.find(beginning, done)) {
    out.append(text, done, at - done).append(name);
    const auto differ = std::mismatch(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(),
                                      value.begin(), value.end());
    done = static_cast<size_t>(differ.first - text.begin());
  }
  return out.append(text, done);
}

}  // namespace

std::string name_variables(std::string text, const std::vector<VariableValue>& variables) {
  // A value may stand in a longer one.
  std::vector<const VariableValue*> longest_first;
  for (const VariableValue& one : variables)
    if (one.value.size() >= kShortest) longest_first.push_back(&one);
  std::stable_sort(longest_first.begin(), longest_first.end(),
                   [](const auto* a, const auto* b) { return a->value.size() > b->value.size(); });
  for (const VariableValue* one : longest_first) {
    const std::string name = "${" + one->name + "}";
    text = replaced(text, one->value, name);
    if (const std::string quoted = printable(one->value); quoted != one->value)
      text = replaced(text, quoted, name);
  }
  return text;
}

}  // namespace muster

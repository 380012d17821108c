#include "compute_filter.h"

#include <memory>
#include <optional>
#include <regex>

#include <fmt/format.h>

namespace muster::sim {
namespace {

using Test = std::function<bool(const Instance&)>;

// The value of a field; nothing when the instance has none.
std::optional<std::string> value_of(const Instance& instance, const std::string& field) {
  if (field == "name") return instance.name;
  if (field == "status") return instance.status;
  if (field == "zone") return instance.zone;
  if (field == "id") return instance.id;
  for (const auto& [key, value] : instance.labels)
    if (field == "labels." + key) return value;
  return std::nullopt;
}

bool is_known(const std::string& field) {
  return field == "name" || field == "status" || field == "zone" || field == "id" ||
         field.starts_with("labels.");
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<Test> parse() {
    auto test = sequence();
    if (why_.empty() && !rest_.empty()) why_ = fmt::format("unexpected '{}'", rest_);
    if (why_.empty() && old_style_ && new_style_) why_ = "two styles of filter in one expression";
    if (!why_.empty()) return Failure{"Invalid value for field 'filter': " + why_};
    return test;
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  bool takes(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    const auto after = rest_.substr(word.size());
    if (!after.empty() && std::isalnum(static_cast<unsigned char>(word.back())) &&
        after[0] != ' ' && after[0] != '(')
      return false;
    rest_ = after;
    return true;
  }

  // Terms side by side, or with AND between them.
  Test sequence() {
    Test test = alternatives();
    while (why_.empty()) {
      skip_blanks();
      if (rest_.empty() || rest_[0] == ')') break;
      takes("AND");
      test = [a = std::move(test), b = alternatives()](const Instance& i) { return a(i) && b(i); };
    }
    return test;
  }

  // OR binds tighter than AND.
  Test alternatives() {
    Test test = term();
    while (why_.empty() && takes("OR"))
      test = [a = std::move(test), b = term()](const Instance& i) { return a(i) || b(i); };
    return test;
  }

  Test term() {
    skip_blanks();
    if (takes("NOT")) return [inner = term()](const Instance& i) { return !inner(i); };
    if (takes("(")) {
      Test test = sequence();
      if (why_.empty() && !takes(")")) why_ = "a parenthesis is open";
      return test;
    }
    return comparison();
  }

  std::string word(std::string_view ends) {
    skip_blanks();
    if (!rest_.empty() && (rest_[0] == '"' || rest_[0] == '\'')) {
      const auto end = rest_.find(rest_[0], 1);
      if (end == std::string_view::npos) {
        why_ = "a quote is open";
        return {};
      }
      std::string out(rest_.substr(1, end - 1));
      rest_.remove_prefix(end + 1);
      return out;
    }
    const auto end = std::min(rest_.find_first_of(ends), rest_.size());
    std::string out(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return out;
  }

  Test comparison() {
    const auto field = word(" =!:()");
    if (why_.empty() && !is_known(field)) why_ = fmt::format("unknown field '{}'", field);
    if (!why_.empty()) return {};
    if (const bool equal = takes("eq"); equal || takes("ne")) {
      old_style_ = true;
      const auto text = word(" )");
      try {
        return [field, equal, pattern = std::regex(text)](const Instance& i) {
          const auto value = value_of(i, field);
          return (value && std::regex_match(*value, pattern)) == equal;
        };
      } catch (const std::regex_error& error) {
        why_ = error.what();
        return {};
      }
    }
    new_style_ = true;
    const bool differs = takes("!=");
    const bool has = !differs && takes(":");
    if (!differs && !has && !takes("=")) {
      why_ = fmt::format("no operator behind '{}'", field);
      return {};
    }
    const auto text = word(" )");
    return [field, text, differs, has](const Instance& i) {
      const auto value = value_of(i, field);
      if (has && text == "*") return value.has_value();
      if (has) return value && value->find(text) != std::string::npos;
      return (value == text) != differs;
    };
  }

  std::string_view rest_;
  std::string why_;
  bool old_style_ = false;
  bool new_style_ = false;
};

}  // namespace

Result<Test> parse_compute_filter(std::string_view text) {
  if (text.find_first_not_of(" \t") == std::string_view::npos)
    return Test([](const Instance&) { return true; });
  return Parser(text).parse();
}

}  // namespace muster::sim

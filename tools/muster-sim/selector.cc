// Label and field selectors, as the API server reads them (see the README for the grammar).
#include "selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace muster::sim {
namespace {

enum class Token {
  kEnd,
  kWord,
  kOpen,
  kClose,
  kComma,
  kNot,
  kEqual,
  kNotEqual,
  kGreater,
  kLess,
  kIn,
  kNotIn
};

struct Lexeme {
  Token token = Token::kEnd;
  std::string_view text;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_special(char c) {
  return c == '=' || c == '!' || c == '(' || c == ')' || c == ',' || c == '>' || c == '<';
}

std::vector<Lexeme> split_tokens(std::string_view text) {
  std::vector<Lexeme> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (is_space(c)) {
      ++at;
      continue;
    }
    if (!is_special(c)) {
      std::size_t end = at;
      while (end < text.size() && !is_space(text[end]) && !is_special(text[end])) ++end;
      const auto word = text.substr(at, end - at);
      out.push_back({word == "in"      ? Token::kIn
                     : word == "notin" ? Token::kNotIn
                                       : Token::kWord,
                     word});
      at = end;
      continue;
    }
    const bool equal_next = at + 1 < text.size() && text[at + 1] == '=';
    Token token = Token::kEnd;
    std::size_t length = 1;
    switch (c) {
      case '(': token = Token::kOpen; break;
      case ')': token = Token::kClose; break;
      case ',': token = Token::kComma; break;
      case '>': token = Token::kGreater; break;
      case '<': token = Token::kLess; break;
      case '=':
        token = Token::kEqual;
        if (equal_next) length = 2;
        break;
      default:
        token = equal_next ? Token::kNotEqual : Token::kNot;
        if (equal_next) length = 2;
        break;
    }
    out.push_back({token, text.substr(at, length)});
    at += length;
  }
  return out;
}

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A label's name part or a non-empty value: alphanumeric at both ends, '-_.' inside.
bool is_label_text(std::string_view s) {
  if (s.empty() || !is_alnum(s.front()) || !is_alnum(s.back())) return false;
  return std::all_of(s.begin(), s.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_subdomain(std::string_view s) {
  while (true) {
    const auto dot = s.find('.');
    const auto part = s.substr(0, dot);
    const auto lower = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); };
    if (part.empty() || !lower(part.front()) || !lower(part.back())) return false;
    if (!std::all_of(part.begin(), part.end(), [&](char c) { return lower(c) || c == '-'; }))
      return false;
    if (dot == std::string_view::npos) return true;
    s.remove_prefix(dot + 1);
  }
}

constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

std::optional<Failure> check_key(std::string_view key) {
  const auto invalid = [&](std::string_view why) {
    return Failure{fmt::format("<nil>: Invalid value: \"{}\": {}", key, why)};
  };
  auto name = key;
  if (const auto slash = key.find('/'); slash != std::string_view::npos) {
    const auto prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return invalid(
          fmt::format("a qualified name {} with an optional DNS subdomain prefix and '/' "
                      "(e.g. 'example.com/MyName')",
                      kNameRule));
    }
    if (prefix.empty()) return invalid("prefix part must be non-empty");
    if (prefix.size() > 253) return invalid("prefix part must be no more than 253 bytes");
    if (!is_dns_subdomain(prefix)) {
      return invalid(
          "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
          "characters, '-' or '.', and must start and end with an alphanumeric character");
    }
  }
  if (name.empty()) return invalid("name part must be non-empty");
  if (name.size() > 63) return invalid("name part must be no more than 63 bytes");
  if (!is_label_text(name)) return invalid(fmt::format("name part {}", kNameRule));
  return std::nullopt;
}

std::optional<Failure> check_value(std::string_view key, std::string_view value) {
  const auto invalid = [&](std::string_view why) {
    return Failure{fmt::format("values[0][{}]: Invalid value: \"{}\": {}", key, value, why)};
  };
  if (value.empty()) return std::nullopt;
  if (value.size() > 63) return invalid("must be no more than 63 bytes");
  if (!is_label_text(value)) {
    return invalid(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', "
        "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
        "or "
        "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  }
  return std::nullopt;
}

std::optional<std::int64_t> to_int64(std::string_view s) {
  // Go's ParseInt takes a leading '+', from_chars does not.
  if (s.size() > 1 && s.front() == '+' && s[1] != '-') s.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(split_tokens(text)) {}

  Result<std::vector<LabelTerm>> parse() {
    std::vector<LabelTerm> terms;
    if (peek().token == Token::kEnd) return terms;
    while (true) {
      if (!starts_term(peek().token)) {
        return Failure{
            fmt::format("found '{}', expected: !, identifier, or 'end of string'", peek().text)};
      }
      auto term = parse_term();
      if (!term) return Failure{fmt::format("unable to parse requirement: {}", term.error())};
      terms.push_back(std::move(*term));
      const auto after = take();
      if (after.token == Token::kEnd) return terms;
      if (after.token != Token::kComma) {
        return Failure{fmt::format("found '{}', expected: ',' or 'end of string'", after.text)};
      }
      if (!starts_term(peek().token)) {
        return Failure{fmt::format("found '{}', expected: identifier after ','", peek().text)};
      }
    }
  }

 private:
  // 'in' and 'notin' are words everywhere but in the operator's place.
  static bool is_word(Token t) {
    return t == Token::kWord || t == Token::kIn || t == Token::kNotIn;
  }
  static bool starts_term(Token t) { return is_word(t) || t == Token::kNot; }

  Lexeme peek() const { return at_ < tokens_.size() ? tokens_[at_] : Lexeme{}; }
  Lexeme take() {
    const auto lexeme = peek();
    ++at_;
    return lexeme;
  }

  Result<LabelTerm> parse_term() {
    LabelTerm term;
    auto first = take();
    const bool negated = first.token == Token::kNot;
    if (negated) first = take();
    if (!is_word(first.token))
      return Failure{fmt::format("found '{}', expected: identifier", first.text)};
    if (auto bad = check_key(first.text)) return *bad;
    term.key = first.text;
    if (negated) {
      term.op = LabelTerm::Operator::kAbsent;
      return term;
    }
    if (peek().token == Token::kEnd || peek().token == Token::kComma) return term;
    const auto op = take();
    switch (op.token) {
      case Token::kIn:
      case Token::kNotIn:
        term.op = op.token == Token::kIn ? LabelTerm::Operator::kIn : LabelTerm::Operator::kNotIn;
        if (auto bad = parse_set(term.values)) return *bad;
        break;
      case Token::kEqual:
      case Token::kNotEqual:
      case Token::kGreater:
      case Token::kLess: {
        term.op = op.token == Token::kEqual      ? LabelTerm::Operator::kIn
                  : op.token == Token::kNotEqual ? LabelTerm::Operator::kNotIn
                  : op.token == Token::kGreater  ? LabelTerm::Operator::kGreater
                                                 : LabelTerm::Operator::kLess;
        std::string value;
        if (peek().token != Token::kEnd && peek().token != Token::kComma) {
          const auto word = take();
          if (!is_word(word.token))
            return Failure{fmt::format("found '{}', expected: identifier", word.text)};
          value = word.text;
        }
        term.values.push_back(std::move(value));
        break;
      }
      default:
        return Failure{fmt::format("found '{}', expected: in, notin, =, ==, !=, gt, lt", op.text)};
    }
    if (term.op == LabelTerm::Operator::kGreater || term.op == LabelTerm::Operator::kLess) {
      const auto bound = to_int64(term.values.front());
      if (!bound) {
        return Failure{fmt::format(
            "values[0]: Invalid value: \"{}\": for 'Gt', 'Lt' operators, the value must be an "
            "integer",
            term.values.front())};
      }
      term.bound = *bound;
    }
    for (const auto& value : term.values) {
      if (auto bad = check_value(term.key, value)) return *bad;
    }
    std::sort(term.values.begin(), term.values.end());
    term.values.erase(std::unique(term.values.begin(), term.values.end()), term.values.end());
    return term;
  }

  // "(a,b)"; a place left empty, as in "()", "(,a)" or "(a,)", is the empty string.
  std::optional<Failure> parse_set(std::vector<std::string>& values) {
    if (const auto open = take(); open.token != Token::kOpen) {
      return Failure{fmt::format("found '{}' expected: '('", open.text)};
    }
    std::string value;
    bool have_word = false;
    while (true) {
      const auto lexeme = take();
      if (is_word(lexeme.token)) {
        if (have_word) return Failure{fmt::format("found '{}', expected: ',' or ')'", lexeme.text)};
        value = lexeme.text;
        have_word = true;
      } else if (lexeme.token == Token::kComma || lexeme.token == Token::kClose) {
        values.push_back(std::exchange(value, {}));
        have_word = false;
        if (lexeme.token == Token::kClose) return std::nullopt;
      } else {
        return Failure{fmt::format("found '{}', expected: ',', ')' or identifier", lexeme.text)};
      }
    }
  }

  std::vector<Lexeme> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

bool LabelTerm::matches(const Labels& labels) const {
  const auto found = labels.find(key);
  const bool present = found != labels.end();
  switch (op) {
    case Operator::kExists: return present;
    case Operator::kAbsent: return !present;
    case Operator::kIn:
      return present && std::binary_search(values.begin(), values.end(), found->second);
    case Operator::kNotIn:
      return !present || !std::binary_search(values.begin(), values.end(), found->second);
    case Operator::kGreater:
    case Operator::kLess: {
      const auto value = present ? to_int64(found->second) : std::nullopt;
      return value && (op == Operator::kGreater ? *value > bound : *value < bound);
    }
  }
  return false;
}

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  auto terms = Parser(text).parse();
  if (!terms) return Failure{terms.error()};
  LabelSelector selector;
  selector.terms_ = std::move(*terms);
  return selector;
}

bool LabelSelector::matches(const Labels& labels) const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [&](const LabelTerm& term) { return term.matches(labels); });
}

namespace {

Result<FieldTerm> parse_field_term(std::string_view part) {
  // Nothing is escaped in the field's name: the first operator splits the term.
  for (std::size_t i = 0; i < part.size(); ++i) {
    const auto rest = part.substr(i);
    const std::size_t length = rest.starts_with("!=") || rest.starts_with("==") ? 2
                               : rest.starts_with("=")                          ? 1
                                                                                : 0;
    if (length == 0) continue;
    FieldTerm term;
    term.field = part.substr(0, i);
    term.equal = rest.front() != '!';
    const auto raw = rest.substr(length);
    for (std::size_t at = 0; at < raw.size(); ++at) {
      if (raw[at] == '=' || raw[at] == ',') {
        return Failure{
            fmt::format("invalid field selector: unescaped character in value: {}", raw[at])};
      }
      if (raw[at] == '\\') {
        ++at;
        if (at == raw.size() || (raw[at] != '\\' && raw[at] != ',' && raw[at] != '=')) {
          return Failure{fmt::format("invalid field selector: invalid escape sequence: {}",
                                     raw.substr(at - 1, 2))};
        }
      }
      term.value += raw[at];
    }
    return term;
  }
  return Failure{fmt::format("invalid selector: '{0}'; can't understand '{0}'", part)};
}

}  // namespace

Result<std::vector<FieldTerm>> parse_field_selector(std::string_view text) {
  std::vector<FieldTerm> terms;
  std::optional<Failure> failure;
  const auto add = [&](std::string_view part) {
    if (part.empty() || failure) return;
    auto term = parse_field_term(part);
    if (!term) {
      failure = Failure{term.error()};
    } else if (!term->field.empty() || !term->value.empty()) {  // the server skips a bare '=' too
      terms.push_back(std::move(*term));
    }
  };
  std::size_t start = 0;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (escaped) {
      escaped = false;
    } else if (text[i] == '\\') {
      escaped = true;
    } else if (text[i] == ',') {
      add(text.substr(start, i - start));
      start = i + 1;
    }
  }
  add(text.substr(start));
  if (failure) return *failure;
  return terms;
}

}  // namespace muster::sim

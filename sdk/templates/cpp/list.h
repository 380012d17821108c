// The list of members as text, a line for each. By itself, so that its test needs no muster.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace members {

inline const std::string kLine = "a line is 'name address', or 'name -' and why it has none";

// One line. The texts point into the list.
struct Member {
  int line = 0;
  std::string_view name;
  std::string_view address;  // empty: it is missing
  std::string_view reason;   // of a missing one
  std::string problem;       // what is wrong with the line; nothing else counts then
};

class List {
 public:
  explicit List(std::string_view text) : rest_(text) {}

  // The next member, or nothing at the end. Comments and empty lines are passed over.
  std::optional<Member> next() {
    while (!rest_.empty()) {
      std::string_view line = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(line.size() < rest_.size() ? line.size() + 1 : line.size());
      ++number_;
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      Member member = read(line);
      if (!member.name.empty() || !member.problem.empty()) return member;
    }
    return std::nullopt;
  }

 private:
  Member read(std::string_view line) const {
    Member member;
    member.line = number_;
    for (const char c : line) {
      if (c == '\t' || (c >= ' ' && c <= '~')) continue;
      member.problem = "there is a byte that is no printable ASCII";
      return member;
    }
    const std::string_view name = take_word(line);
    if (name.empty() || name[0] == '#') return member;
    member.name = name;
    member.address = take_word(line);
    if (member.address.empty()) member.problem = "there is no address";
    const std::string_view rest = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (member.address == "-") {
      member.address = {};
      member.reason = rest.empty() ? "the list has no address for it" : rest;
    } else if (!rest.empty()) {
      member.problem = "there is a third word";
    }
    return member;
  }

  // Cuts the next word off; an empty one when there is none.
  static std::string_view take_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    line.remove_prefix(word.size());
    return word;
  }

  std::string_view rest_;
  int number_ = 0;
};

}  // namespace members

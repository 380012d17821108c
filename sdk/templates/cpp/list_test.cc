// What the list says, line by line; needs no muster. Ends with status 0 if all is right.
#include "list.h"

#include <cstdio>
#include <string>

namespace {

// "name=address", "name-(reason)" or "line!problem", one after the other.
std::string read(std::string_view text) {
  std::string out;
  members::List list(text);
  while (const auto member = list.next()) {
    if (!out.empty()) out += ' ';
    if (!member->problem.empty()) return out + std::to_string(member->line) + "!" + member->problem;
    out += std::string(member->name);
    out += member->address.empty() ? "-(" + std::string(member->reason) + ")"
                                   : "=" + std::string(member->address);
  }
  return out;
}

int failures = 0;
void expect(std::string_view text, const std::string& wanted) {
  const std::string found = read(text);
  if (found == wanted) return;
  std::printf("expected: %s\nfound:    %s\n", wanted.c_str(), found.c_str());
  ++failures;
}

}  // namespace

int main() {
  expect("", "");
  expect("# nobody\n\n", "");
  expect("a 10.0.0.1:1\r\nb\t[fd00::2]:2", "a=10.0.0.1:1 b=[fd00::2]:2");
  expect("a - off since Monday\nb -", "a-(off since Monday) b-(the list has no address for it)");
  expect("a a:1\nb\n", "a=a:1 2!there is no address");
  expect("a a:1 more", "1!there is a third word");
  expect("caf\xc3\xa9 a:1", "1!there is a byte that is no printable ASCII");
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

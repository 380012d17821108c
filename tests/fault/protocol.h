// What a backend asks and what is right to answer, as tests/fault/documents says it, and what must hold whatever is answered instead.
#pragma once

#include <rapidjson/document.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/plugin/support/fake_core.h"

namespace fault {

// What a server says to requests whose path ends with `path`, page after page.
struct Said {
  std::string path;
  std::vector<std::string> pages;  // JSON; but of the metadata server a text
  bool metadata = false;
};

// A question to one backend, what is answered, and the cluster that this makes.
struct Protocol {
  std::string name, backend, options;
  fake::World world;  // without its server
  std::vector<Said> said;
  std::vector<std::string> members;  // as fake::Answer::cluster() has them, or addresses alone
};

// Those of the backend of $MUSTER_FAULT_BACKEND.
std::vector<Protocol> protocols();

// May replace what is answered: page `page` of `said[number]`.
using Change = std::function<void(size_t number, size_t page, fake::Response& response)>;
fake::Answer ask(const Protocol& protocol, const Change& change = nullptr);

// Nothing is said to be missing, as far as anybody knows how many there are to be.
bool is_whole(const fake::Answer& answer);
// The members of the answer, in the form that the protocol's have.
std::vector<std::string> members(const Protocol& protocol, const fake::Answer& answer);

// The rule: an answer that is whole is the true cluster, unless what is answered says `another` one; each failure has a code of its own,
// says no secret and no control character, and is not endless.
void check(const Protocol& protocol, const fake::Answer& answer,
           const std::function<bool()>& another = nullptr);

// ---- What a document can be made to say -----------------------------------------------------

// The JSON pointers of the values below the root. Of the elements of a list, which are alike, only the last is looked into, unless `all` are.
std::vector<std::string> places(const std::string& json, bool all);

// A value of another type or an odd one, as JSON; "" takes the field away, and what begins with '+' is a second value of the same key.
const std::vector<std::string>& replacements();

// The document with this at that place. "" when that cannot be: an element of a list has no key.
std::string replaced(const std::string& json, const std::string& place,
                     const std::string& replacement);

// Whether the document, so changed, says another cluster in the API's own words, or one that the backend knows no number of.
bool says_another(const Protocol& protocol, const std::string& path, const std::string& json,
                  const std::string& place, const std::string& replacement);

}  // namespace fault

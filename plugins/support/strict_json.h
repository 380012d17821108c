// Fields of an API's answer that decide who is a member, read strictly. A field that is absent, one that is null and one of another
// type are three things. Only a field that is absent has a default, and only where the caller names the one that the API documents.
//
//   std::string why;
//   const StrictJson job(root, why);
//   const int64_t replicas = job.number_or("/spec/replicas", {0, 1000}, 1);
//   for (const StrictJson& one : job.list("/spec/replicatedJobs")) names.push_back(one.text("/name"));
//   if (!why.empty()) return data_loss(why);  // "spec.replicatedJobs[1].name is a number, where a text is expected"
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/support/ip.h"

namespace muster::support {

// The least and the greatest number that a field may have.
struct Range {
  int64_t least, most;
};

// A key as one step of a JSON pointer: "/example.com~1name".
std::string pointer_to(std::string_view key);

// A value of a document that simdjson has parsed whole (dom), and its place there. What a field is called is a JSON pointer below
// the value ("/spec/replicas", "/networkInterfaces/0/networkIP", "/labels/example.com~1name").
//
// The first thing that is found wrong is written into the reader's `why`, and every later one is passed over. A reader goes on
// with an empty value, and looks at `why` before it believes anything that it has read. Also wrong are, for every field: a value on
// the way to it that is neither a map nor, for a number in the pointer, a list; and a key that stands twice in its map.
class StrictJson {
 public:
  enum class Presence { kAbsent, kNull, kThere };

  // `value`'s parser and `why` outlive this and all that comes of it. `path` is what the value is called in `why`: "" for a
  // whole document, "items[3]".
  StrictJson(simdjson::dom::element value, std::string& why, std::string path = {})
      : value_(value), why_(&why), path_(std::move(path)) {}

  // For an API that writes null where it has nothing: the caller asks, and says what it means.
  Presence presence(std::string_view pointer) const;
  bool is_absent_or_null(std::string_view pointer) const {
    return presence(pointer) != Presence::kThere;
  }

  // Each of these is wrong where the field is absent, null, or of another type. A text lives as long as the parser, is not
  // empty, and is one that is_text takes. A number has no fraction and is in the range.
  std::string_view text(std::string_view pointer) const;
  int64_t number(std::string_view pointer, Range range) const;
  bool flag(std::string_view pointer) const;
  std::vector<StrictJson> list(std::string_view pointer) const;
  std::vector<std::pair<std::string_view, StrictJson>> fields(std::string_view pointer) const;

  // The same where the API documents what an absent field means. An empty text is taken as it is.
  std::string_view text_or(std::string_view pointer, std::string_view otherwise) const;
  int64_t number_or(std::string_view pointer, Range range, int64_t otherwise) const;
  bool flag_or(std::string_view pointer, bool otherwise) const;
  std::vector<StrictJson> list_or_none(std::string_view pointer) const;
  std::vector<std::pair<std::string_view, StrictJson>> fields_or_none(
      std::string_view pointer) const;
  // An address that is_ip takes; "" where it is absent or empty, which is how Google's APIs write one that there is not yet.
  std::string_view ip_or_none(std::string_view pointer, Ip which) const;
  // A number, or as some APIs have 64 bits a text of one.
  int64_t number_or_digits_or(std::string_view pointer, Range range, int64_t otherwise) const;

  // The value itself as one of these: of a list's element, which is not named.
  std::string_view text() const { return text({}); }

  // Says that a field has no value that a member could be made of: "spec.mode is 'Odd', which is none".
  void refuse(std::string_view pointer, std::string_view words) const;
  // "spec.replicatedJobs[0].replicas"; "the document" for a whole one.
  std::string path_of(std::string_view pointer) const;

  simdjson::dom::element value() const { return value_; }

 private:
  using Found = std::optional<simdjson::dom::element>;

  // Nothing where it is absent, or where something is wrong on the way to it.
  Found find(std::string_view pointer) const;
  // The same, where it has to be there or `otherwise` is true. A null is wrong.
  Found find_there(std::string_view pointer, const char* expected, bool otherwise) const;
  // The text of one that is there.
  std::string_view text_of(const Found& found, std::string_view pointer, bool may_be_empty) const;
  int64_t number_of(const Found& found, std::string_view pointer, Range range,
                    int64_t otherwise) const;
  bool flag_of(const Found& found, std::string_view pointer, bool otherwise) const;
  std::vector<StrictJson> list_of(const Found& found, std::string_view pointer) const;
  std::vector<std::pair<std::string_view, StrictJson>> fields_of(const Found& found,
                                                                 std::string_view pointer) const;
  void refuse_type(std::string_view pointer, simdjson::dom::element found,
                   std::string_view expected) const;

  simdjson::dom::element value_;
  std::string* why_;
  std::string path_;
};

}  // namespace muster::support

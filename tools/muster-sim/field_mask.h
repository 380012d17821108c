#pragma once

#include <map>
#include <string>
#include <string_view>

#include <rapidjson/document.h>

#include "json.h"
#include "result.h"

namespace muster::sim {

// The `fields` parameter of Google's APIs: "nextPageToken,items(name,labels/app),items/*/x".
class FieldMask {
 public:
  // "" selects everything. Fails with the API's words on what is no mask, or names a field that no resource has.
  static Result<FieldMask> parse(std::string_view text);

  // Writes what the mask selects of a value.
  void write(const rapidjson::Value& value, JsonWriter& out) const;

 private:
  bool parse_list(std::string_view& rest);
  bool parse_item(std::string_view& rest);

  bool everything_ = false;
  std::map<std::string, FieldMask, std::less<>> below_;
};

}  // namespace muster::sim

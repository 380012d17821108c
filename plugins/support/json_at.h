// Values of a document that simdjson has parsed whole (dom), by JSON pointer.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

#include "plugins/support/text.h"

namespace muster::support {

// Parses an API's answer, which is a JSON object: `root` becomes it, as long as `parser` lives. "", or why it is none.
inline std::string parse_object(std::string_view json, simdjson::dom::parser& parser,
                                simdjson::dom::element& root) {
  if (const auto error = parser.parse(json.data(), json.size()).get(root))
    return simdjson::error_message(error);
  return root.is_object() ? "" : "it is no JSON object";
}

// A text, as long as its parser lives; "" where there is none, or one that is_text does not take.
inline std::string_view text_at(simdjson::dom::element at, std::string_view pointer) {
  std::string_view text;
  return at.at_pointer(pointer).get_string().get(text) || !is_text(text) ? std::string_view()
                                                                         : text;
}

}  // namespace muster::support

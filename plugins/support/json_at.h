// Values of a document that simdjson has parsed whole (dom), by JSON pointer.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "plugins/support/text.h"

namespace muster::support {

// A text, as long as its parser lives; "" where there is none, or one that is_text does not take.
inline std::string_view text_at(simdjson::dom::element at, std::string_view pointer) {
  std::string_view text;
  return at.at_pointer(pointer).get_string().get(text) || !is_text(text) ? std::string_view()
                                                                         : text;
}

}  // namespace muster::support

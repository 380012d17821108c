// A text in a text.
#pragma once

#include <string>

namespace muster::testing {

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace muster::testing

#include "plugins/support/unique_keys.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace muster::support {
namespace {

// simdjson reads no deeper document, so this goes no deeper either.
// NOLINTNEXTLINE(misc-no-recursion)
bool find(simdjson::dom::element at, std::string& path) {
  const size_t above = path.size();
  if (simdjson::dom::array list; !at.get_array().get(list)) {
    size_t n = 0;
    for (const simdjson::dom::element item : list) {
      path += "[" + std::to_string(n++) + "]";
      if (find(item, path)) return true;
      path.resize(above);
    }
    return false;
  }
  simdjson::dom::object map;
  if (at.get_object().get(map)) return false;
  std::vector<std::string_view> keys;
  for (const auto field : map) keys.push_back(field.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  const char* dot = above == 0 ? "" : ".";
  if (twice != keys.end()) {
    path.append(dot).append(*twice);
    return true;
  }
  for (const auto field : map) {
    path.append(dot).append(field.key);
    if (find(field.value, path)) return true;
    path.resize(above);
  }
  return false;
}

}  // namespace

std::string repeated_key(simdjson::dom::element document) {
  std::string path;
  return find(document, path) ? path : "";
}

}  // namespace muster::support

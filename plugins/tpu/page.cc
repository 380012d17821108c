#include "plugins/tpu/page.h"

#include <fmt/format.h>

#include "plugins/support/google/place.h"
#include "plugins/support/json_at.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;

sdk::Failure wrong(const char* what, std::string_view why) {
  return {MUSTER_E_DATA_LOSS,
          fmt::format("Cloud TPU's answer for {} cannot be understood: {}", what, why),
          {}};
}

}  // namespace

sdk::Status read_single(std::string_view json, const char* what, const ReadOne& read) {
  simdjson::dom::parser parser;
  element root;
  std::string why = support::parse_object(json, parser, root);
  if (why.empty()) why = read(root);
  if (!why.empty()) return wrong(what, why);
  return {};
}

sdk::Status read_page(std::string_view json, const char* what, const char* key, const ReadOne& read,
                      Page& out) {
  simdjson::dom::parser parser;
  element root, list;
  if (const std::string why = support::parse_object(json, parser, root); !why.empty())
    return wrong(what, why);
  if (!root[key].get(list)) {
    array items;
    if (list.get_array().get(items)) return wrong(what, fmt::format("its '{}' is no list", key));
    for (const element item : items)
      if (const std::string why = item.is_object() ? read(item) : "one of them is none";
          !why.empty())
        return wrong(what, why);
  }
  array unreachable;
  if (!root["unreachable"].get_array().get(unreachable)) {
    for (const element one : unreachable) {
      std::string_view name;
      if (!one.get_string().get(name) && support::is_text(name))
        out.unreachable.emplace_back(support::google::last_segment(name));
    }
  }
  out.next = support::text_at(root, "/nextPageToken");
  return {};
}

std::string zone_in(std::string_view name) {
  constexpr std::string_view kLocations = "/locations/";
  const size_t from = name.find(kLocations);
  if (from == std::string_view::npos) return "";
  const std::string_view zone = name.substr(from + kLocations.size());
  return std::string(zone.substr(0, zone.find('/')));
}

}  // namespace muster::tpu

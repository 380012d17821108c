#include "plugins/tpu/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/google/pages.h"
#include "plugins/support/google/place.h"
#include "plugins/support/json_at.h"
#include "plugins/support/quote_answer.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using simdjson::dom::element;
using support::StrictJson;

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
  if (why.empty()) read(StrictJson(root, why));
  if (!why.empty()) return wrong(what, why);
  return {};
}

// What is empty is left out by the API: the list, the zones and the token.
sdk::Status read_page(std::string_view json, const char* what, const char* key, const ReadOne& read,
                      Page& out) {
  simdjson::dom::parser parser;
  element root;
  std::string why = support::parse_object(json, parser, root);
  if (!why.empty()) return wrong(what, why);
  const StrictJson answer(root, why);
  for (const StrictJson& item : answer.list_or_none(support::pointer_to(key))) read(item);
  for (const StrictJson& one : answer.list_or_none("/unreachable"))
    out.unreachable.push_back(
        support::plain_answer(support::google::last_segment(one.text()), 100));
  out.next = support::google::next_token(answer);
  if (!why.empty()) return wrong(what, why);
  return {};
}

ResourceName resource_name(const StrictJson& at) {
  const std::string_view text = at.text("/name");
  ResourceName out{std::string(support::google::last_segment(text)), zone_in(text)};
  const auto is_segment = [](const std::string& part) {
    return !part.empty() && part.size() <= 253 && std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("-_.~+%").find(c) != std::string_view::npos;
    });
  };
  if (!is_segment(out.name) || !is_segment(out.zone))
    at.refuse("/name", fmt::format("is {}, which is no name", support::quote(text, 100)));
  return out;
}

std::string zone_in(std::string_view name) {
  constexpr std::string_view kLocations = "/locations/";
  const size_t from = name.find(kLocations);
  if (from == std::string_view::npos) return "";
  const std::string_view zone = name.substr(from + kLocations.size());
  return std::string(zone.substr(0, zone.find('/')));
}

}  // namespace muster::tpu

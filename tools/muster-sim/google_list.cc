// What the lists of Google's APIs have in common: pages, their tokens, masks.
#include "google_list.h"

#include <algorithm>
#include <cstdio>
#include <functional>

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>

#include "field_mask.h"
#include "google_error.h"

namespace muster::sim {
namespace {

std::size_t list_of(const Call& call) {
  return std::hash<std::string>{}(call.path + "?" + call.parameter("filter")) & 0xffffffff;
}

bool decode(const std::string& text, PageToken& token) {
  return std::sscanf(text.c_str(), "sim-%zx-%zu-%ld", &token.list, &token.start, &token.page) == 3;
}

}  // namespace

Result<PageToken> PageToken::of(const Call& call) {
  PageToken out;
  out.list = list_of(call);
  const auto text = call.parameter("pageToken");
  if (!text.empty() && (!decode(text, out) || out.list != list_of(call)))
    return Failure{"Invalid value for field 'pageToken'"};
  return out;
}

std::string PageToken::next(std::size_t to) const {
  return fmt::format("sim-{:x}-{}-{}", list, to, page + 1);
}

std::int64_t page_of_token(const std::string& token) {
  PageToken read;
  return decode(token, read) ? read.page : 1;
}

Result<Page> cut_page(const Call& call, const Google& world, std::size_t count, std::int64_t most) {
  const auto token = PageToken::of(call);
  if (!token) return Failure{token.error()};
  if (world.page_size > 0) most = std::min(most, world.page_size);
  const bool empty = world.empty_pages && token->page % 2 == 0;
  Page out;
  out.from = std::min(token->start, count);
  out.to = empty ? out.from : std::min(out.from + static_cast<std::size_t>(most), count);
  if (out.to < count) out.next = token->next(out.to);
  return out;
}

Answer google_answer(const Call& call, const std::string& json) {
  const auto mask = FieldMask::parse(call.parameter("fields"));
  if (!mask) return google_error(400, "invalidParameter", mask.error());
  Answer answer;
  const bool pretty = call.parameter("prettyPrint") != "false";
  if (call.parameter("fields").empty() && !pretty) {
    answer.append(json);
    return answer;
  }
  rapidjson::Document whole;
  whole.Parse(json.c_str());
  JsonWriter out;
  mask->write(whole, out);
  if (!pretty) {
    answer.append(out.str());
    return answer;
  }
  rapidjson::Document selected;
  selected.Parse(out.str().c_str());
  rapidjson::StringBuffer buffer;
  rapidjson::PrettyWriter<rapidjson::StringBuffer> writer(buffer);
  writer.SetIndent(' ', 2);
  selected.Accept(writer);
  answer.append(buffer.GetString() + std::string("\n"));
  return answer;
}

}  // namespace muster::sim

// Content negotiation.
#include "accept.h"

namespace muster::sim {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Cuts the piece before the separator off the text.
std::string_view take_piece(std::string_view& text, char separator) {
  const auto end = text.find(separator);
  const auto piece = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return trim(piece);
}

}  // namespace

std::optional<Form> choose_form(std::string_view accept, bool tables, bool protobuf) {
  if (trim(accept).empty()) return Form::kJson;
  while (!accept.empty()) {
    auto clause = take_piece(accept, ',');
    const auto type = take_piece(clause, ';');
    std::string_view as;
    std::string_view group;
    std::string_view version;
    while (!clause.empty()) {
      auto value = take_piece(clause, ';');
      const auto key = take_piece(value, '=');
      if (key == "as") as = value;
      if (key == "g") group = value;
      if (key == "v") version = value;
    }
    if (protobuf && type == "application/vnd.kubernetes.protobuf" && as.empty())
      return Form::kProtobuf;
    if (type != "application/json" && type != "application/*" && type != "*/*") continue;
    if (as.empty()) return Form::kJson;
    if (!tables || group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) continue;
    if (as == "Table") return Form::kTable;
    if (as == "PartialObjectMetadataList" || as == "PartialObjectMetadata")
      return Form::kMetadataOnly;
  }
  return std::nullopt;
}

}  // namespace muster::sim

#include "object.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "json.h"

namespace muster::sim {
namespace {

const std::string kVersionHere = "RESOURCE-VERSION-HERE";

// As YAML's core schema types a plain scalar; a quoted one is a text.
void write(JsonWriter& out, const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Map:
      out.open_object();
      for (const auto& entry : node) {
        out.key(entry.first.Scalar());
        write(out, entry.second);
      }
      out.close_object();
      return;
    case YAML::NodeType::Sequence:
      out.open_array();
      for (const auto& entry : node) write(out, entry);
      out.close_array();
      return;
    case YAML::NodeType::Scalar: break;
    default: out.null(); return;
  }
  const std::string& text = node.Scalar();
  std::int64_t number = 0;
  if (node.Tag() == "!") {
    out.value(text);
  } else if (text == "true" || text == "false") {
    out.value(text == "true");
  } else if (YAML::convert<std::int64_t>::decode(node, number)) {
    out.value(number);
  } else {
    out.value(text);
  }
}

std::string text_of(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

}  // namespace

void read_object(const YAML::Node& node, Problems& problems, std::vector<Object>& out) {
  YAML::Node whole = YAML::Clone(node);
  YAML::Node metadata = whole["metadata"];
  Object object;
  object.api_version = text_of(whole, "apiVersion");
  object.kind = text_of(whole, "kind");
  if (metadata && metadata.IsMap()) object.name = text_of(metadata, "name");
  if (object.api_version.empty() || object.kind.empty() || object.name.empty()) {
    problems.add(node.Mark(), "an object needs 'apiVersion', 'kind' and 'metadata: {name: ...}'");
    return;
  }
  object.name_space = text_of(metadata, "namespace");
  if (object.name_space.empty()) metadata["namespace"] = object.name_space = "default";
  if (!metadata["uid"]) metadata["uid"] = "uid-" + object.name;
  metadata["resourceVersion"] = kVersionHere;
  if (const YAML::Node labels = metadata["labels"]; labels && labels.IsMap())
    for (const auto& label : labels) object.labels[label.first.Scalar()] = label.second.Scalar();

  const auto slash = object.api_version.find('/');
  if (slash != std::string::npos) object.group = object.api_version.substr(0, slash);
  object.api = (object.group.empty() ? "/api/" : "/apis/") + object.api_version;
  object.resource = object.kind + "s";
  std::transform(object.resource.begin(), object.resource.end(), object.resource.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  JsonWriter json;
  write(json, whole);
  const std::string text = json.str();
  const auto version = text.find(kVersionHere);
  object.before_version = text.substr(0, version);
  object.after_version = text.substr(version + kVersionHere.size());
  out.push_back(std::move(object));
}

}  // namespace muster::sim

#include "plugins/kubernetes/kubeconfig_yaml.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "plugins/support/program.h"
#include "plugins/support/quote_answer.h"

namespace muster::kubernetes {
namespace {

constexpr size_t kLongestJson = 256 * 1024;
constexpr int kDeepest = 64;
// A shorter piece of a secret is too common a text to be hidden everywhere.
constexpr size_t kShortestPiece = 16;

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* word) { return text == word; });
}

void write_scalar(const YAML::Node& node, Writer& writer) {
  const std::string& text = node.Scalar();
  int64_t integer = 0;
  double number = 0;
  if (node.Tag() == "!") {  // in quotes
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  } else if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) {
    writer.Bool(true);
  } else if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})) {
    writer.Bool(false);
  } else if (YAML::convert<int64_t>::decode(node, integer)) {
    writer.Int64(integer);
  } else if (YAML::convert<double>::decode(node, number) && std::isfinite(number)) {
    writer.Double(number);
  } else {
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  }
}

bool write(const YAML::Node& node, Writer& writer, const rapidjson::StringBuffer& out, int depth) {
  if (depth > kDeepest || out.GetSize() > kLongestJson) return false;
  if (node.IsMap()) {
    writer.StartObject();
    for (const auto& item : node) {
      if (!item.first.IsScalar()) return false;
      const std::string& key = item.first.Scalar();
      writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
      if (!write(item.second, writer, out, depth + 1)) return false;
    }
    writer.EndObject();
  } else if (node.IsSequence()) {
    writer.StartArray();
    for (const auto& item : node)
      if (!write(item, writer, out, depth + 1)) return false;
    writer.EndArray();
  } else if (node.IsScalar()) {
    write_scalar(node, writer);
  } else {
    writer.Null();
  }
  return out.GetSize() <= kLongestJson;
}

std::string text_of(const YAML::Node& map, const char* key) {
  const YAML::Node node = find(map, key);
  return node.IsDefined() && node.IsScalar() ? node.Scalar() : "";
}

size_t occurrences(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

// Looks at keys as they are read. The tree of a small text can be large: an alias may stand in it a million times.
class KeyWatcher : public YAML::EventHandler {
 public:
  std::optional<RepeatedKey> found;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override { value(); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { value(); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& text) override {
    if (!open_.empty() && open_.back().map && !open_.back().has_key &&
        !open_.back().keys.insert(text).second && !found)
      found = RepeatedKey{text, mark};
    value();
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open_.push_back({});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open_.push_back({true, false, {}});
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    bool map = false;
    bool has_key = false;
    std::set<std::string> keys;
  };

  void value() {
    if (!open_.empty()) open_.back().has_key = !open_.back().has_key;
  }
  void close() {
    open_.pop_back();
    value();
  }

  std::vector<Frame> open_;
};

template <typename Take>
void each(const YAML::Node& map, const char* key, const Take& take) {
  const YAML::Node list = find(map, key);
  if (list.IsDefined())
    for (const auto& item : list) take(item);
}

}  // namespace

YAML::Node find(const YAML::Node& map, const char* key) {
  // operator[] would convert every key.
  if (map.IsDefined() && map.IsMap())
    for (const auto& item : map)
      if (item.first.IsScalar() && item.first.Scalar() == key) return item.second;
  return YAML::Node(YAML::NodeType::Undefined);
}

std::optional<RepeatedKey> repeated_key(std::string_view text) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  KeyWatcher watcher;
  parser.HandleNextDocument(watcher);
  return std::move(watcher.found);
}

std::optional<std::string> json_of(const YAML::Node& node) {
  rapidjson::StringBuffer out;
  Writer writer(out);
  if (!write(node, writer, out, 0)) return std::nullopt;
  return std::string(out.GetString(), out.GetSize());
}

void add_secret(const std::string& value, std::vector<std::string>& secrets) {
  if (value.empty()) return;
  secrets.push_back(value);
  for (size_t at = 0; (at = value.find_first_not_of(" \n", at)) != std::string::npos;) {
    const size_t end = std::min(value.find_first_of(" \n", at), value.size());
    if (end - at >= kShortestPiece) secrets.push_back(value.substr(at, end - at));
    at = end;
  }
}

void add_user_secrets(const YAML::Node& user, std::string_view file,
                      std::vector<std::string>& secrets) {
  for (const char* key : {"token", "password", "client-key-data"})
    add_secret(text_of(user, key), secrets);
  each(find(user, "auth-provider"), "config", [&](const auto& item) {
    if (item.first.IsDefined() && item.first.IsScalar() && item.second.IsScalar() &&
        support::names_secret(item.first.Scalar()))
      add_secret(item.second.Scalar(), secrets);
  });
  const YAML::Node exec = find(user, "exec");
  each(exec, "env", [&](const YAML::Node& item) {
    if (!item.IsDefined()) return;
    const std::string value = text_of(item, "value");
    // One that stands elsewhere too, such as the server's URL, is no secret. A short one, such as a region, may stand anywhere.
    const bool long_and_alone = value.size() >= kShortestPiece && occurrences(file, value) == 1;
    const std::string name = text_of(item, "name");
    if (long_and_alone || support::names_secret(name)) add_secret(value, secrets);
    // A wrong one, which may have a secret behind it.
    if (const size_t equals = name.find('='); equals != std::string::npos)
      add_secret(name.substr(equals + 1), secrets);
  });
  std::vector<std::string> arguments;
  each(exec, "args", [&](const YAML::Node& item) {
    if (item.IsDefined() && item.IsScalar()) arguments.push_back(item.Scalar());
  });
  for (const std::string& secret : support::secret_arguments(arguments))
    add_secret(secret, secrets);
}

void add_url_secret(const std::string& url, std::vector<std::string>& secrets) {
  // kubectl takes a server without a scheme.
  const bool whole = url.find("://") != std::string::npos;
  for (const std::string& secret : support::secrets_of_url(whole ? url : "http://" + url))
    add_secret(secret, secrets);
}

}  // namespace muster::kubernetes

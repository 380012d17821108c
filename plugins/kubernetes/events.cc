#include "plugins/kubernetes/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/kubernetes/pod_json.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using namespace json;

sdk::Failure not_understood(const std::string& why) {
  return {
      MUSTER_E_DATA_LOSS, "an event of the API server's watch cannot be understood: " + why, {}};
}

error_code read_status_object(value& value, Event& event) {
  return each_field(value, [&](const auto& key, auto& inside) -> error_code {
    if (key == "code") return read_number(inside, event.code);
    if (key == "message") return read_text(inside, event.status.message);
    if (key == "reason") return read_text(inside, event.status.reason);
    return SUCCESS;
  });
}

// An object that is no pod, and the text of it.
error_code read_other(value& value, Event& event) {
  std::string_view whole;
  if (auto error = value.walk().raw(whole)) return error;
  event.json.assign(whole);
  return SUCCESS;
}

// Its name and version, out of that text.
error_code read_metadata(Walk& walk, Event& event) {
  walk.open(event.json);
  value root(walk);
  return each_field(root, [&](const auto& key, auto& inside) -> error_code {
    if (!(key == "metadata")) return SUCCESS;
    return each_field(inside, [&](const auto& field, auto& text) -> error_code {
      if (field == "name") return read_text(text, event.name);
      if (field == "resourceVersion") return read_text(text, event.version);
      return SUCCESS;
    });
  });
}

}  // namespace

void EventReader::begin() { text_.clear(); }

sdk::Result<std::vector<Event>> EventReader::take(std::string_view bytes, PodList& texts) {
  std::vector<Event> events;
  size_t searched = text_.size();
  text_.append(bytes);
  const std::string_view all = text_;
  size_t from = 0;
  for (;;) {
    const size_t end = all.find('\n', searched);
    if (std::min(end, all.size()) - from > line_maximum_)
      return not_understood(fmt::format("it is longer than {} bytes", line_maximum_));
    if (end == std::string_view::npos) break;
    const std::string_view line = support::trimmed(all.substr(from, end - from));
    if (!line.empty())
      if (auto status = read(line, texts, events.emplace_back()); !status)
        return std::move(status).failure();
    from = searched = end + 1;
  }
  text_.erase(0, from);
  // A page of HTML may have no line that ends.
  if (const std::string_view rest = support::trimmed(text_); !rest.empty() && rest.front() != '{')
    return not_understood("it begins with " + support::quote(rest.substr(0, 20)));
  return events;
}

sdk::Result<std::vector<Event>> EventReader::finish(PodList& texts) {
  std::vector<Event> events;
  const std::string line = std::exchange(text_, {});
  const std::string_view rest = support::trimmed(line);
  // What was cut off is as if it had never begun.
  simdjson::dom::parser parser;
  if (rest.empty() || parser.parse(rest.data(), rest.size()).error()) return events;
  if (auto status = read(rest, texts, events.emplace_back()); !status)
    return std::move(status).failure();
  return events;
}

sdk::Status EventReader::read(std::string_view line, PodList& texts, Event& event) {
  // What the object is depends on the type, wherever that stands.
  std::string type;
  int types = 0, objects = 0;
  const auto walk = [&](const auto& take) -> error_code {
    value root(walk_);
    return each_field(root, take);
  };
  const auto read_type = [&](const auto& key, auto& inside) -> error_code {
    if (key == "object") ++objects;
    if (!(key == "type")) return SUCCESS;
    ++types;
    return read_text(inside, type);
  };
  const auto read_object = [&](const auto& key, auto& inside) -> error_code {
    if (!(key == "object")) return SUCCESS;
    if (event.kind == Event::Kind::kError) return read_status_object(inside, event);
    if (wanted_ == nullptr) return read_other(inside, event);
    event.pod = {};
    return read_pod(inside, *wanted_, texts, event.pod, &event.version);
  };
  const auto wrong = [&](error_code error) {
    return not_understood(
        fmt::format("{} ({} bytes)", simdjson::error_message(error), line.size()));
  };
  walk_.open(line);
  if (auto error = walk(read_type)) return wrong(error);
  if (!walk_.ended()) return not_understood("something follows its end");
  if (types > 1) return not_understood("type stands there twice");
  if (objects > 1) return not_understood("object stands there twice");
  if (type == "ADDED" || type == "MODIFIED") {
    event.kind = Event::Kind::kChanged;
  } else if (type == "DELETED") {
    event.kind = Event::Kind::kDeleted;
  } else if (type == "BOOKMARK") {
    event.kind = Event::Kind::kBookmark;
  } else if (type == "ERROR") {
    event.kind = Event::Kind::kError;
  } else {
    return not_understood(fmt::format("its type is {}", support::quote(type)));
  }
  if (objects == 0) return not_understood("it has no 'object'");
  walk_.rewind();
  if (auto error = walk(read_object)) return wrong(error);
  if (event.kind == Event::Kind::kError) return {};
  if (wanted_ == nullptr)
    if (auto error = read_metadata(walk_, event)) return wrong(error);
  if (event.version.empty()) return not_understood("its object has no resourceVersion");
  if (event.kind == Event::Kind::kBookmark) return {};
  if (wanted_ == nullptr && event.name.empty()) return not_understood("its object has no name");
  if (wanted_ != nullptr)
    if (const std::string odd = oddity(event.pod); !odd.empty()) return not_understood(odd);
  return {};
}

}  // namespace muster::kubernetes

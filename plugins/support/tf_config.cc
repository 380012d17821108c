#include "plugins/support/tf_config.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

constexpr int64_t kIndexMaximum = 2147483647;

const char* location_of(value& value) {
  const char* location = nullptr;
  return value.current_location().get(location) ? nullptr : location;
}

}  // namespace

sdk::Failure TfConfigReader::not_json(simdjson::error_code error) {
  const char* location = nullptr;
  if (document_.is_alive() && document_.current_location().get(location)) location = nullptr;
  return json_failure(source_, error, location);
}

sdk::Failure TfConfigReader::problem(const char* location, const std::string& pointer,
                                     const std::string& why) {
  if (in_options_) return {MUSTER_E_INVALID_ARGUMENT, why, {{"option", "/config" + pointer}}};
  const size_t offset =
      location == nullptr ? 0 : static_cast<size_t>(location - source_.text.data());
  return json_failure(source_, offset, why);
}

sdk::Status TfConfigReader::start(simdjson::ondemand::object& object) {
  const simdjson::padded_string_view text(source_.text.data(), source_.text.size(),
                                          source_.text.size() + simdjson::SIMDJSON_PADDING);
  if (auto error = parser_.iterate(text).get(document_))
    return json_failure(source_, error, nullptr);
  json_type type;
  if (auto error = document_.type().get(type)) return not_json(error);
  if (type != json_type::object)
    return problem(
        source_.text.data(), "",
        fmt::format("this is {}, not a map with 'cluster' and 'task'", type_in_words(type)));
  if (auto error = document_.get_object().get(object)) return not_json(error);
  return {};
}

sdk::Result<TfConfigFacts> TfConfigReader::facts() {
  TfConfigFacts facts;
  simdjson::ondemand::object object;
  if (auto status = start(object); !status) return std::move(status).failure();
  std::set<std::string, std::less<>> seen;
  for (auto field : object) {
    std::string_view name;
    if (auto error = field.unescaped_key().get(name)) return not_json(error);
    value value;
    if (auto error = field.value().get(value)) return not_json(error);
    if (!seen.emplace(name).second)
      return problem(location_of(value), "/" + std::string(name),
                     fmt::format("the key {} is there twice", quote(name)));
    if (auto status = key(name, value, facts); !status) return std::move(status).failure();
  }
  const char* rest = nullptr;
  if (!document_.current_location().get(rest))
    return problem(rest, "", "something follows the end of the JSON map");
  if (seen.count("cluster") != 0 && seen.count("sparseCluster") != 0)
    return problem(nullptr, "/sparseCluster",
                   "both 'cluster' and 'sparseCluster' are there; which of them is meant?");
  return facts;
}

sdk::Status TfConfigReader::key(std::string_view key, value value, TfConfigFacts& facts) {
  if (key == "cluster" || key == "sparseCluster") {
    // Read by cluster(); passing over it here looks at brackets alone.
    json_type type;
    if (auto error = value.type().get(type)) return not_json(error);
    if (type != json_type::object)
      return problem(
          location_of(value), "/" + std::string(key),
          fmt::format("{} is {}, not a map of jobs{}", quote(key), type_in_words(type),
                      type == json_type::null ? "; leave it out when there is none" : ""));
    facts.has_cluster = true;
    facts.sparse = key == "sparseCluster";
    return {};
  }
  if (key == "task") return task(value, facts);
  const bool layer = key == "rpc_layer", environment = key == "environment",
             master = key == "session_master";
  if (layer || environment || master) {
    auto text = text_or_null(key, value);
    if (!text) return std::move(text).failure();
    (layer         ? facts.rpc_layer
     : environment ? facts.environment
                   : facts.session_master) = *std::move(text);
    return {};
  }
  if (auto error = skip_strictly(value)) return not_json(error);
  return {};
}

sdk::Result<std::optional<std::string>> TfConfigReader::text_or_null(std::string_view key,
                                                                     value& value) {
  const char* location = location_of(value);
  json_type type;
  if (auto error = value.type().get(type)) return not_json(error);
  if (type == json_type::null) {
    if (auto error = skip_strictly(value)) return not_json(error);
    return std::optional<std::string>();
  }
  if (type != json_type::string)
    return problem(location, "/" + std::string(key),
                   fmt::format("{} is {}, not a text", quote(key), type_in_words(type)));
  std::string_view text;
  if (auto error = value.get_string().get(text)) return not_json(error);
  if (!is_text(text))
    return problem(location, "/" + std::string(key), fmt::format("{} has a NUL in it", quote(key)));
  return std::optional<std::string>(text);
}

sdk::Status TfConfigReader::task(value value, TfConfigFacts& facts) {
  const char* location = location_of(value);
  json_type type;
  if (auto error = value.type().get(type)) return not_json(error);
  if (type != json_type::object)
    return problem(
        location, "/task",
        fmt::format("'task' is {}, not a map of 'type' and 'index'{}", type_in_words(type),
                    type == json_type::null ? "; leave it out when there is none" : ""));
  simdjson::ondemand::object object;
  if (auto error = value.get_object().get(object)) return not_json(error);
  std::set<std::string, std::less<>> seen;
  for (auto field : object) {
    std::string_view name;
    if (auto error = field.unescaped_key().get(name)) return not_json(error);
    simdjson::ondemand::value inside;
    if (auto error = field.value().get(inside)) return not_json(error);
    if (!seen.emplace(name).second)
      return problem(location_of(inside), "/task/" + std::string(name),
                     fmt::format("the key {} of 'task' is there twice", quote(name)));
    sdk::Status status;
    if (name == "type") {
      status = task_type(inside, facts);
    } else if (name == "index") {
      status = task_index(inside, facts);
    } else if (auto error = skip_strictly(inside)) {
      status = not_json(error);
    }
    if (!status) return status;
  }
  return {};
}

// A text, or a number taken as its text, as TensorFlow does: 123456 is "123456".
sdk::Status TfConfigReader::task_type(value& value, TfConfigFacts& facts) {
  const char* location = location_of(value);
  json_type type;
  if (auto error = value.type().get(type)) return not_json(error);
  std::string_view text;
  if (type == json_type::string) {
    if (auto error = value.get_string().get(text)) return not_json(error);
  } else if (type == json_type::number) {
    text = value.raw_json_token();
    text = trimmed(text);
    if (auto error = skip_strictly(value)) return not_json(error);
  } else {
    return problem(
        location, "/task/type",
        fmt::format("'type' of 'task' is {}, not the name of a job", type_in_words(type)));
  }
  if (text.empty()) return problem(location, "/task/type", "'type' of 'task' is empty");
  if (!is_text(text)) return problem(location, "/task/type", "'type' of 'task' has a NUL in it");
  facts.task_type = text;
  return {};
}

// TensorFlow's conversion to an integer: "1" is 1, 1.9 is 1, true is 1. The last two are told.
sdk::Status TfConfigReader::task_index(value& value, TfConfigFacts& facts) {
  const char* location = location_of(value);
  const auto wrong = [&](std::string_view shown) {
    return problem(
        location, "/task/index",
        fmt::format("'index' of 'task' is {}, not a number from 0 to {}", shown, kIndexMaximum));
  };
  json_type type;
  if (auto error = value.type().get(type)) return not_json(error);
  switch (type) {
    case json_type::string: {
      std::string_view text;
      if (auto error = value.get_string().get(text)) return not_json(error);
      facts.task_index = parse_digits(trimmed(text), kIndexMaximum);
      if (!facts.task_index) return wrong(quote(text));
      return {};
    }
    case json_type::boolean: {
      bool truth = false;
      if (auto error = value.get_bool().get(truth)) return not_json(error);
      facts.task_index = truth ? 1 : 0;
      facts.warnings.push_back(
          fmt::format("{}: 'index' of 'task' is {}, taken as {} as TensorFlow does", source_.name,
                      truth, *facts.task_index));
      return {};
    }
    case json_type::number: {
      std::string_view token;
      token = value.raw_json_token();
      const std::string shown(trimmed(token));
      double number = 0;
      if (auto error = value.get_double().get(number)) return not_json(error);
      const double whole = std::trunc(number);
      if (!(whole >= 0 && whole <= static_cast<double>(kIndexMaximum)) || number < 0)
        return wrong(shown);
      facts.task_index = static_cast<int64_t>(whole);
      if (whole != number)
        facts.warnings.push_back(
            fmt::format("{}: 'index' of 'task' is {}, taken as {} as TensorFlow does", source_.name,
                        shown, *facts.task_index));
      return {};
    }
    default: return wrong(type_in_words(type));
  }
}

sdk::Status TfConfigReader::cluster(const TfConfigFacts& facts, ClusterVisitor& visitor) {
  if (!facts.has_cluster) return {};
  simdjson::ondemand::object object;
  if (auto status = start(object); !status) return status;
  const std::string_view wanted = facts.sparse ? "sparseCluster" : "cluster";
  ClusterRules rules;
  if (facts.sparse) {
    // Go writes a list without elements as null. A parameter server is told of itself alone, in a list of one
    // whose index is its own.
    rules.null_is_empty = true;
    if (facts.task_type) rules.single_job = *facts.task_type;
    rules.single_index = facts.task_index.value_or(0);
  }
  for (auto field : object) {
    std::string_view name;
    if (auto error = field.unescaped_key().get(name)) return not_json(error);
    if (name != wanted) continue;
    simdjson::ondemand::object cluster;
    if (auto error = field.value().get_object().get(cluster)) return not_json(error);
    auto found = read_cluster(host_, cluster, visitor, rules);
    if (!found) return {};
    if (found->error) return not_json(found->error);
    return problem(found->location, "/" + std::string(wanted) + found->pointer, found->why);
  }
  return {};
}

}  // namespace muster::support

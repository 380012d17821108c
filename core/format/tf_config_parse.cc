// TF_CONFIG and its "cluster" object, read. Through simdjson's DOM: it judges the whole text before anything of it is believed, and
// its code is chosen for the processor at run time, which made it twice as fast here as the on-demand front end.
#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>

#include "core/format/format.h"
#include "core/format/tf_config_quick.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

namespace dom = simdjson::dom;

Error refuse(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

const char* type_name(dom::element_type type) {
  switch (type) {
    case dom::element_type::ARRAY: return "a list";
    case dom::element_type::OBJECT: return "a map";
    case dom::element_type::INT64:
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE: return "a number";
    case dom::element_type::STRING: return "a string";
    case dom::element_type::BOOL: return "true or false";
    case dom::element_type::NULL_VALUE: return "null";
  }
  return "something else";
}

// Reads the address of a task at "cluster.worker[2]"; `label` makes that text when it is needed.
template <typename Label>
Status read_address(dom::element item, Address& address, const Label& label) {
  std::string_view text;
  if (item.get(text) != simdjson::SUCCESS) {
    const char* hint = item.is_null()
                           ? "; where a task is missing, write the job as a map of index to address"
                           : "";
    return refuse(
        fmt::format("{} is {} instead of an address{}", label(), type_name(item.type()), hint));
  }
  if (Address::try_parse(text, address)) return {};
  return refuse(fmt::format("{}: {}", label(), Address::parse(text).error().message));
}

// The index of a sparse job's key. TensorFlow runs it through int(), so "01" is 1 there as well.
Result<int32_t> read_index(std::string_view key, const std::string& where) {
  int64_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error == std::errc() && end == key.data() + key.size() && index >= 0 && index <= INT32_MAX)
    return static_cast<int32_t>(index);
  return refuse(fmt::format(
      "the key {} in {} is not an index; indices are whole numbers from 0 to 2147483647",
      quote(key), where));
}

class ClusterReader {
 public:
  // `nulls`: a job that is null has no tasks, as Go programs write an empty list (Kubeflow's sparseCluster).
  ClusterReader(std::string where, bool nulls) : where_(std::move(where)), nulls_(nulls) {}

  Result<ClusterSpec> read(dom::object object) {
    for (const auto [name, value] : object) {
      if (Status status = check_job_name(name); !status)
        return refuse(fmt::format("{}: {}", where_, status.error().message));
      if (spec_.find(name) != nullptr)
        return refuse(fmt::format("{} has the job {} twice", where_, quote(name)));
      if (Status status = read_job(name, value); !status) return std::move(status).error();
    }
    return std::move(spec_);
  }

 private:
  std::string label(std::string_view job) const {
    return fmt::format("{}.{}", where_, printable(job));
  }

  Status read_job(std::string_view name, dom::element value) {
    if (dom::array array; value.get(array) == simdjson::SUCCESS) return read_list(name, array);
    if (dom::object object; value.get(object) == simdjson::SUCCESS) return read_map(name, object);
    if (value.is_null() && nulls_) return spec_.add_job(name);
    return refuse(fmt::format("{} is {}; write a list of addresses, or a map of index to address",
                              label(name), type_name(value.type())));
  }

  Status read_list(std::string_view name, dom::array array) {
    std::vector<Task> tasks;
    tasks.reserve(array.size());
    for (const dom::element item : array) {
      Task& task = tasks.emplace_back();
      task.index = static_cast<int32_t>(tasks.size() - 1);
      Status status = read_address(
          item, task.address, [&] { return fmt::format("{}[{}]", label(name), tasks.size() - 1); });
      if (!status) return status;
    }
    return add(name, std::move(tasks));
  }

  Status read_map(std::string_view name, dom::object object) {
    std::vector<Task> tasks;
    tasks.reserve(object.size());
    for (const auto [key, value] : object) {
      auto index = read_index(key, label(name));
      if (!index) return std::move(index).error();
      Task& task = tasks.emplace_back();
      task.index = *index;
      Status status = read_address(value, task.address, [&, at = *index] {
        return fmt::format("{}[\"{}\"]", label(name), at);
      });
      if (!status) return status;
    }
    return add(name, std::move(tasks));
  }

  Status add(std::string_view name, std::vector<Task> tasks) {
    Status status = spec_.add_tasks(name, std::move(tasks));
    if (status) return status;
    return refuse(fmt::format("{}: {}", where_, status.error().message));
  }

  std::string where_;
  bool nulls_;
  ClusterSpec spec_;
};

// Parses the text, which has to be one object. `parser` owns what the object shows.
Result<dom::object> open(dom::parser& parser, std::string_view json, std::string_view what) {
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return refuse(fmt::format("{} is empty", what));
  dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    return refuse(fmt::format("{} is not JSON: {}", what, simdjson::error_message(error)));
  }
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS)
    return refuse(fmt::format("{} is {}; it has to be a map", what, type_name(root.type())));
  return object;
}

class TfConfigReader {
 public:
  Result<TfConfig> read(dom::object object) {
    for (const auto [key, value] : object) {
      if (Status status = read_member(key, value); !status) return std::move(status).error();
    }
    return std::move(config_);
  }

 private:
  Status read_member(std::string_view key, dom::element value) {
    if (key == "cluster" || key == "sparseCluster") return read_cluster(key, value);
    if (key == "task") return read_task(value);
    if (key == "rpc_layer") return read_text(key, value, config_.rpc_layer);
    if (key == "environment") return read_text(key, value, config_.environment);
    if (key == "session_master") return read_text(key, value, config_.session_master);
    return {};
  }

  Status read_cluster(std::string_view key, dom::element value) {
    if (!cluster_key_.empty()) {
      if (cluster_key_ == key) return refuse(fmt::format("'{}' stands twice", key));
      return refuse("there is a 'cluster' and a 'sparseCluster'; write one of them");
    }
    cluster_key_ = key;
    dom::object object;
    if (Status status = get_map(key, value, object); !status) return status;
    auto cluster = ClusterReader(cluster_key_, key == "sparseCluster").read(object);
    if (!cluster) return std::move(cluster).error();
    config_.cluster = std::move(*cluster);
    return {};
  }

  Status read_task(dom::element value) {
    if (has_task_) return refuse("'task' stands twice");
    has_task_ = true;
    dom::object object;
    if (Status status = get_map("task", value, object); !status) return status;
    for (const auto [key, inner] : object) {
      Status status;
      if (key == "type") status = read_type(inner);
      if (key == "index") status = read_task_index(inner);
      if (!status) return status;
    }
    return {};
  }

  // TensorFlow makes text of it: a number is the job of that name.
  Status read_type(dom::element value) {
    if (!config_.task.type.empty()) return refuse("'task.type' stands twice");
    std::string type;
    if (std::string_view text; value.get(text) == simdjson::SUCCESS) {
      type = text;
    } else if (int64_t number = 0; value.get(number) == simdjson::SUCCESS) {
      type = std::to_string(number);
    } else {
      return refuse(
          fmt::format("task.type is {}; write the name of a job", type_name(value.type())));
    }
    if (Status status = check_job_name(type); !status)
      return refuse("task.type: " + status.error().message);
    config_.task.type = std::move(type);
    return {};
  }

  Status read_task_index(dom::element value) {
    if (config_.task.index >= 0) return refuse("'task.index' stands twice");
    const auto wrong = [](std::string_view text) {
      return refuse(
          fmt::format("task.index is {}; write a whole number from 0 to 2147483647", text));
    };
    int64_t index = -1;
    if (double number = 0; value.get(number) == simdjson::SUCCESS) {
      // 1.0 is one; TensorFlow makes 1 of 1.9 as well, which hides a mistake.
      if (!(number >= 0 && number <= INT32_MAX) ||
          number != static_cast<double>(static_cast<int64_t>(number))) {
        return wrong(fmt::format("{}", number));
      }
      index = static_cast<int64_t>(number);
    } else if (std::string_view text; value.get(text) == simdjson::SUCCESS) {
      std::string_view digits = text;
      while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
      while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), index);
      if (error != std::errc() || end != digits.data() + digits.size() || index < 0 ||
          index > INT32_MAX)
        return wrong(quote(text));
    } else {
      return wrong(type_name(value.type()));
    }
    config_.task.index = index;
    return {};
  }

  // null is "not set", as for TensorFlow.
  Status read_text(std::string_view key, dom::element value, std::optional<std::string>& text) {
    if (text) return refuse(fmt::format("'{}' stands twice", key));
    if (value.is_null()) return {};
    std::string_view view;
    if (value.get(view) != simdjson::SUCCESS)
      return refuse(fmt::format("{} is {}; write a string", key, type_name(value.type())));
    if (view.find('\0') != std::string_view::npos)
      return refuse(fmt::format("{} has a NUL in it", key));
    text = view;
    return {};
  }

  Status get_map(std::string_view key, dom::element value, dom::object& object) {
    if (value.get(object) == simdjson::SUCCESS) return {};
    return refuse(fmt::format("{} is {}; it has to be a map", key, type_name(value.type())));
  }

  TfConfig config_;
  std::string cluster_key_;
  bool has_task_ = false;
};

}  // namespace

Result<ClusterSpec> cluster_from_json(std::string_view json) {
  if (auto quick = quick_cluster_from_json(json)) return std::move(*quick);
  dom::parser parser;
  auto object = open(parser, json, "cluster");
  if (!object) return std::move(object).error();
  return ClusterReader("cluster", false).read(*object);
}

Result<TfConfig> parse_tf_config(std::string_view json) {
  if (auto quick = quick_parse_tf_config(json)) return std::move(*quick);
  dom::parser parser;
  auto object = open(parser, json, "TF_CONFIG");
  if (!object) return std::move(object).error();
  return TfConfigReader().read(*object);
}

}  // namespace muster

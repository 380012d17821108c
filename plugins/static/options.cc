#include "plugins/static/options.h"

#include <fmt/format.h>

#include "plugins/support/cluster_json.h"
#include "plugins/support/json.h"

namespace muster::static_backend {
namespace {

sdk::Failure wrong(std::string message, std::string pointer) {
  return {MUSTER_E_INVALID_ARGUMENT, std::move(message), {{"option", std::move(pointer)}}};
}

class Collector : public support::ClusterVisitor {
 public:
  explicit Collector(std::vector<ListedJob>& jobs) : jobs_(jobs) {}
  void job(std::string_view name) override { jobs_.push_back({std::string(name), {}}); }
  void task(std::string_view, int64_t index, std::string_view address) override {
    jobs_.back().tasks.push_back({index, std::string(address)});
  }

 private:
  std::vector<ListedJob>& jobs_;
};

class Reader {
 public:
  Reader(const sdk::Host& host, std::string_view json)
      : host_(host), json_(json), source_{{json_.data(), json_.size()}, "options"} {}

  sdk::Result<Options> read() {
    if (auto error = parser_.iterate(json_).get(document_)) return not_json(error);
    simdjson::ondemand::object object;
    if (auto error = document_.get_object().get(object)) return not_json(error);
    for (auto field : object) {
      std::string_view key;
      if (auto error = field.unescaped_key().get(key)) return not_json(error);
      simdjson::ondemand::value value;
      if (auto error = field.value().get(value)) return not_json(error);
      bool null = false;
      if (auto error = value.is_null().get(null)) return not_json(error);
      if (null) continue;
      if (auto status = option(key, value); !status) return std::move(status).failure();
    }
    if (has_cluster_ == options_.file.has_value())
      return wrong(has_cluster_ ? "give either 'cluster_spec' or 'file', not both"
                                : "one of 'cluster_spec' and 'file' is needed",
                   has_cluster_ ? "/file" : "");
    if (options_.task_type.has_value() != has_task_id_)
      return wrong(has_task_id_ ? "'task_id' says nothing without 'task_type'"
                                : "'task_type' says nothing without 'task_id'",
                   has_task_id_ ? "/task_id" : "/task_type");
    return std::move(options_);
  }

 private:
  sdk::Failure not_json(simdjson::error_code error) {
    return support::json_failure(source_, error, nullptr);
  }

  sdk::Status option(std::string_view key, simdjson::ondemand::value& value) {
    if (key == "cluster_spec") return cluster_spec(value);
    if (key == "num_accelerators") return accelerators(value);
    if (key == "task_id") {
      has_task_id_ = true;
      if (auto error = value.get_int64().get(options_.task_id)) return not_json(error);
      return {};
    }
    std::string_view text;
    if (auto error = value.get_string().get(text)) return not_json(error);
    if (key == "file") options_.file = text;
    if (key == "master") options_.master = text;
    if (key == "task_type") options_.task_type = text;
    if (key == "environment") options_.environment = text;
    if (key == "rpc_layer") options_.rpc_layer = text;
    return {};
  }

  sdk::Status cluster_spec(simdjson::ondemand::value& value) {
    has_cluster_ = true;
    simdjson::ondemand::object cluster;
    if (auto error = value.get_object().get(cluster)) return not_json(error);
    Collector collector(options_.jobs);
    auto problem = support::read_cluster(host_, cluster, collector);
    if (!problem) return {};
    if (problem->error) return not_json(problem->error);
    return wrong(std::move(problem->why), "/cluster_spec" + problem->pointer);
  }

  sdk::Status accelerators(simdjson::ondemand::value& value) {
    simdjson::ondemand::object object;
    if (auto error = value.get_object().get(object)) return not_json(error);
    std::vector<std::pair<std::string, std::string>> counts;
    for (auto field : object) {
      std::string_view type;
      if (auto error = field.unescaped_key().get(type)) return not_json(error);
      int64_t count = 0;
      if (auto error = field.value().get_int64().get(count)) return not_json(error);
      counts.emplace_back(type, std::to_string(count));
    }
    if (counts.size() == 1) {
      options_.accelerators = {{MUSTER_ATTRIBUTE_ACCELERATOR_TYPE, counts[0].first},
                               {MUSTER_ATTRIBUTE_ACCELERATOR_COUNT, counts[0].second}};
      return {};
    }
    for (auto& [type, count] : counts)
      options_.accelerators.emplace_back(MUSTER_ATTRIBUTE_ACCELERATOR_COUNT_OF + type, count);
    return {};
  }

  const sdk::Host& host_;
  simdjson::padded_string json_;
  support::JsonSource source_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  Options options_;
  bool has_cluster_ = false;
  bool has_task_id_ = false;
};

}  // namespace

sdk::Result<Options> read_options(const sdk::Host& host, std::string_view json) {
  return Reader(host, json).read();
}

}  // namespace muster::static_backend

#include "plugins/static/options.h"

#include <fmt/format.h>

#include "plugins/support/cluster_json.h"
#include "plugins/support/options.h"

namespace muster::static_backend {
namespace {

using support::wrong_option;

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
  explicit Reader(const sdk::Host& host) : host_(host) {}

  sdk::Result<Options> read(std::string_view json) {
    auto status =
        support::walk_options(json, [this](std::string_view key, simdjson::ondemand::value& value) {
          return option(key, value);
        });
    if (wrong_cluster_) return std::move(*wrong_cluster_);
    if (!status) return std::move(status).failure();
    if (has_cluster_ == options_.file.has_value())
      return wrong_option(has_cluster_ ? "give either 'cluster_spec' or 'file', not both"
                                       : "one of 'cluster_spec' and 'file' is needed",
                          has_cluster_ ? "/file" : "");
    if (options_.task_type.has_value() != has_task_id_)
      return wrong_option(has_task_id_ ? "'task_id' says nothing without 'task_type'"
                                       : "'task_type' says nothing without 'task_id'",
                          has_task_id_ ? "/task_id" : "/task_type");
    return std::move(options_);
  }

 private:
  simdjson::error_code option(std::string_view key, simdjson::ondemand::value& value) {
    if (key == "cluster_spec") return cluster_spec(value);
    if (key == "num_accelerators") return accelerators(value);
    if (key == "task_id") {
      has_task_id_ = true;
      return value.get_int64().get(options_.task_id);
    }
    std::string_view text;
    if (auto error = value.get_string().get(text)) return error;
    if (key == "file") options_.file = text;
    if (key == "master") options_.master = text;
    if (key == "task_type") options_.task_type = text;
    if (key == "environment") options_.environment = text;
    if (key == "rpc_layer") options_.rpc_layer = text;
    return simdjson::SUCCESS;
  }

  simdjson::error_code cluster_spec(simdjson::ondemand::value& value) {
    has_cluster_ = true;
    simdjson::ondemand::object cluster;
    if (auto error = value.get_object().get(cluster)) return error;
    Collector collector(options_.jobs);
    auto problem = support::read_cluster(host_, cluster, collector);
    if (!problem) return simdjson::SUCCESS;
    if (problem->error) return problem->error;
    wrong_cluster_ = wrong_option(std::move(problem->why), "/cluster_spec" + problem->pointer);
    return simdjson::INCORRECT_TYPE;
  }

  simdjson::error_code accelerators(simdjson::ondemand::value& value) {
    simdjson::ondemand::object object;
    if (auto error = value.get_object().get(object)) return error;
    std::vector<std::pair<std::string, std::string>> counts;
    for (auto field : object) {
      std::string_view type;
      if (auto error = field.unescaped_key().get(type)) return error;
      int64_t count = 0;
      if (auto error = field.value().get_int64().get(count)) return error;
      counts.emplace_back(type, std::to_string(count));
    }
    if (counts.size() == 1) {
      options_.accelerators = {{MUSTER_ATTRIBUTE_ACCELERATOR_TYPE, counts[0].first},
                               {MUSTER_ATTRIBUTE_ACCELERATOR_COUNT, counts[0].second}};
      return simdjson::SUCCESS;
    }
    for (auto& [type, count] : counts)
      options_.accelerators.emplace_back(MUSTER_ATTRIBUTE_ACCELERATOR_COUNT_OF + type, count);
    return simdjson::SUCCESS;
  }

  const sdk::Host& host_;
  Options options_;
  std::optional<sdk::Failure> wrong_cluster_;
  bool has_cluster_ = false;
  bool has_task_id_ = false;
};

}  // namespace

sdk::Result<Options> read_options(const sdk::Host& host, std::string_view json) {
  return Reader(host).read(json);
}

}  // namespace muster::static_backend

#include "plugins/kubernetes/options.h"

#include <fmt/format.h>

#include "plugins/support/json.h"

namespace muster::kubernetes {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;

class Reader {
 public:
  explicit Reader(std::string_view json)
      : json_(json), source_{{json_.data(), json_.size()}, "options"} {}

  sdk::Result<Options> read() {
    if (auto error = walk()) return support::json_failure(source_, error, nullptr);
    // TensorFlow's default, for no mapping and for an empty one.
    if (options_.jobs.empty())
      options_.jobs = {{"worker", {{"job-name=tensorflow", "/job_to_label_mapping"}}}};
    if (options_.all_namespaces && options_.name_space)
      return wrong("'all_namespaces: true' and 'namespace' contradict each other", "/namespace");
    if (options_.location == Location::kWithinCluster && options_.kubeconfig)
      return wrong("'executable_location: within_cluster' does not read a kubeconfig",
                   "/kubeconfig");
    if (options_.location == Location::kWithinCluster && options_.context)
      return wrong("'executable_location: within_cluster' has no contexts", "/context");
    return std::move(options_);
  }

 private:
  static sdk::Failure wrong(std::string message, std::string pointer) {
    return {MUSTER_E_INVALID_ARGUMENT, std::move(message), {{"option", std::move(pointer)}}};
  }

  simdjson::error_code walk() {
    if (auto error = parser_.iterate(json_).get(document_)) return error;
    simdjson::ondemand::object object;
    if (auto error = document_.get_object().get(object)) return error;
    for (auto field : object) {
      std::string_view key;
      if (auto error = field.unescaped_key().get(key)) return error;
      value value;
      if (auto error = field.value().get(value)) return error;
      bool null = false;
      if (auto error = value.is_null().get(null)) return error;
      if (null) continue;
      if (auto error = option(key, value)) return error;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code option(std::string_view key, value& value) {
    if (key == "job_to_label_mapping") return mapping(value);
    if (key == "tf_server_port") return value.get_int64().get(options_.port);
    if (key == "page_size") return value.get_int64().get(options_.page_size);
    if (key == "all_namespaces") return value.get_bool().get(options_.all_namespaces);
    std::string_view text;
    if (auto error = value.get_string().get(text)) return error;
    if (key == "rpc_layer") options_.rpc_layer = text;
    if (key == "namespace") options_.name_space = text;
    if (key == "kubeconfig") options_.kubeconfig = text;
    if (key == "context") options_.context = text;
    if (key == "executable_location")
      options_.location = text == "within_cluster" ? Location::kWithinCluster
                          : text == "off_cluster"  ? Location::kOffCluster
                                                   : Location::kAuto;
    return simdjson::SUCCESS;
  }

  simdjson::error_code mapping(value& value) {
    simdjson::ondemand::object object;
    if (auto error = value.get_object().get(object)) return error;
    for (auto field : object) {
      std::string_view job;
      if (auto error = field.unescaped_key().get(job)) return error;
      options_.jobs.push_back({std::string(job), {}});
      auto& selectors = options_.jobs.back().selectors;
      const std::string pointer = "/job_to_label_mapping/" + std::string(job);
      simdjson::ondemand::value given;
      if (auto error = field.value().get(given)) return error;
      json_type type;
      if (auto error = given.type().get(type)) return error;
      std::string_view text;
      if (type == json_type::string) {
        // One selector, not its characters (K8S-9).
        if (auto error = given.get_string().get(text)) return error;
        selectors.push_back({std::string(text), pointer});
        continue;
      }
      simdjson::ondemand::array array;
      if (auto error = given.get_array().get(array)) return error;
      for (auto element : array) {
        if (auto error = element.get_string().get(text)) return error;
        selectors.push_back({std::string(text), fmt::format("{}/{}", pointer, selectors.size())});
      }
    }
    return simdjson::SUCCESS;
  }

  simdjson::padded_string json_;
  support::JsonSource source_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
  Options options_;
};

}  // namespace

sdk::Result<Options> read_options(std::string_view json) { return Reader(json).read(); }

}  // namespace muster::kubernetes

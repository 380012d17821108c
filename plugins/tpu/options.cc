#include "plugins/tpu/options.h"

#include "plugins/support/google/options.h"
#include "plugins/support/options.h"
#include "plugins/support/text.h"

namespace muster::tpu {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;
using support::wrong_option;

// There is no scope that only reads.
constexpr const char* kScope = "https://www.googleapis.com/auth/cloud-platform";

class Reader {
 public:
  sdk::Result<Options> read(std::string_view json) {
    out_.credentials.scopes = kScope;
    auto walked = support::walk_options(
        json, [this](std::string_view key, value& value) { return option(key, value); });
    if (!walked) return std::move(walked).failure();
    while (!out_.endpoint.empty() && out_.endpoint.back() == '/') out_.endpoint.pop_back();
    return check();
  }

 private:
  simdjson::error_code option(std::string_view key, value& value) {
    if (key == "task_id") return value.get_int64().get(out_.task_id.emplace());
    if (key == "port") return value.get_int64().get(out_.port);
    if (key == "tpu") return tpu(value);
    std::string_view text;
    if (auto error = value.get_string().get(text)) return error;
    support::google::take_credential_option(key, text, out_.credentials);
    for (const auto& [name, out] : {std::pair<const char*, std::string*>{"project", &out_.project},
                                    {"zone", &out_.zone},
                                    {"queued_resource", &out_.queued_resource},
                                    {"job_name", &out_.job},
                                    {"rpc_layer", &out_.rpc_layer},
                                    {"coordinator_name", &out_.coordinator_name},
                                    {"coordinator_address", &out_.coordinator_address},
                                    {"api_version", &out_.api_version},
                                    {"endpoint", &out_.endpoint},
                                    {"discovery_url", &out_.discovery_url}})
      if (key == name) *out = text;
    if (key == "address") out_.external = text == "external";
    if (key == "wait") out_.wait = text == "healthy";
    if (key == "health") out_.health_counts = text != "warn";
    return simdjson::SUCCESS;
  }

  // As in TensorFlow a blank one is none.
  void add(std::string_view text) {
    if (const std::string_view name = support::trimmed(text); !name.empty())
      out_.tpu.emplace_back(name);
  }

  simdjson::error_code tpu(value& value) {
    json_type type;
    if (auto error = value.type().get(type)) return error;
    std::string_view text;
    if (type == json_type::string) {
      if (auto error = value.get_string().get(text)) return error;
      add(text);
      return simdjson::SUCCESS;
    }
    simdjson::ondemand::array list;
    if (auto error = value.get_array().get(list)) return error;
    for (auto item : list) {
      if (auto error = item.get_string().get(text)) return error;
      add(text);
    }
    return simdjson::SUCCESS;
  }

  sdk::Result<Options> check() {
    if (!out_.tpu.empty() && !out_.queued_resource.empty())
      return wrong_option(
          "'tpu' says which TPU it is, and so does 'queued_resource': one can be given",
          "/queued_resource");
    if (!out_.endpoint.empty() && !out_.discovery_url.empty())
      return wrong_option(
          "'endpoint' says where the API is, and so does 'discovery_url': one can be given",
          "/discovery_url");
    if (out_.coordinator_address.empty() && !out_.coordinator_name.empty())
      return wrong_option(
          "'coordinator_name' needs a 'coordinator_address': nobody starts a server for it here",
          "/coordinator_name");
    if (out_.coordinator_name.empty() && !out_.coordinator_address.empty())
      return wrong_option("'coordinator_address' needs a 'coordinator_name', which is its job",
                          "/coordinator_address");
    if (out_.coordinator_name == out_.job)
      return wrong_option(
          "'coordinator_name' is also the job of the workers ('job_name'), which it would replace",
          "/coordinator_name");
    if (auto status = support::google::check_credential_options(out_.credentials); !status)
      return std::move(status).failure();
    return std::move(out_);
  }

  Options out_;
};

}  // namespace

sdk::Result<Options> read_options(std::string_view json) { return Reader().read(json); }

}  // namespace muster::tpu

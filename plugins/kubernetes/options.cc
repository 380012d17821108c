#include "plugins/kubernetes/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/options.h"

namespace muster::kubernetes {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;
using support::wrong_option;

class Reader {
 public:
  sdk::Result<Options> read(std::string_view json) {
    auto status = support::walk_options(
        json, [this](std::string_view key, value& value) { return option(key, value); });
    if (!status) return std::move(status).failure();
    if (sources_.size() > 1)
      return wrong_option(
          fmt::format("'{}' and '{}' both say who the members are: one of them can be given",
                      sources_[0], sources_[1]),
          "/" + sources_[1]);
    // TensorFlow's default, for no mapping and for an empty one.
    if (options_.finder == nullptr && options_.service.empty() && options_.jobs.empty())
      options_.jobs = {{"worker", {{"job-name=tensorflow", "/job_to_label_mapping"}}}};
    if (!options_.jobs.empty() && !options_.as_job.empty())
      return wrong_option(
          "'as_job' is for the finders; 'job_to_label_mapping' names its jobs itself", "/as_job");
    if (options_.jobs.empty() && options_.all_namespaces)
      return wrong_option(
          fmt::format("'{}' is in one namespace: 'all_namespaces' does not fit", sources_[0]),
          "/all_namespaces");
    if (!options_.service.empty() && options_.address != AddressKind::kPodIp)
      return wrong_option("a service's endpoints have no address but their own", "/address");
    if (options_.all_namespaces && options_.name_space)
      return wrong_option("'all_namespaces: true' and 'namespace' contradict each other",
                          "/namespace");
    if (options_.location == Location::kWithinCluster && options_.kubeconfig)
      return wrong_option("'executable_location: within_cluster' does not read a kubeconfig",
                          "/kubeconfig");
    if (options_.location == Location::kWithinCluster && options_.context)
      return wrong_option("'executable_location: within_cluster' has no contexts", "/context");
    return std::move(options_);
  }

 private:
  simdjson::error_code option(std::string_view key, value& value) {
    if (key == "job_to_label_mapping") return mapping(value);
    if (key == "port") return port_rule(value, options_.any_port);
    if (key == "ports") return ports(value);
    if (key == "tf_server_port") return value.get_int64().get(options_.port);
    if (key == "watch_silence") return value.get_int64().get(options_.watch_silence);
    if (key == "page_size") return value.get_int64().get(options_.page_size);
    if (key == "all_namespaces") return value.get_bool().get(options_.all_namespaces);
    std::string_view text;
    if (auto error = value.get_string().get(text)) return error;
    if (key == "rpc_layer") options_.rpc_layer = text;
    if (key == "namespace") options_.name_space = text;
    if (key == "kubeconfig") options_.kubeconfig = text;
    if (key == "context") options_.context = text;
    if (key == "as_job") options_.as_job = text;
    if (key == "cluster_domain") options_.cluster_domain = text;
    if (key == "pod_info") options_.pod_info = text;
    if (key == "executable_location")
      options_.location = text == "within_cluster" ? Location::kWithinCluster
                          : text == "off_cluster"  ? Location::kOffCluster
                                                   : Location::kAuto;
    if (key == "address")
      options_.address = text == "dns"         ? AddressKind::kDns
                         : text == "node_ip"   ? AddressKind::kNodeIp
                         : text == "host_port" ? AddressKind::kHostPort
                                               : AddressKind::kPodIp;
    if (key == "ip_family")
      options_.family = text == "ipv4"   ? IpFamily::kIpv4
                        : text == "ipv6" ? IpFamily::kIpv6
                                         : IpFamily::kAny;
    if (key == "require")
      options_.require = text == "ready"     ? Require::kReady
                         : text == "address" ? Require::kAddress
                                             : Require::kRunning;
    if (key == "service") {
      options_.service = text;
      sources_.emplace_back(key);
    }
    for (const Finder& finder : finders()) {
      if (key != finder.option) continue;
      options_.finder = &finder;
      options_.object = text;
      sources_.emplace_back(key);
    }
    return simdjson::SUCCESS;
  }

  static simdjson::error_code port_rule(value& value, PortRule& rule) {
    json_type type;
    if (auto error = value.type().get(type)) return error;
    if (type == json_type::number) return value.get_int64().get(rule.number);
    std::string_view text;
    if (type == json_type::string) {
      if (auto error = value.get_string().get(text)) return error;
      rule.name = text;
      return simdjson::SUCCESS;
    }
    if (auto error = value["annotation"].get_string().get(text)) return error;
    rule.annotation = text;
    return simdjson::SUCCESS;
  }

  simdjson::error_code ports(value& value) {
    simdjson::ondemand::object object;
    if (auto error = value.get_object().get(object)) return error;
    for (auto field : object) {
      std::string_view job;
      if (auto error = field.unescaped_key().get(job)) return error;
      PortRule& rule = options_.ports[std::string(job)];
      simdjson::ondemand::value given;
      if (auto error = field.value().get(given)) return error;
      if (auto error = port_rule(given, rule)) return error;
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code mapping(value& value) {
    simdjson::ondemand::object object;
    if (auto error = value.get_object().get(object)) return error;
    sources_.emplace_back("job_to_label_mapping");
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

  Options options_;
  std::vector<std::string> sources_;  // the keys that say who the members are
};

}  // namespace

const PortRule& Options::port_of(const std::string& job) const {
  const auto own = ports.find(job);
  return own == ports.end() ? any_port : own->second;
}

Wanted Options::wanted() const {
  Wanted wanted;
  wanted.ports = address == AddressKind::kHostPort;
  const auto add = [&](const PortRule& rule) {
    wanted.ports = wanted.ports || !rule.name.empty();
    auto& keys = wanted.annotations;
    if (!rule.annotation.empty() &&
        std::find(keys.begin(), keys.end(), rule.annotation) == keys.end())
      keys.push_back(rule.annotation);
  };
  add(any_port);
  for (const auto& [job, rule] : ports) add(rule);
  return wanted;
}

sdk::Result<Options> read_options(std::string_view json) { return Reader().read(json); }

}  // namespace muster::kubernetes

#include "plugins/gce/options.h"

#include <fmt/format.h>

#include "plugins/support/google/options.h"
#include "plugins/support/options.h"
#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using simdjson::ondemand::json_type;
using simdjson::ondemand::value;
using support::wrong_option;

constexpr const char* kScope = "https://www.googleapis.com/auth/compute.readonly";

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
    if (key == "port") return port(value);
    if (key == "interface") return interface(value);
    if (key == "rank") return rank(value);
    std::string_view text;
    if (auto error = value.get_string().get(text)) return error;
    support::google::take_credential_option(key, text, out_.credentials);
    for (const auto& [name, out] : {std::pair<const char*, std::string*>{"project", &out_.project},
                                    {"zone", &out_.zone},
                                    {"region", &out_.region},
                                    {"instance_group", &out_.group},
                                    {"filter", &out_.filter},
                                    {"tag", &out_.tag},
                                    {"task_type", &out_.job},
                                    {"rpc_layer", &out_.rpc_layer},
                                    {"endpoint", &out_.endpoint}})
      if (key == name) *out = text;
    if (key == "address")
      out_.address = text == "external"        ? AddressKind::kExternal
                     : text == "internal_ipv6" ? AddressKind::kInternalIpv6
                     : text == "external_ipv6" ? AddressKind::kExternalIpv6
                     : text == "dns"           ? AddressKind::kDns
                     : text == "dns_global"    ? AddressKind::kDnsGlobal
                                               : AddressKind::kInternal;
    return simdjson::SUCCESS;
  }

  // The members of an object that are texts.
  template <typename Take>
  static simdjson::error_code texts(value& value, const Take& take) {
    simdjson::ondemand::object object;
    if (auto error = value.get_object().get(object)) return error;
    for (auto field : object) {
      std::string_view key, text;
      if (auto error = field.unescaped_key().get(key)) return error;
      if (auto error = field.value().get_string().get(text)) return error;
      take(key, text);
    }
    return simdjson::SUCCESS;
  }

  simdjson::error_code port(value& value) {
    json_type type;
    if (auto error = value.type().get(type)) return error;
    if (type == json_type::number) return value.get_int64().get(out_.port.number);
    std::string_view name;
    if (type == json_type::string) {
      if (auto error = value.get_string().get(name)) return error;
      out_.port.name = name;
      return simdjson::SUCCESS;
    }
    return texts(value, [&](std::string_view, std::string_view key) { out_.port.metadata = key; });
  }

  simdjson::error_code interface(value& value) {
    json_type type;
    if (auto error = value.type().get(type)) return error;
    if (type == json_type::number) return value.get_int64().get(out_.interface.number);
    return texts(value, [&](std::string_view key, std::string_view name) {
      (key == "network" ? out_.interface.network : out_.interface.subnetwork) = name;
    });
  }

  simdjson::error_code rank(value& value) {
    json_type type;
    if (auto error = value.type().get(type)) return error;
    if (type != json_type::string)
      return texts(value, [&](std::string_view key, std::string_view name) {
        out_.rank_by = key == "label" ? RankBy::kLabel : RankBy::kMetadata;
        out_.rank_key = name;
      });
    std::string_view word;
    if (auto error = value.get_string().get(word)) return error;
    out_.rank_by = word == "physical_host" ? RankBy::kPhysicalHost : RankBy::kName;
    return simdjson::SUCCESS;
  }

  sdk::Result<Options> check() {
    const Options& out = out_;
    if (out.group.empty() && out.filter.empty() && out.tag.empty())
      return wrong_option(
          "nothing says who the members are: give 'instance_group', 'filter' or 'tag'", "");
    if (!out.group.empty() && (!out.filter.empty() || !out.tag.empty()))
      return wrong_option(
          "'instance_group' says who the members are, and so does 'filter' or 'tag': one of "
          "them can be given",
          out.filter.empty() ? "/tag" : "/filter");
    if (!out.zone.empty() && !out.region.empty())
      return wrong_option(
          "'zone' is of a zonal group and 'region' of a regional one: one of them can be "
          "given",
          "/region");
    if (out.group.empty() && !out.region.empty())
      return wrong_option(
          "'region' is for 'instance_group': a filter has one 'zone', or all of them", "/region");
    if (out.group.empty() && !out.port.name.empty())
      return wrong_option(
          fmt::format("the named port {} is the group's, and there is no 'instance_group'",
                      support::quote(out.port.name)),
          "/port");
    if (auto status = support::google::check_credential_options(out.credentials); !status)
      return std::move(status).failure();
    return std::move(out_);
  }

  Options out_;
};

}  // namespace

std::string Options::rank_rule() const {
  switch (rank_by) {
    case RankBy::kName: return "natural order of names";
    case RankBy::kPhysicalHost: return "physical host, then natural order of names";
    case RankBy::kLabel: return fmt::format("label {}", support::quote(rank_key));
    case RankBy::kMetadata: return fmt::format("metadata {}", support::quote(rank_key));
  }
  return "";
}

sdk::Result<Options> read_options(std::string_view json) { return Reader().read(json); }

}  // namespace muster::gce

// The options of the gce backend, as they are after create.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/support/google/credentials.h"

namespace muster::gce {

// What stands before the port in a task's address.
enum class AddressKind { kInternal, kExternal, kInternalIpv6, kExternalIpv6, kDns, kDnsGlobal };

// Which of an instance's network interfaces: one of these, or the first.
struct InterfaceRule {
  int64_t number = 0;
  std::string network, subnetwork;  // their names
};

// Where a port is found: one of these.
struct PortRule {
  int64_t number = 8470;
  std::string name;      // of the group's named ports
  std::string metadata;  // the key of an instance's metadata
};

enum class RankBy { kName, kPhysicalHost, kLabel, kMetadata };

struct Options {
  std::string project;  // "": found
  std::string zone, region;
  std::string group;   // `instance_group`; "" when a filter says who the members are
  std::string filter;  // as the API takes it
  std::string tag;

  std::string job = "worker";  // `task_type`
  std::optional<int64_t> task_id;
  std::string rpc_layer = "grpc";
  PortRule port;
  AddressKind address = AddressKind::kInternal;
  InterfaceRule interface;
  RankBy rank_by = RankBy::kName;
  std::string rank_key;  // of the label or the metadata

  std::string endpoint;  // a base URL without a slash at its end; "": the universe's
  support::google::CredentialOptions credentials;

  // In words: "label 'index'".
  std::string rank_rule() const;
};

// `json` was checked against the schema. INVALID_ARGUMENT with an `option` detail for what a schema cannot say.
sdk::Result<Options> read_options(std::string_view json);

}  // namespace muster::gce

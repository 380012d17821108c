// The gce backend: the instances of a Compute Engine group, or of a filter, are its tasks.
#include <fmt/format.h>

#include <muster/plugin.hpp>
#include <optional>

#include "plugins/gce/compute.h"
#include "plugins/gce/members.h"
#include "plugins/gce/options.h"
#include "plugins/gce/own_address.h"
#include "plugins/gce/planned.h"
#include "plugins/support/checked_push.h"
#include "plugins/support/google/metadata.h"
#include "plugins/support/google/permissions.h"
#include "plugins/support/google/place.h"
#include "plugins/support/google/vm_watch.h"
#include "plugins/support/text.h"

namespace muster::gce {
namespace {

using support::quote;
using support::google::Credentials;
using support::google::Metadata;
using support::google::Notices;

// clang-format off
MUSTER_DESCRIPTOR({
  "name": "gce",
  "version": "0.1.0",
  "abi": {"major": 1, "minor": 0},
  "description": "Instances of a Compute Engine group, or by filter or network tag, from the Compute Engine API.",
  "license": "Apache-2.0",
  "services": ["muster.environment/1", "muster.clock/1", "muster.http/1", "muster.process/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "project": {"description": "The project's id. Default: GOOGLE_CLOUD_PROJECT, the credentials', the metadata server's.", "type": "string", "minLength": 1},
      "zone": {"description": "Where a zonal group is, or the instances of a filter. Default: of a group this VM's own; of a filter all zones.", "type": "string", "pattern": "^[a-z][-a-z0-9]*$"},
      "region": {"description": "Where a regional managed group is.", "type": "string", "pattern": "^[a-z][-a-z0-9]*$"},
      "instance_group": {"description": "Name of an instance group, managed or not.", "type": "string", "pattern": "^[a-z][-a-z0-9]*$"},
      "filter": {"description": "Who the members are, as the API's lists take it: labels.job = vintage", "type": "string", "minLength": 1},
      "tag": {"description": "Who the members are: those with this network tag; with 'filter' those of it that have the tag.", "type": "string", "minLength": 1},
      "port": {
        "description": "The port of every task: a number, the name of one of the group's named ports, or {metadata: KEY}.",
        "type": ["integer", "string", "object"],
        "minimum": 1,
        "maximum": 65535,
        "minLength": 1,
        "required": ["metadata"],
        "additionalProperties": false,
        "properties": {"metadata": {"description": "Key of the instances' metadata that has the port.", "type": "string", "minLength": 1}},
        "default": 8470
      },
      "task_type": {"description": "The job that the instances are.", "type": "string", "minLength": 1, "default": "worker"},
      "task_id": {"description": "Which task this process is. Default: found by the metadata server.", "type": "integer", "minimum": 0},
      "rpc_layer": {"description": "Scheme of master addresses; empty for none.", "type": "string", "default": "grpc"},
      "address": {
        "description": "internal: the IPv4 address in its network (IPv6 where there is no other). dns: NAME.ZONE.c.PROJECT.internal, or its custom host name. dns_global: NAME.c.PROJECT.internal.",
        "enum": ["internal", "external", "internal_ipv6", "external_ipv6", "dns", "dns_global"],
        "default": "internal"
      },
      "interface": {
        "description": "The network interface: its number, or {network: NAME} or {subnetwork: NAME}.",
        "type": ["integer", "object"],
        "minimum": 0,
        "maximum": 255,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
        "properties": {
          "network": {"description": "The one in this network.", "type": "string", "minLength": 1},
          "subnetwork": {"description": "The one in this subnetwork.", "type": "string", "minLength": 1}
        },
        "default": 0
      },
      "rank": {
        "description": "name: natural order of names. physical_host: neighbours first, for placement policies. Or by the number in {label: KEY} or {metadata: KEY}.",
        "type": ["string", "object"],
        "pattern": "^(name|physical_host)$",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": false,
        "properties": {
          "label": {"description": "Key of the label that has the rank.", "type": "string", "minLength": 1},
          "metadata": {"description": "Key of the metadata that has the rank.", "type": "string", "minLength": 1}
        },
        "default": "name"
      },
      "endpoint": {"description": "Base URL of the API with its path: https://compute.googleapis.com/compute/v1. For private endpoints and tests.", "type": "string", "pattern": "^https?://[^ ?#]+$"},
      "credentials": {
        "description": "default: Application Default Credentials. gcloud: the token of gcloud's own login. none: no token.",
        "enum": ["default", "gcloud", "none"],
        "default": "default"
      },
      "credentials_file": {"description": "A credential file, in place of GOOGLE_APPLICATION_CREDENTIALS.", "type": "string", "minLength": 1},
      "access_token": {"description": "An access token.", "type": "string", "minLength": 1, "writeOnly": true},
      "access_token_file": {"description": "A file with an access token.", "type": "string", "minLength": 1},
      "quota_project": {"description": "The project whose quota counts. Default: GOOGLE_CLOUD_QUOTA_PROJECT, the credential file's.", "type": "string", "minLength": 1},
      "universe_domain": {"description": "Whose APIs. Default: the credentials', which is googleapis.com.", "type": "string", "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"}
    }
  }
})
// clang-format on

std::vector<std::string> needed_permissions(const Options& options) {
  std::vector<std::string> out;
  if (!options.group.empty()) {
    // Which of the two is not known before it is asked.
    out.emplace_back("compute.instanceGroupManagers.list");
    out.emplace_back("compute.instanceGroups.list");
  }
  if (!options.port.name.empty()) out.emplace_back("compute.instanceGroups.get");
  out.emplace_back("compute.instances.list");
  return out;
}

class Gce {
 public:
  static sdk::Result<std::unique_ptr<Gce>> create(const sdk::Host&, std::string_view options) {
    auto read = read_options(options);
    if (!read) return std::move(read).failure();
    return std::make_unique<Gce>(*std::move(read));
  }

  explicit Gce(Options options)
      : options_(std::move(options)), credentials_(options_.credentials) {}

  sdk::Status resolve(sdk::Call& call) {
    own_addresses_.reset();
    if (auto found = credentials_.find(call); !found) return found;
    auto place = find_place(call);
    if (!place) return std::move(place).failure();
    auto found = ask(*place, call);
    if (!found) return std::move(found).failure();
    if (auto status = push(found->members, found->port, call); !status) return status;
    if (Metadata::expected(call))
      if (auto status = find_own_id(call); !status) return status;
    say_identity(found->members, call);
    return {};
  }

  // What can be kept over the questions is found once, for what a call reads it keeps.
  sdk::Status watch(sdk::Call& call) {
    own_addresses_.reset();
    std::optional<Place> place;
    const auto ask_again = [&]() -> sdk::Status {
      if (!place) {
        if (auto found = credentials_.find(call); !found) return found;
        auto here = find_place(call);
        if (!here) return std::move(here).failure();
        place = *std::move(here);
      }
      auto found = ask(*place, call);
      if (!found) return std::move(found).failure();
      known_ = *std::move(found);
      return find_own_id(call);
    };
    const auto say = [&](const Notices& notices) -> sdk::Status {
      Members members = known_->members;
      tell(notices, members, call);
      if (auto status = push(members, known_->port, call); !status) return status;
      say_identity(members, call);
      return {};
    };
    return support::google::watch_vm(watched_, ask_again, say, call);
  }

  sdk::Status permissions(sdk::Call& call, const sdk::PermissionsRequest& request) {
    return support::google::say_permissions(needed_permissions(options_), "roles/compute.viewer",
                                            options_.project, credentials_, request, call);
  }

  sdk::Status plan(sdk::Call& call, int64_t members) {
    return say_planned(options_, credentials_, members, call);
  }

 private:
  struct Found {
    Members members;
    int64_t port;
  };
  sdk::Result<Found> ask(const Place& place, sdk::Call& call) {
    call.host().log(MUSTER_LOG_DEBUG,
                    fmt::format("gce: project {}{}{}, {}", quote(place.project),
                                place.scope.empty() ? "" : ", ", place.scope, place.base));
    Compute compute(credentials_, place, options_, call);
    auto members = options_.group.empty() ? compute.selected() : compute.of_group(managed_);
    if (!members) return std::move(members).failure();
    return Found{*std::move(members),
                 options_.port.name.empty() ? options_.port.number : compute.named_port()};
  }

  sdk::Result<Place> find_place(const sdk::Call& call) const {
    Place out;
    out.base = !options_.endpoint.empty()
                   ? options_.endpoint
                   : fmt::format("https://compute.{}/compute/v1", credentials_.universe());
    auto project = support::google::find_project(options_.project, credentials_, call);
    if (!project) return std::move(project).failure();
    out.project = *std::move(project);
    if (options_.group.empty()) return out;
    std::string zone = options_.zone;
    if (zone.empty() && options_.region.empty()) {
      auto found = support::google::own_zone("region", call);
      if (!found) return std::move(found).failure();
      zone = *std::move(found);
    }
    out.scope = zone.empty() ? "regions/" + options_.region : "zones/" + zone;
    return out;
  }

  // What is heard of this machine, of the member that it is.
  void tell(const Notices& notices, Members& members, sdk::Call& call) const {
    if (own_id_.empty()) return;
    for (Member& member : members.members) {
      if (!member.instance || member.instance->id != own_id_ || !member.missing.empty()) continue;
      member.missing = notices.preempted();
      if (!member.missing.empty()) continue;
      member.maintenance = notices.maintenance();
      if (const std::string warning = notices.warning(member.name); !warning.empty())
        call.add_warning(warning);
    }
  }

  sdk::Status push(const Members& members, int64_t port, sdk::Call& call) const {
    const Options& options = options_;
    support::CheckedPush checked(call);
    if (!options.rpc_layer.empty())
      checked.set_attribute(MUSTER_ATTRIBUTE_RPC_LAYER, options.rpc_layer);
    checked.set_attribute("rank", options.rank_rule());
    checked.add_job(options.job);
    if (members.expected) checked.set_expected(options.job, *members.expected);
    for (const Member& member : members.members) {
      if (checked.stopped()) break;
      if (!member.missing.empty() || !member.instance) {
        checked.add_missing(options.job, member.index, member.name, member.missing);
        continue;
      }
      const Instance& instance = *member.instance;
      checked.add_task({options.job, member.index, member.name, instance.host,
                        instance.port != 0 ? instance.port : port});
      const auto say = [&](const char* key, const std::string& value) {
        if (!value.empty()) checked.set_attribute(key, value);
      };
      say(MUSTER_ATTRIBUTE_UID, instance.id);
      say(MUSTER_ATTRIBUTE_ZONE, instance.zone);
      say(MUSTER_ATTRIBUTE_HOST, instance.physical_host);
      say("machine.type", instance.machine_type);
      say("provisioning", instance.provisioning);
      say("template", member.template_name);
      say("health", member.health);
      say("maintenance", member.maintenance);
      say("accelerator.model", instance.accelerator);
      if (instance.device_count == 0) continue;
      say(MUSTER_ATTRIBUTE_ACCELERATOR_TYPE, instance.device);
      say(MUSTER_ATTRIBUTE_ACCELERATOR_COUNT, std::to_string(instance.device_count));
    }
    return checked.end();
  }

  // The instance id is that of one machine for ever, where a name goes from one to the next. Where nobody says it (in a pod on the network
  // of its node, say) the addresses do: on a machine of Google Cloud alone, for elsewhere others have the same.
  sdk::Status find_own_id(sdk::Call& call) {
    if (!own_id_.empty()) return {};
    if (!own_addresses_) own_addresses_ = own_addresses(call);
    auto id = Metadata::get("instance/id", "find out which instance this is", call);
    if (id) {
      own_id_ = id->value_or("");  // a pod has none
      return {};
    }
    if (call.cancelled()) return std::move(id).failure();
    call.host().log(MUSTER_LOG_DEBUG,
                    "gce: the metadata server does not say which instance this is");
    return {};
  }

  void say_identity(const Members& members, sdk::Call& call) const {
    if (options_.task_id)
      call.set_identity(options_.job, *options_.task_id, {}, "the option task_id says so");
    if (own_id_.empty()) return say_identity_by_address(members, call);
    for (const Member& member : members.members) {
      if (!member.instance || member.instance->id != own_id_) continue;
      call.set_identity(
          options_.job, member.index, member.name,
          fmt::format("the metadata server says that this is instance {}, which is {}", own_id_,
                      quote(member.name)));
    }
  }

  void say_identity_by_address(const Members& members, sdk::Call& call) const {
    if (!own_addresses_) return;
    const Member* own = nullptr;
    for (const Member& member : members.members) {
      if (!member.instance || !member.missing.empty() ||
          own_addresses_->count(address_bytes(member.instance->host)) == 0)
        continue;
      if (own != nullptr) return;  // of two networks
      own = &member;
    }
    if (own != nullptr)
      call.set_identity(options_.job, own->index, own->name,
                        fmt::format("this machine has the address {} of {}",
                                    quote(own->instance->host), quote(own->name)));
  }

  Options options_;
  Credentials credentials_;
  int managed_ = -1;                        // whether the group is; -1: not known yet
  std::string own_id_;                      // of this machine, which it keeps
  std::optional<Addresses> own_addresses_;  // of this call, where they are looked at
  std::optional<Found> known_;              // the last, of a watch
  support::google::Watched watched_;
};

}  // namespace
}  // namespace muster::gce

MUSTER_PLUGIN(muster::gce::Gce, "gce", "0.1.0")

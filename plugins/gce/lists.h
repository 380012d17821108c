// The lists of Compute Engine, page by page: what is to be asked next, and what has come. Knows nothing of networks.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/gce/group.h"
#include "plugins/gce/instance.h"
#include "plugins/gce/options.h"
#include "plugins/support/google/api.h"
#include "plugins/support/google/pages.h"

namespace muster::gce {

// Where it is asked, as it stands after looking for it.
struct Place {
  std::string base;  // ".../compute/v1" without a slash at its end
  std::string project;
  std::string scope;  // of the group: "zones/Z" or "regions/R"
};

// A question about the path below the project; the query ends with '&' where there is one.
support::google::Question compute_question(const Place& place, const std::string& path,
                                           const std::string& query);

// "instance group 'grape' in 'zones/europe-west9-b' of project 'orchard'"
std::string group_in_words(const Place& place, const Options& options);

// All members of the group. A managed group is asked for its plan, which is one page unless the group has pages on. `managed`: what
// was found out before; -1 for nothing: then one that is not managed costs one request more.
class GroupList {
 public:
  GroupList(const Place& place, const Options& options, int managed)
      : place_(place),
        options_(options),
        known_(managed >= 0),
        managed_(managed != 0),
        what_(group_in_words(place, options)) {}

  support::google::Question question() const;
  // Whether a 404 is an answer to that: not managed, or not there at all, which the other question tells.
  bool may_be_absent() const { return !known_ && managed_ && pages_.number() == 1; }
  bool done() const { return pages_.done(); }
  sdk::Status pause(sdk::Call& call) const { return pages_.pause(call); }
  sdk::Status take(const sdk::Response& response);

  const std::vector<GroupMember>& members() const { return members_; }
  bool managed() const { return managed_; }

 private:
  const Place& place_;
  const Options& options_;
  bool known_, managed_;
  std::string what_;
  support::google::Pages pages_;
  std::vector<GroupMember> members_;
};

// The instances of one zone, or with an empty zone of all. With `names` those alone, else those of the options' filter.
class InstanceList {
 public:
  InstanceList(const Place& place, const Options& options, std::string zone,
               const std::vector<std::string>& names = {});

  support::google::Question question() const;
  static bool may_be_absent() { return false; }
  bool done() const { return pages_.done(); }
  sdk::Status pause(sdk::Call& call) const { return pages_.pause(call); }
  sdk::Status take(const sdk::Response& response);

  const std::vector<Instance>& instances() const { return instances_; }
  std::vector<Instance> take_instances() { return std::move(instances_); }
  // UNAVAILABLE when the answer lacks one of these zones, or, without any, any scope.
  sdk::Status check_reached(const std::vector<std::string>& zones) const;

 private:
  const Place& place_;
  const Options& options_;
  std::string zone_, query_, what_;
  support::google::Pages pages_;
  std::vector<Instance> instances_;
  std::vector<std::string> unreachable_;
};

}  // namespace muster::gce

// The requests to Compute Engine.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/gce/group.h"
#include "plugins/gce/instance.h"
#include "plugins/gce/options.h"
#include "plugins/support/google/api.h"

namespace muster::gce {

// Where it is asked, as it stands after looking for it.
struct Place {
  std::string base;  // ".../compute/v1" without a slash at its end
  std::string project;
  std::string scope;  // of the group: "zones/Z" or "regions/R"
};

struct Group {
  std::vector<GroupMember> members;
  bool managed = false;
};

class Compute {
 public:
  Compute(support::google::Credentials& credentials, const Place& place, const Options& options,
          sdk::Call& call)
      : credentials_(credentials), place_(place), options_(options), call_(call) {}

  // All members of the group. A managed group is asked for its plan in one request (pages only where the group has them on). `managed`: what
  // was found out before; -1 for nothing: then a group that is not managed costs one request more. NOT_FOUND: there is no such group.
  sdk::Result<Group> group(int& managed);

  // The port that the group gives that name.
  sdk::Result<int64_t> group_port();

  // The instances of one zone, or with an empty zone of all. With `names` those alone. Zones that did not answer are an error: of
  // `zones` where there are any, else of all.
  sdk::Result<std::vector<Instance>> instances(const std::string& zone,
                                               const std::vector<std::string>& names,
                                               const std::vector<std::string>& zones);

 private:
  std::string group_in_words() const;
  support::google::Question question(const std::string& path, const std::string& query) const;

  support::google::Credentials& credentials_;
  const Place& place_;
  const Options& options_;
  sdk::Call& call_;
};

}  // namespace muster::gce

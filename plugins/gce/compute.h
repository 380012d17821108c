// Who the members are, asked of Compute Engine in as few requests, and as few one after the other, as that takes.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/gce/lists.h"
#include "plugins/gce/members.h"
#include "plugins/gce/options.h"
#include "plugins/support/google/credentials.h"

namespace muster::gce {

class Compute {
 public:
  Compute(support::google::Credentials& credentials, const Place& place, const Options& options,
          sdk::Call& call)
      : credentials_(credentials), place_(place), options_(options), call_(call) {}

  // Those of the options' group. Its plan, its named port and the first page of instances are asked for side by side: most often they
  // are all. `managed`: what was found out before; -1 for nothing. NOT_FOUND: there is no such group, or it has no instances. Zones
  // with members that did not answer are UNAVAILABLE.
  sdk::Result<Members> of_group(int& managed);

  // Those of the options' filter or tag. NOT_FOUND: there are none.
  sdk::Result<Members> selected();

  // After of_group: the port that the options name.
  int64_t named_port() const { return port_; }

 private:
  template <typename List>
  sdk::Status ask_on(List& list);
  support::google::Question port_question() const;
  sdk::Status take_port(const sdk::Response& response);
  sdk::Result<std::vector<Instance>> rest(InstanceList& first,
                                          const std::vector<GroupMember>& group,
                                          const std::vector<std::string>& zones);

  support::google::Credentials& credentials_;
  const Place& place_;
  const Options& options_;
  sdk::Call& call_;
  int64_t port_ = 0;
};

}  // namespace muster::gce

// Telling the core what was found.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/identity.h"
#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/reasons.h"

namespace muster::kubernetes {

// By which a pod is judged.
Judge judge_of(const Options& options);

// The answers of one call: one of a resolve, many of a watch. What they have in common is found out once: the domain of
// cluster-internal names (the option, else by /etc/resolv.conf, else "cluster.local") and who this process is.
class Answers {
 public:
  // `options` and `call` outlive this.
  Answers(const Access& access, const Options& options, sdk::Call& call);

  // Pushes a whole answer: the jobs with their tasks and missing members, each where the options' address and port say, their
  // notes and warnings, and which of them this process is. A task that has no such address or port is missing with that reason.
  // DATA_LOSS or ALREADY_EXISTS where the server says what no cluster can have.
  sdk::Status push(const std::vector<JobMembers>& jobs,
                   const std::vector<std::string>& warnings = {}) const;

 private:
  const Options& options_;
  sdk::Call& call_;
  const Wanted wanted_;
  const std::string domain_;
  const Evidence evidence_;
};

}  // namespace muster::kubernetes

// The members of one object: what it says of itself, and its pods.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"
#include "plugins/kubernetes/members.h"
#include "plugins/kubernetes/options.h"
#include "plugins/kubernetes/places.h"
#include "plugins/kubernetes/question.h"

namespace muster::kubernetes {

struct ObjectMembers {
  PodList pods;  // what the members point into; empty where they were given
  std::vector<JobMembers> jobs;
  std::vector<std::string> warnings;
};

// Reads the object that the options name, then lists its pods. The two are of two moments: where pods are there for which the
// object has no place, it is read again, and when it has changed all is done again, a few times. Then such pods are told in
// a warning and do not count; an object that keeps changing is UNAVAILABLE. NOT_FOUND: it is not there, has ended without pods,
// or is to have none. Others are those of ask_server and list_pods.
sdk::Result<ObjectMembers> find_object_members(const Access& access, const Options& options,
                                               const Judge& judge, sdk::Call& call);

// The steps of the same, for who has the pods already.
class ObjectFinder {
 public:
  // All of them outlive this.
  ObjectFinder(const Access& access, const Options& options, sdk::Call& call);

  // Asks for the object; where it is not there, for its maker, which says why.
  sdk::Result<Plan> read() const;
  // The same out of its JSON.
  sdk::Result<Plan> read(std::string_view json) const;
  // How it is asked for, and its watch's.
  Question question() const;
  Question watch_question() const;
  // Of its pods.
  Selector selector(const Plan& plan) const;
  // The pods in their places; `pods` outlives what comes of it.
  sdk::Result<Placed> place(const Plan& plan, const Pods& pods, const Judge& judge) const;
  // Those as members; strangers are told in warnings.
  sdk::Result<ObjectMembers> members(const Plan& plan, Placed placed) const;
  // The command with which a person looks at the object.
  const std::string& look() const { return look_; }

 private:
  sdk::Failure why_not_there(sdk::Failure failure) const;

  const Finder& finder_;
  const Access& access_;
  const Options& options_;
  sdk::Call& call_;
  const std::string what_, look_;
};

}  // namespace muster::kubernetes

// The objects that people run training with, as one table: where each is read, which pods are its own, what their roles and
// places are called, and how many of them it is to have. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/strict_json.h"

namespace muster::kubernetes {

// One kind of members of an object.
struct Role {
  std::string name;      // the job (task type) in the answer
  int64_t expected = 0;  // how many it is to have
  int64_t group_size =
      0;  // places in one group (a JobSet's job, a LeaderWorkerSet's group); 0: there are no groups
  int64_t places = 0;      // indices run from `first` to `first` + `places` - 1
  int64_t first = 0;       // a StatefulSet's first ordinal, which is rank 0
  bool indexed = true;     // false: its pods have no places of their own
  int64_t succeeded = 0;   // how many of its places the object says to have ended well
  bool in_cluster = true;  // false: a process beside the cluster, as TensorFlow's evaluator
};

// What the object says of itself at one moment.
struct Plan {
  std::string uid, version;  // resourceVersion
  std::string selector;      // of its pods
  std::vector<Role> roles;   // in the order of ranks over all of them
  int64_t created = 0;       // seconds since 1970; 0: it does not say
  int32_t attempt = 0;       // a JobSet's restarts: pods of an attempt before are none of its own
  bool suspended = false;
  bool deleting = false;
  std::string ended;       // "Complete", "Failed: BackoffLimitExceeded"; "" while it goes on
  std::string controller;  // "TrainJob/train": what made it; "" for none
};

// An object that makes the one which is read, under its own name: asked for where that one is not there.
struct Maker {
  const char *kind, *path, *group, *resource;  // as of a Finder
};

struct Finder {
  const char* option;    // "jobset"
  const char* kind;      // "JobSet"
  const char* path;      // "/apis/jobset.x-k8s.io/v1alpha2"
  const char* group;     // "jobset.x-k8s.io", as Roles have it
  const char* resource;  // "jobsets"
  // The label that all its pods have with its name as value; null: the selector of its spec.
  const char* label;
  bool role_label;           // roles are told apart by the pods' role label, else there is one
  bool owns;                 // it is its pods' controller itself
  bool ordinals;             // a pod without an index has its place at the end of its name
  const char* place;         // what a pod is called there: {name}, {role}, {group}, {index}
  const char* leader_place;  // where index 0 of a group is called otherwise; or null
  // Reads the roles out of the object, and refuses there what it cannot believe.
  void (*read)(const support::StrictJson& object, Plan& plan);
  const Maker* maker = nullptr;  // or null: people name the object itself
};

// All of them, in the order in which the README has them.
const std::vector<Finder>& finders();

// The plan of an object. DATA_LOSS when the JSON is no such object.
sdk::Result<Plan> read_plan(const Finder& finder, const std::string& name, std::string_view json);

// How an object itself has ended, as in Plan; "" while it goes on.
std::string how_ended(const support::StrictJson& object);

// What the pod of a place is called, or begins with: "train-worker-0-3".
std::string place_name(const Finder& finder, const std::string& name, const Role& role,
                       int64_t place);

}  // namespace muster::kubernetes

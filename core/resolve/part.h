// Part: what one resolver of the tree answers, a leaf or a composition alike.
#pragma once

#include <string>
#include <vector>

#include "core/plugin/backend.h"
#include "core/result.h"
#include "core/spec/snapshot.h"

namespace muster {

// An answer before it is made a snapshot. `path` says whose it is, for errors that name two sources.
struct Part {
  std::string path;
  ClusterSpec spec;
  std::vector<JobStatus>
      jobs;  // expected and missing, as the sources say; only jobs of which something is said
  Identity identity;
  Attributes attributes;
  std::vector<std::string> warnings;
};

// How many tasks a source says a job has, found or not: what it expects, else what it knows of.
inline int64_t expected_or_known(const JobStatus& status, int64_t found) {
  return status.expected.value_or(found + static_cast<int64_t>(status.missing.size()));
}

// Merges answers as UnionResolver does (tf-semantics 5), in this order, with its quirks mended:
//  - a job that every part shows as a list is concatenated, later parts renumbered; a part in which members are missing keeps
//    their places, so that the ranks behind them do not move when they come;
//  - a map in any part makes the job a map: indices are taken as they are, lists count from 0; an index that two parts
//    have is kAlreadyExists, which names the job, the index, both sources and both addresses;
//  - identities are translated by the renumbering; two that differ are kFailedPrecondition with both evidences;
//  - of cluster attributes the first part's value of each key wins;
//  - the same address twice is a warning (mends UNION-6).
Result<Part> merge_parts(std::string path, std::vector<Part> parts);

// The fixed sides of an answer: what the config, the flags and the clock say.
struct AssembleInput {
  const Config* config = nullptr;
  int64_t time_ns = 0;
  std::vector<SourceRecord> sources;
};

// Makes the snapshot of the root's answer: expectations, completeness, identity (the config's against the evidence),
// rpc_layer, environment, accelerators, master. kFailedPrecondition: the config's task and the evidence differ, or this
// process's task is not among those of its job; of a job that the cluster does not have it stands outside, as TensorFlow's evaluator.
Result<Snapshot> assemble(Part root, AssembleInput input);

}  // namespace muster

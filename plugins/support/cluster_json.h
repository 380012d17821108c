// A ClusterSpec as JSON: job -> list of addresses, or job -> map index -> address (tf-semantics section 3).
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

namespace muster::support {

// Who takes what is read, in the order in which it is written.
class ClusterVisitor {
 public:
  virtual ~ClusterVisitor() = default;
  // A job begins. The text lives as long as the parser's document.
  virtual void job(std::string_view name) = 0;
  virtual void task(std::string_view job, int64_t index, std::string_view address) = 0;
  // True ends the reading: nobody wants the rest.
  virtual bool stopped() const { return false; }
};

// What is wrong with a cluster, and where.
struct ClusterProblem {
  simdjson::error_code error = simdjson::SUCCESS;  // set: this is not JSON, and `why` is empty
  const char* location = nullptr;                  // in the parsed text; may be null
  std::string pointer;                             // below the cluster: "/worker/3" (RFC 6901)
  std::string why;
};

// How a dialect of it differs.
struct ClusterRules {
  bool null_is_empty = false;  // a job that is null has no task
  // A list of a single address for this job means this index and not 0.
  std::string_view single_job;
  int64_t single_index = 0;
};

// Reads it in one pass. Each index stands once in its job however it is written ("1" and "01" are one,
// SPEC-7), each job once, each address is what the host takes for one. Nothing visited counts when there is a problem.
std::optional<ClusterProblem> read_cluster(const sdk::Host& host,
                                           simdjson::ondemand::object cluster,
                                           ClusterVisitor& visitor, const ClusterRules& rules = {});

}  // namespace muster::support

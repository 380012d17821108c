// From names to the nodes that have them, or to why there are none.
#pragma once

#include <string>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/tpu/api.h"
#include "plugins/tpu/options.h"
#include "plugins/tpu/slice.h"

namespace muster::tpu {

// The names of TPUs, in the order of slices, and where they stand; an empty zone is any.
struct Wanted {
  std::vector<std::string> names;
  std::string zone;
  std::string
      own_zone;  // this machine's: of two TPUs of one name it has the nearer one; "" for none
  std::string said_by;  // "the option tpu"
};

// Their slices: by one request for one name in a known zone, else out of one list. A TPU that does not exist yet, and for which there is a
// queued resource, is a slice that is missing. NOT_FOUND with the nearest name, or the zone it is in; UNAVAILABLE when it may be in a zone
// that did not answer; INVALID_ARGUMENT when several zones have one of that name.
sdk::Result<std::vector<Slice>> find_nodes(Api& api, const Wanted& wanted, const Options& options,
                                           int64_t now_s);

// The slices of a queued resource, by one request for it and what find_nodes takes. NOT_FOUND when there is none of that name.
sdk::Result<std::vector<Slice>> find_queued(Api& api, const Wanted& wanted, const Options& options,
                                            int64_t now_s);

// The known name nearest to a wrong one, with at most a third of its letters different; "" for none.
std::string nearest(const std::string& name, const std::vector<std::string>& known);

}  // namespace muster::tpu

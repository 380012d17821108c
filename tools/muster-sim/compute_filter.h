#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "google.h"
#include "result.h"

namespace muster::sim {

// The `filter` parameter of Compute Engine's lists, in its two languages: `labels.app = x AND status = RUNNING` and `name eq "w-(0|1)"`.
// Fails with what is wrong where it is none, mixes the two, or names a field that is not known here.
Result<std::function<bool(const Instance&)>> parse_compute_filter(std::string_view text);

}  // namespace muster::sim

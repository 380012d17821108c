#pragma once

#include <string>

#include "answer.h"

namespace muster::sim {

// A failure as Google's APIs tell it.
Answer google_error(int code, const std::string& reason, const std::string& message);
// The one that stands for a status when nothing more is known.
Answer plain_google_error(int code, const std::string& message);

}  // namespace muster::sim

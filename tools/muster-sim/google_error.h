#pragma once

#include <string>

#include "answer.h"

namespace muster::sim {

// A failure as Google's APIs tell it.
Answer google_error(int code, const std::string& reason, const std::string& message);
// The same of APIs that are younger than Compute Engine (AIP-193): without "errors", with a reason and a permission among the details
// where they are given.
Answer api_error(int code, const std::string& message, const std::string& reason = "",
                 const std::string& permission = "");
// The one that stands for a status when nothing more is known.
Answer plain_google_error(int code, const std::string& message);
Answer plain_api_error(int code, const std::string& message);

}  // namespace muster::sim

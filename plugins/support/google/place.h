// Where on Google Cloud this is about, where the options do not say it.
#pragma once

#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/support/google/credentials.h"

namespace muster::support::google {

// The project: `given`, else what the environment or the credentials say, else this machine's own. INVALID_ARGUMENT where nobody says
// it; a metadata server that should and does not answer is its own failure.
sdk::Result<std::string> find_project(const std::string& given, const Credentials& credentials,
                                      const sdk::Call& call);

// This machine's zone. Failures as above; `other` is what the user could have given in its place ("region"), for the message.
sdk::Result<std::string> own_zone(const char* other, const sdk::Call& call);

// The last segment of a resource's name or URL.
std::string_view last_segment(std::string_view url);

}  // namespace muster::support::google

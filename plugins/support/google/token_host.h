// Where a Google token may go.
#pragma once

#include <string_view>

namespace muster::support::google {

constexpr std::string_view kDefaultUniverse = "googleapis.com";

// Whether a token of this universe may be sent to the URL: over https to a host of the universe (of Google's own: below
// googleapis.com or google.com), or to the loopback.
bool may_have_token(std::string_view url, std::string_view universe);

}  // namespace muster::support::google

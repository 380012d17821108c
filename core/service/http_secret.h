// What of a request and of an answer shows up nowhere.
#pragma once

#include <string>
#include <string_view>

#include "core/service/session.h"

namespace muster {

// Authorization, cookies, and names that end in -token, -secret, -password or -api-key.
bool is_secret_header(std::string_view name);
// Makes a secret header's value known: whole, and what comes after its scheme ("Bearer ...").
void learn_secret_header(std::string_view name, std::string_view value, Secrets& secrets);
// A URL that may be shown: secrets are out, also the values of query parameters such as access_token, key and signature.
std::string shown_url(std::string_view url, const Secrets& secrets);

}  // namespace muster

// What of a request and of an answer shows up nowhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/service/http_request.h"
#include "core/service/session.h"

namespace muster {

// Authorization, cookies, and names that end in -token, -secret, -password or -api-key.
bool is_secret_header(std::string_view name);
// Makes a secret header's value known: whole, and what comes after its scheme ("Bearer ...").
void learn_secret_header(std::string_view name, std::string_view value, Secrets& secrets);
// A URL that may be shown: secrets are out, also the values of query parameters such as access_token, key and signature.
std::string shown_url(std::string_view url, const Secrets& secrets);
// The request's, of which only the origin is shown once a secret answer has redirected it: its Location may be the secret.
std::string shown_url(const HttpRequest& request, const Secrets& secrets);
std::string shown_host_and_path(const HttpRequest& request);
// The value of an answer's header as a recording keeps it; nothing for a header that it leaves out. Of a secret answer it keeps what a replay
// needs to do the same again.
std::optional<std::string> kept_header(const HttpRequest& request, std::string_view name,
                                       std::string_view value);

}  // namespace muster

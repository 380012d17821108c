#include "plugins/support/google/token_host.h"

#include <algorithm>
#include <string>

namespace muster::support::google {
namespace {

bool takes(std::string_view& text, std::string_view beginning) {
  if (text.substr(0, beginning.size()) != beginning) return false;
  text.remove_prefix(beginning.size());
  return true;
}

// In lower case, IPv6 in its brackets, without the port. What stands before an '@' is no host, and then there is none.
std::string host_of(std::string_view rest) {
  std::string authority(rest.substr(0, rest.find_first_of("/?#")));
  if (authority.find('@') != std::string::npos) return "";
  std::transform(authority.begin(), authority.end(), authority.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const size_t closing = authority.find(']');
  if (closing != std::string::npos) return authority.substr(0, closing + 1);
  return authority.substr(0, authority.find(':'));
}

bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "[::1]") return true;
  // A name may begin with 127 too, and lead anywhere.
  return host.rfind("127.", 0) == 0 && host.find_first_not_of("0123456789.") == std::string::npos;
}

bool is_below(const std::string& host, std::string_view domain) {
  return host.size() > domain.size() + 1 && host[host.size() - domain.size() - 1] == '.' &&
         host.compare(host.size() - domain.size(), domain.size(), domain) == 0;
}

}  // namespace

bool may_have_token(std::string_view url, std::string_view universe) {
  const bool secure = takes(url, "https://");
  if (!secure && !takes(url, "http://")) return false;
  const std::string host = host_of(url);
  if (is_loopback(host)) return true;
  if (!secure || universe.empty()) return false;
  return is_below(host, universe) || (universe == kDefaultUniverse && is_below(host, "google.com"));
}

}  // namespace muster::support::google

#include "plugins/support/quote_answer.h"

#include <algorithm>
#include <cctype>

#include "plugins/support/text.h"

namespace muster::support {
namespace {

// Where the user and the password of a URL stand; begin == end: nowhere. Of a wrong URL all up to the last '@' may be a password.
struct UserPart {
  size_t begin = 0, end = 0;
};
UserPart user_part(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t at = url.rfind('@');
  if (at == std::string_view::npos || at < begin) return {};
  // Where a path begins, the authority is over (RFC 3986, 3.2): an '@' behind a host, or a host and its port, is the path's.
  const std::string_view authority = url.substr(begin, url.find_first_of("/?#", begin) - begin);
  const size_t colon = std::min(authority.find(':'), authority.size());
  const bool has_port = std::all_of(authority.begin() + colon, authority.end(),
                                    [](char c) { return c == ':' || (c >= '0' && c <= '9'); });
  if (scheme != std::string_view::npos && authority.find('@') == std::string_view::npos &&
      (authority.starts_with('[') || has_port))
    return {};
  return {begin, at};
}

}  // namespace

std::string quote_answer(std::string_view words, AskedFor asked, size_t maximum) {
  if (asked == AskedFor::kCredential)
    return "what it says is not shown, for it was asked for a credential";
  const std::string_view text = trimmed(words);
  return text.empty() ? "nothing more" : quote(text, maximum);
}

std::string plain_answer(std::string_view words, size_t maximum) {
  const std::string quoted = quote(trimmed(words), maximum);
  return quoted.substr(1, quoted.size() - 2);
}

std::string quote_url(std::string_view url) {
  const UserPart user = user_part(url);
  std::string out(url);
  if (user.begin != user.end) out.replace(user.begin, user.end - user.begin, "REDACTED");
  return quote(std::string_view(out).substr(0, out.find_first_of("?#")), 200);
}

std::vector<std::string> secrets_of_url(std::string_view url) {
  std::vector<std::string> out;
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return out;
  if (const UserPart user = user_part(url); user.begin != user.end) {
    const size_t colon = url.find(':', user.begin);
    const size_t secret = colon < user.end ? colon + 1 : user.begin;
    out.emplace_back(url.substr(secret, user.end - secret));
  }
  size_t parameter = url.find('?', scheme + 3);
  while (parameter != std::string_view::npos) {
    const size_t end = url.find_first_of("&#", ++parameter);
    const std::string_view pair = url.substr(parameter, end - parameter);
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string name(pair.substr(0, equals));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const char* word : {"token", "secret", "passw", "key", "sig", "credential", "code"}) {
      if (name.find(word) == std::string::npos || equals == pair.size()) continue;
      out.emplace_back(pair.substr(equals + 1));
      break;
    }
    parameter = end == std::string_view::npos || url[end] == '#' ? std::string_view::npos : end;
  }
  return out;
}

}  // namespace muster::support

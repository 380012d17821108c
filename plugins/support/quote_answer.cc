#include "plugins/support/quote_answer.h"

#include <algorithm>
#include <cctype>

#include "plugins/support/text.h"

namespace muster::support {

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
  // Of a wrong one all up to the last '@' may be a password.
  const size_t at = url.rfind('@');
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  std::string out(url);
  if (at != std::string_view::npos && at >= begin)
    out = std::string(url.substr(0, begin)) + "REDACTED" + std::string(url.substr(at));
  return quote(std::string_view(out).substr(0, out.find_first_of("?#")), 200);
}

std::vector<std::string> secrets_of_url(std::string_view url) {
  std::vector<std::string> out;
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return out;
  const size_t begin = scheme + 3;
  const size_t at = url.rfind('@');
  if (at != std::string_view::npos && at >= begin) {
    const size_t colon = url.find(':', begin);
    const size_t secret = colon < at ? colon + 1 : begin;
    out.emplace_back(url.substr(secret, at - secret));
  }
  size_t parameter = url.find('?', begin);
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

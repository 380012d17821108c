#include "plugins/support/quote_answer.h"

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

}  // namespace muster::support

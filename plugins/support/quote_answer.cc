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

}  // namespace muster::support

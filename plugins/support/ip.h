// IP addresses as an API documents them, where a name would be wrong.
#pragma once

#include <string_view>

namespace muster::support {

// Which addresses are meant.
enum class Ip { kIpv4, kIpv6, kEither };

// Whether the text is such an address in its one usual form: nothing that a resolver of names would make one of (0x7f000001, 10.1), no zone, and not
// "any" (0.0.0.0, ::).
bool is_ip(std::string_view text, Ip which = Ip::kEither);

// "an IPv4 address"
std::string_view in_words(Ip which);

}  // namespace muster::support

// What the status of an answer means, the same for all backends. The table: plugins/README.md.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster::support {

// The code of a failure for an answer that is not the 200 that was asked for. A backend that knows more of a status (a rate limit that comes as 403,
// a 404 that is an answer) looks at it before.
int32_t code_of_status(int64_t status);

// "the credentials are refused": what to say of it where the server's words are not shown.
std::string_view status_in_words(int64_t status);

}  // namespace muster::support

#pragma once

#include <chrono>
#include <string>

#include "answer.h"
#include "google.h"
#include "google_tokens.h"

namespace muster::sim {

// The metadata server of the machine that asks: paths below /computeMetadata/v1/.
Answer answer_metadata(const Call& call, const Google& world, GoogleTokens& tokens);

// What a caller waits for who wants to be answered when something has changed (wait_for_change).
struct AwaitedChange {
  std::string known;  // the ETag of what it has: it is answered at once when there is another
  std::chrono::seconds most{0};  // then it is answered with what there is
};
// That of a call whose answer now would be `answer`; `most` is 0 when it is to be answered at once.
AwaitedChange awaited_change(const Call& call, const Answer& answer);

// The value of its ETag; "" for none.
std::string etag_of(const Answer& answer);

}  // namespace muster::sim

#pragma once

#include "answer.h"
#include "google.h"
#include "google_tokens.h"

namespace muster::sim {

// The metadata server of the machine that asks: paths below /computeMetadata/v1/.
Answer answer_metadata(const Call& call, const Google& world, GoogleTokens& tokens);

}  // namespace muster::sim

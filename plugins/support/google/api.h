// One question to an API of Google's, and what its refusals mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/support/google/credentials.h"

namespace muster::support::google {

// What an error body says ({"error": {...}}); everything is "" where it does not, or is no JSON.
struct ApiError {
  std::string message;
  std::string
      reason;  // "rateLimitExceeded", of the old form; else "RATE_LIMIT_EXCEEDED" of ErrorInfo
  std::string permission;  // "compute.instances.list", where the message names one

  bool rate_limited() const;
  bool disabled() const;     // the API is not switched on in the project
  bool lacks_scope() const;  // the token may not, whatever the account may
};
ApiError read_api_error(std::string_view body);

struct Question {
  const char* method = "GET";
  std::string url;
  std::string body;        // JSON; "" for none
  std::string purpose;     // for `muster explain`: "list the members of instance group grape"
  std::string what;        // in messages: "instance group 'grape' in zone 'europe-west9-b'"
  const char* permission;  // "compute.instances.list"
  const char* role;        // that has it: "roles/compute.viewer"
  const char* service;     // "compute.googleapis.com"
  std::string project;
  std::string option;  // a JSON pointer: what the user would mend when there is no such thing
  std::string look;    // the command with which a person looks for it
  uint64_t maximum_size = uint64_t{32} << 20;  // of the answer: a page of 500 has a few MB
  bool of_a_page =
      false;  // it has a token of the server's own, so what it does not take is not the user's
};

// A time near this one. Many members start in the same second, so each waits one of its own: from three quarters to five quarters.
int64_t jittered_ns(int64_t wait_ns);

// The answer with status 200. A rate limit (403, or 429, by its reason) is waited out, into the next minute, where the deadline allows it.
// Other refusals become failures with the API's words: NOT_FOUND with the command that looks; PERMISSION_DENIED with the permission
// and the command that gives the role, or switches the API on; UNAUTHENTICATED; RESOURCE_EXHAUSTED; UNAVAILABLE (5xx); INVALID_ARGUMENT (400).
// With `may_be_absent` a 404 is an answer too.
sdk::Result<sdk::Response> ask_api(Credentials& credentials, const Question& question,
                                   sdk::Call& call, bool may_be_absent = false);

// The same for several questions that do not wait for one another; each answer stands at its question's place. Behind one that failed
// no rate limit is waited out: they fail with it.
struct Asked {
  Question question;
  bool may_be_absent = false;
};
std::vector<sdk::Result<sdk::Response>> ask_api_together(Credentials& credentials,
                                                         const std::vector<Asked>& questions,
                                                         sdk::Call& call);

}  // namespace muster::support::google

// What it means when the API server does not answer a GET with 200, with its own words.
#pragma once

#include <string>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/access.h"

namespace muster::kubernetes {

// What was asked, as a refusal words it.
struct Asked {
  std::string what;  // "a list of pods", "Job 'train'"
  std::string
      doubtful;  // what a 400 is about: "the label selector 'app=t'", "the name of Job 'train'"
  std::string pointer;   // of the option that it comes from
  std::string verb;      // "list"
  std::string resource;  // as kubectl names it: "pods", "jobs.batch"
};

// INVALID_ARGUMENT (400, 422), UNAUTHENTICATED (401), PERMISSION_DENIED (403) with a Role of all that the options need,
// RESOURCE_EXHAUSTED (429), UNAVAILABLE (5xx), UNKNOWN. What other statuses mean depends on what was asked.
sdk::Failure refusal(const Access& access, const Asked& asked, const sdk::Response& response);

// The server's words in one line; the body itself where it is short and no Status.
std::string server_words(const sdk::Response& response);

// "in namespace 'ml'", "in all namespaces"
std::string place_of(const Access& access);

}  // namespace muster::kubernetes

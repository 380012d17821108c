#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "answer.h"
#include "scenario.h"
#include "status.h"

namespace muster::sim {

// Who asks, or nothing for a bad or missing credential (401).
// with_tls decides what an unset 'anonymous' means.
std::optional<std::string> authenticate(const Kubernetes& world, const Call& call, bool with_tls);

// One thing somebody wants to do.
struct Wish {
  std::string verb;      // get, list, watch, create, update, patch, delete
  std::string resource;  // pods, namespaces
  std::string name_space;
  std::string name;
};

// The Status of a refusal, with the real server's words, or nothing if the wish is granted.
std::optional<Status> authorise(const Kubernetes& world, const std::string& user, const Wish& wish);

}  // namespace muster::sim

// What goes wrong in an exchange, and in which part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <muster/plugin.h>

namespace muster::http {

// The parts of an exchange, in their order. Named as <muster/transport.h> names them.
enum class Phase { none, resolve, connect, proxy, tls, send, wait, receive };

// The value of the detail `phase`; "" for none.
const char *phase_name(Phase phase);

struct Failure {
  int32_t code = MUSTER_E_INTERNAL;
  Phase phase = Phase::none;
  std::string message;  // never holds a header's value, a body, a password or a URL's query
  std::string hint{};   // what the user should do, where the core could not know it; may be empty
};

// Empty when it went well.
using Failed = std::optional<Failure>;

inline Failure failure(int32_t code, Phase phase, std::string message, std::string hint = {}) {
  return Failure{code, phase, std::move(message), std::move(hint)};
}

}  // namespace muster::http

// The tables of the services, and what they share. For core/service alone.
#pragma once

#include <muster/http.h>
#include <muster/plugin.h>
#include <muster/process.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/service/host.h"

namespace muster {

class Options;

const muster_options_v1* options_table();
const muster_clock_v1* clock_table();
const muster_environment_v1* environment_table();
const muster_address_v1* address_table();
const muster_http_v1* http_table();
const muster_process_v1* process_table();

// The options behind a host table; null when the pointer is none of ours.
const Options* options_of(const muster_host_v1* host);

// Fills `error` (may be null) and returns the code as the ABI has it.
int32_t fail(muster_error* error, Error reason);

// Runs the body of an ABI function: an exception becomes an error, and never crosses.
template <typename Body>
int32_t guarded(muster_error* error, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception& exception) {
    try {
      return fail(error, exception_error(exception, "the core failed"));
    } catch (...) {
      return MUSTER_E_RESOURCE_EXHAUSTED;
    }
  } catch (...) {
    return MUSTER_E_INTERNAL;
  }
}

}  // namespace muster

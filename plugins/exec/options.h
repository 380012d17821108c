// The options of the exec backend, as they are after create.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/exec/printed.h"

namespace muster::exec {

struct Options {
  std::vector<std::string> command;  // the program and its arguments; not empty
  std::optional<Format> format;      // nothing: what it looks like
  std::string job;                   // of the targets of file_sd that name none
  int64_t timeout_s = 0;
  uint64_t maximum_size = 0;
};

// `json` was checked against the schema, whose defaults are filled in.
sdk::Result<Options> read_options(std::string_view json);

}  // namespace muster::exec

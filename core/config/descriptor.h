// What a plugin says about itself before any of its code runs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace muster {

struct Descriptor {
  std::string name;  // what users write as `backend:`
  std::string version;
  uint32_t abi_major = 0;
  uint32_t abi_minor = 0;
  std::string description;
  std::string options_schema;  // JSON text of an object schema; accepts nothing but {} when absent
  std::vector<std::string> extensions;
  std::vector<std::string> services;
  std::vector<std::string>
      environment;  // variables that its process gets when it runs in one of its own
  std::string homepage;
  std::string license;
  std::string json;  // the whole text as written
};

// Parses and checks the JSON of a descriptor. kInvalidArgument says which key is wrong. Unknown keys are allowed (a newer SDK).
Result<Descriptor> parse_descriptor(std::string_view json);

}  // namespace muster

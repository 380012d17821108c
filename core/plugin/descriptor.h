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

// Reads the section of an ELF file without loading it; every offset is checked. kNotFound: there is no such section ("not a muster
// plugin"). kInvalidArgument: not a 64-bit ELF shared object of this machine, or damaged.
Result<std::string> read_descriptor_section(const std::string& path);

// The exported dynamic symbols of MUSTER entries ("muster_plugin_entry_v1") and DT_NEEDED libraries, from the file.
struct ElfFacts {
  std::vector<std::string> entries;
  std::vector<std::string> needed;
};
Result<ElfFacts> read_elf_facts(const std::string& path);

}  // namespace muster

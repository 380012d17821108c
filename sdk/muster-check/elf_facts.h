// What a shared object says of itself to the loader, read from the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

namespace muster::check {

struct ElfLook {
  std::vector<std::string> exported;      // dynamic symbols that others could be bound to
  std::vector<std::string> unique;        // STB_GNU_UNIQUE ones among them
  std::vector<std::string> needed;        // DT_NEEDED
  std::vector<std::string> search_paths;  // DT_RPATH, DT_RUNPATH
  bool executable_stack = false;
  bool says_stack = false;  // has a PT_GNU_STACK at all
  bool text_relocations = false;
};

// kInvalidArgument: no 64-bit little-endian ELF file, or damaged. Any bytes are safe to give.
Result<ElfLook> look_at_elf(const std::string& bytes);

}  // namespace muster::check

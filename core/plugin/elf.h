// ELF: the few facts muster needs of a shared object, read from the file without loading it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace muster {

// Reads `size` bytes at `offset`; false when they cannot be read. The caller asks only inside the file's size.
using ReadAt = std::function<bool(uint64_t offset, void* to, uint64_t size)>;

// The exported dynamic symbols of MUSTER entries ("muster_plugin_entry_v1") and DT_NEEDED libraries.
struct ElfFacts {
  std::vector<std::string> entries;
  std::vector<std::string> needed;
};

struct ElfContents {
  std::optional<std::string>
      descriptor;  // text of the descriptor section without the NUL at its end; nullopt: no such section
  ElfFacts facts;
};

// Reads a 64-bit shared object of this machine. Every offset, size and count in it is checked against `file_size` before it is used, and
// nothing larger than 64 MiB is read at once, so any bytes whatever are safe to give. kInvalidArgument names `path` and what is wrong.
//
// Own code because Boost.DLL's library_info, which could list sections, trusts every offset of the file.
Result<ElfContents> read_elf(uint64_t file_size, const ReadAt& read_at, const std::string& path);

// The same, from an open file.
Result<ElfContents> read_elf(int descriptor, const std::string& path);
Result<ElfFacts> read_elf_facts(const std::string& path);

}  // namespace muster

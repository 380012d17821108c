// Any bytes as a shared object: refused with a message, or read, and never past their end.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/plugin/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster;
  const ReadAt read_at = [data, size](uint64_t offset, void* to, uint64_t part) {
    if (offset > size || part > size - offset) std::abort();  // the promise of ReadAt's caller
    std::memcpy(to, data + offset, part);
    return true;
  };
  const Result<ElfContents> contents = read_elf(size, read_at, "/x");
  if (!contents) {
    if (contents.error().message.empty() || contents.error().code != Code::kInvalidArgument)
      std::abort();
    return 0;
  }
  if (contents->descriptor && contents->descriptor->find('\0') != std::string::npos) std::abort();
  for (const std::string& entry : contents->facts.entries) {
    if (!entry.starts_with("muster_")) std::abort();
  }
  return 0;
}

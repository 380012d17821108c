#include "sdk/muster-check/own_calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>
#include <utility>

#include "sdk/muster-check/watched_calls.h"

namespace muster::check {
namespace {

// What the loader bound one shared object by.
struct Bound {
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  std::string_view relocations, calls;  // bytes of Elf64_Rela each
};

template <typename Thing>
Thing* at_address(uint64_t address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader has addresses as numbers
  return reinterpret_cast<Thing*>(address);
}

Bound read_dynamic(const link_map& map) {
  // Some machines' loaders leave these as they are in the file, most make addresses of them.
  const auto place = [&](const Elf64_Dyn* entry) {
    const uint64_t value = entry->d_un.d_ptr;
    return at_address<const char>(value < map.l_addr ? value + map.l_addr : value);
  };
  Bound bound;
  const char* relocations = nullptr;
  const char* calls = nullptr;
  uint64_t size = 0, calls_size = 0;
  for (const Elf64_Dyn* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: bound.symbols = reinterpret_cast<const Elf64_Sym*>(place(entry)); break;
      case DT_STRTAB: bound.names = place(entry); break;
      case DT_RELA: relocations = place(entry); break;
      case DT_RELASZ: size = entry->d_un.d_val; break;
      case DT_JMPREL: calls = place(entry); break;
      case DT_PLTRELSZ: calls_size = entry->d_un.d_val; break;
      default: break;
    }
  }
  if (relocations != nullptr) bound.relocations = {relocations, size};
  if (calls != nullptr) bound.calls = {calls, calls_size};
  return bound;
}

// Writes to what the loader has made read-only.
void set_slot(const void** slot, const void* value) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  char* const begin = reinterpret_cast<char*>(slot) - reinterpret_cast<uintptr_t>(slot) % page;
  if (::mprotect(begin, page, PROT_READ | PROT_WRITE) == 0) *slot = value;
}

}  // namespace

void watch_own_calls(void* library, std::function<void(const std::string&)> listener) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr) return;
  const std::vector<WatchedCall> watched = watched_calls(std::move(listener));
  const Bound bound = read_dynamic(*map);
  for (const std::string_view table : {bound.relocations, bound.calls}) {
    for (size_t at = 0; at + sizeof(Elf64_Rela) <= table.size(); at += sizeof(Elf64_Rela)) {
      const auto* relocation = reinterpret_cast<const Elf64_Rela*>(table.data() + at);
      const Elf64_Sym& symbol = bound.symbols[ELF64_R_SYM(relocation->r_info)];
      if (symbol.st_shndx != SHN_UNDEF || symbol.st_name == 0) continue;
      const std::string_view name = bound.names + symbol.st_name;
      const void** slot = at_address<const void*>(map->l_addr + relocation->r_offset);
      for (const WatchedCall& call : watched) {
        // Whatever kind of relocation it is: where the address of the function stands, ours can stand.
        if (call.symbol == name && call.real != nullptr && *slot == call.real)
          set_slot(slot, call.instead);
      }
    }
  }
}

}  // namespace muster::check

#include "sdk/muster-check/elf_facts.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

namespace muster::check {
namespace {

// Reads structs and texts out of the file, never beyond its end.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  template <typename Struct>
  std::optional<Struct> at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Struct)) return std::nullopt;
    Struct out;
    std::memcpy(&out, bytes_.data() + offset, sizeof out);
    return out;
  }
  std::string text(uint64_t offset) const {
    if (offset >= bytes_.size()) return "";
    const std::string_view rest = bytes_.substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

 private:
  std::string_view bytes_;
};

void read_symbols(const Bytes& bytes, const Elf64_Shdr& table, const Elf64_Shdr& names,
                  ElfLook& look) {
  for (uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= table.sh_size;
       at += sizeof(Elf64_Sym)) {
    const auto symbol = bytes.at<Elf64_Sym>(table.sh_offset + at);
    if (!symbol) return;
    const unsigned bind = ELF64_ST_BIND(symbol->st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    if (symbol->st_shndx == SHN_UNDEF || bind == STB_LOCAL || visibility == STV_HIDDEN ||
        visibility == STV_INTERNAL)
      continue;
    const std::string name = bytes.text(names.sh_offset + symbol->st_name);
    look.exported.push_back(name);
    if (bind == STB_GNU_UNIQUE) look.unique.push_back(name);
  }
}

void read_dynamic(const Bytes& bytes, const Elf64_Shdr& table, const Elf64_Shdr& names,
                  ElfLook& look) {
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= table.sh_size; at += sizeof(Elf64_Dyn)) {
    const auto entry = bytes.at<Elf64_Dyn>(table.sh_offset + at);
    if (!entry || entry->d_tag == DT_NULL) return;
    if (entry->d_tag == DT_TEXTREL ||
        (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0))
      look.text_relocations = true;
    if (entry->d_tag == DT_NEEDED)
      look.needed.push_back(bytes.text(names.sh_offset + entry->d_un.d_val));
    if (entry->d_tag == DT_RPATH || entry->d_tag == DT_RUNPATH)
      look.search_paths.push_back(bytes.text(names.sh_offset + entry->d_un.d_val));
  }
}

}  // namespace

Result<ElfLook> look_at_elf(const std::string& text) {
  const Bytes bytes(text);
  const auto head = bytes.at<Elf64_Ehdr>(0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
      head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB)
    return Error{Code::kInvalidArgument, "it is no 64-bit ELF file of this machine", {}};
  ElfLook look;
  for (unsigned i = 0; i < head->e_phnum; ++i) {
    const auto segment = bytes.at<Elf64_Phdr>(head->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_GNU_STACK) continue;
    look.says_stack = true;
    look.executable_stack = (segment->p_flags & PF_X) != 0;
  }
  for (unsigned i = 0; i < head->e_shnum; ++i) {
    const auto section = bytes.at<Elf64_Shdr>(head->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return Error{Code::kInvalidArgument, "its table of sections is damaged", {}};
    if (section->sh_type != SHT_DYNSYM && section->sh_type != SHT_DYNAMIC) continue;
    const auto names = bytes.at<Elf64_Shdr>(head->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    if (!names) return Error{Code::kInvalidArgument, "its table of sections is damaged", {}};
    if (section->sh_type == SHT_DYNSYM) {
      read_symbols(bytes, *section, *names, look);
    } else {
      read_dynamic(bytes, *section, *names, look);
    }
  }
  return look;
}

}  // namespace muster::check

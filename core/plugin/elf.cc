#include "core/plugin/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <muster/plugin.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "core/plugin/file.h"

namespace muster {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr const char* kMachineName = "x86-64";
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr const char* kMachineName = "AArch64";
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
constexpr const char* kMachineName = "RISC-V";
#elif defined(__powerpc64__)
constexpr uint16_t kMachine = EM_PPC64;
constexpr const char* kMachineName = "PowerPC64";
#elif defined(__s390x__)
constexpr uint16_t kMachine = EM_S390;
constexpr const char* kMachineName = "s390x";
#else
#error "say here which e_machine this is"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr unsigned char kByteOrder = ELFDATA2LSB;
#else
constexpr unsigned char kByteOrder = ELFDATA2MSB;
#endif

constexpr uint64_t kSectionMaximum = 64u
                                     << 20;  // of any table; a symbol table of 2.7 million symbols
constexpr uint64_t kDescriptorMaximum = 1u << 20;
constexpr uint64_t kNeededMaximum = 4096;

// Reads the parts of one file; the first thing that is wrong is kept.
class Reader {
 public:
  Reader(uint64_t file_size, const ReadAt& read_at, const std::string& path)
      : file_size_(file_size), read_at_(read_at), path_(path) {}

  Result<ElfContents> read();

 private:
  Error damaged(std::string_view what) const {
    return {Code::kInvalidArgument, fmt::format("'{}' is damaged: {}", path_, what), {}};
  }
  Error not_ours(std::string_view what) const {
    return {Code::kInvalidArgument,
            fmt::format("'{}' is not a shared object that muster can load: {}", path_, what),
            {}};
  }

  // `size` bytes at `offset` into `to`, both of which come from the file.
  Status fill(uint64_t offset, uint64_t size, void* to, std::string_view what) const {
    if (offset > file_size_ || size > file_size_ - offset) {
      return damaged(fmt::format("its {} (offset {}, {} bytes) reaches past its end at {} bytes",
                                 what, offset, size, file_size_));
    }
    if (size != 0 && !read_at_(offset, to, size))
      return damaged(fmt::format("its {} cannot be read", what));
    return {};
  }
  Result<std::string> content(const Elf64_Shdr& section, uint64_t maximum,
                              std::string_view what) const {
    if (section.sh_type == SHT_NOBITS) return damaged(fmt::format("its {} has no content", what));
    if (section.sh_size > maximum) {
      return damaged(
          fmt::format("its {} has {} bytes, more than {}", what, section.sh_size, maximum));
    }
    if (section.sh_offset > file_size_ || section.sh_size > file_size_ - section.sh_offset) {
      return fill(section.sh_offset, section.sh_size, nullptr, what)
          .error();  // before anything is allocated
    }
    std::string bytes(section.sh_size, '\0');
    if (Status status = fill(section.sh_offset, section.sh_size, bytes.data(), what); !status)
      return std::move(status).error();
    return bytes;
  }

  Status read_header();
  Status read_sections();
  Result<std::string> strings_of(const Elf64_Shdr& section, std::string_view what) const;
  Status read_descriptor(const std::string& names, ElfContents& contents) const;
  Status read_symbols(const Elf64_Shdr& section, ElfFacts& facts) const;
  Status read_needed(const Elf64_Shdr& section, ElfFacts& facts) const;

  uint64_t file_size_;
  const ReadAt& read_at_;
  const std::string& path_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
};

// The text at `offset` of a string table, or nothing when it does not end inside.
std::optional<std::string_view> text_at(const std::string& table, uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const size_t end = table.find('\0', offset);
  if (end == std::string::npos) return std::nullopt;
  return std::string_view(table).substr(offset, end - offset);
}

Status Reader::read_header() {
  if (file_size_ < sizeof header_) return not_ours(fmt::format("it has only {} bytes", file_size_));
  if (Status status = fill(0, sizeof header_, &header_, "header"); !status) return status;
  if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return not_ours("it is not an ELF file");
  if (header_.e_ident[EI_CLASS] != ELFCLASS64) return not_ours("it is not a 64-bit one");
  if (header_.e_ident[EI_DATA] != kByteOrder) return not_ours("it is of the other byte order");
  if (header_.e_machine != kMachine) {
    return not_ours(fmt::format("it is built for another machine (ELF machine {}, this is {}, {})",
                                header_.e_machine, kMachineName, kMachine));
  }
  if (header_.e_type != ET_DYN)
    return not_ours(
        fmt::format("its ELF type is {}, not {} (shared object)", header_.e_type, ET_DYN));
  return {};
}

Status Reader::read_sections() {
  if (header_.e_shoff == 0) return not_ours("it has no section headers");
  if (header_.e_shentsize != sizeof(Elf64_Shdr)) {
    return damaged(fmt::format("its section headers have {} bytes each, not {}",
                               header_.e_shentsize, sizeof(Elf64_Shdr)));
  }
  uint64_t count = header_.e_shnum;
  if (count == 0) {  // 65280 sections or more: the count is in the first section
    Elf64_Shdr first{};
    if (Status status = fill(header_.e_shoff, sizeof first, &first, "first section header");
        !status)
      return status;
    count = first.sh_size;
  }
  if (count == 0 || count > kSectionMaximum / sizeof(Elf64_Shdr)) {
    return damaged(fmt::format("it claims to have {} sections", count));
  }
  const uint64_t bytes = count * sizeof(Elf64_Shdr);
  if (header_.e_shoff > file_size_ || bytes > file_size_ - header_.e_shoff) {
    return fill(header_.e_shoff, bytes, nullptr, "table of sections");
  }
  sections_.resize(count);
  return fill(header_.e_shoff, bytes, sections_.data(), "table of sections");
}

// The string table that a section's sh_link names.
Result<std::string> Reader::strings_of(const Elf64_Shdr& section, std::string_view what) const {
  if (section.sh_link >= sections_.size())
    return damaged(
        fmt::format("its {} names string table {}, which is not there", what, section.sh_link));
  return content(sections_[section.sh_link], kSectionMaximum,
                 fmt::format("string table of the {}", what));
}

Status Reader::read_descriptor(const std::string& names, ElfContents& contents) const {
  for (const Elf64_Shdr& section : sections_) {
    if (text_at(names, section.sh_name) != MUSTER_DESCRIPTOR_SECTION) continue;
    if (contents.descriptor) return damaged("it has two sections '" MUSTER_DESCRIPTOR_SECTION "'");
    Result<std::string> text =
        content(section, kDescriptorMaximum, "section '" MUSTER_DESCRIPTOR_SECTION "'");
    if (!text) return std::move(text).error();
    while (!text->empty() && text->back() == '\0') text->pop_back();
    if (text->find('\0') != std::string::npos) {
      return damaged("its section '" MUSTER_DESCRIPTOR_SECTION
                     "' has more than one text; MUSTER_DESCRIPTOR stands once in a plugin");
    }
    contents.descriptor = std::move(*text);
  }
  return {};
}

Status Reader::read_symbols(const Elf64_Shdr& section, ElfFacts& facts) const {
  Result<std::string> names = strings_of(section, "dynamic symbols");
  if (!names) return std::move(names).error();
  Result<std::string> table = content(section, kSectionMaximum, "table of dynamic symbols");
  if (!table) return std::move(table).error();
  for (uint64_t at = 0; table->size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table->data() + at, sizeof symbol);
    const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
    if (symbol.st_shndx == SHN_UNDEF || (binding != STB_GLOBAL && binding != STB_WEAK)) continue;
    const std::optional<std::string_view> name = text_at(*names, symbol.st_name);
    if (!name) return damaged("the name of a dynamic symbol is outside of its string table");
    if (name->starts_with("muster_plugin_entry_v") || name->starts_with("muster_service_entry_v")) {
      if (facts.entries.size() < 16) facts.entries.emplace_back(*name);
    }
  }
  return {};
}

Status Reader::read_needed(const Elf64_Shdr& section, ElfFacts& facts) const {
  Result<std::string> names = strings_of(section, "dynamic section");
  if (!names) return std::move(names).error();
  Result<std::string> table = content(section, kSectionMaximum, "dynamic section");
  if (!table) return std::move(table).error();
  for (uint64_t at = 0; table->size() - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, table->data() + at, sizeof entry);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag != DT_NEEDED) continue;
    const std::optional<std::string_view> name = text_at(*names, entry.d_un.d_val);
    if (!name) return damaged("the name of a library it needs is outside of its string table");
    if (facts.needed.size() >= kNeededMaximum)
      return damaged(fmt::format("it needs more than {} libraries", kNeededMaximum));
    facts.needed.emplace_back(*name);
  }
  return {};
}

Result<ElfContents> Reader::read() {
  if (Status status = read_header(); !status) return std::move(status).error();
  if (Status status = read_sections(); !status) return std::move(status).error();

  uint64_t names_index = header_.e_shstrndx;
  if (names_index == SHN_XINDEX) names_index = sections_[0].sh_link;
  if (names_index >= sections_.size())
    return damaged(fmt::format("the names of its sections are in section {}, which is not there",
                               names_index));
  Result<std::string> names =
      content(sections_[names_index], kSectionMaximum, "table of section names");
  if (!names) return std::move(names).error();

  ElfContents contents;
  if (Status status = read_descriptor(*names, contents); !status) return std::move(status).error();
  bool symbols = false;
  bool dynamic = false;
  for (const Elf64_Shdr& section : sections_) {
    // The first of each, as the linker writes one; more would only serve to read the same bytes many times.
    if (section.sh_type == SHT_DYNSYM && !symbols) {
      symbols = true;
      if (Status status = read_symbols(section, contents.facts); !status)
        return std::move(status).error();
    } else if (section.sh_type == SHT_DYNAMIC && !dynamic) {
      dynamic = true;
      if (Status status = read_needed(section, contents.facts); !status)
        return std::move(status).error();
    }
  }
  return contents;
}

}  // namespace

Result<ElfContents> read_elf(uint64_t file_size, const ReadAt& read_at, const std::string& path) {
  return Reader(file_size, read_at, path).read();
}

Result<ElfContents> read_elf(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return system_error_about("look at", path, errno);
  // pread and not mmap: a file that is cut short meanwhile is then an error and not a signal.
  const ReadAt read_at = [descriptor](uint64_t offset, void* to, uint64_t size) {
    return read_fully_at(descriptor, offset, to, size);
  };
  return read_elf(static_cast<uint64_t>(status.st_size), read_at, path);
}

Result<ElfFacts> read_elf_facts(const std::string& path) {
  Result<OpenFile> file = open_regular_file(path);
  if (!file) return std::move(file).error();
  Result<ElfContents> contents = read_elf(file->descriptor(), path);
  if (!contents) return std::move(contents).error();
  return std::move(contents->facts);
}

}  // namespace muster

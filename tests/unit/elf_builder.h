// ElfBuilder: a shared object file of a few hundred bytes, right or wrong as a test wants it. It has sections but no code: enough
// for everything that reads files, and nothing for dlopen.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

namespace muster::test {

class ElfBuilder {
 public:
  ElfBuilder() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
#if defined(__x86_64__)
    header.e_machine = EM_X86_64;
#else
    header.e_machine = EM_AARCH64;
#endif
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    add("", SHT_NULL, "");
  }

  // A plugin as plugin.h makes it.
  static std::string plugin(const std::string& name,
                            const std::string& abi = R"({"major": 1, "minor": 0})") {
    ElfBuilder elf;
    elf.descriptor(R"({"name": ")" + name + R"(", "version": "1.0.0", "abi": )" + abi + "}");
    elf.symbol("muster_plugin_entry_v1");
    return elf.bytes();
  }

  ElfBuilder& descriptor(const std::string& text) {
    add(".muster.descriptor", SHT_PROGBITS, text + '\0');
    return *this;
  }
  ElfBuilder& symbol(const std::string& name, unsigned section = 1,
                     unsigned char binding = STB_GLOBAL) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names_.size());
    symbol.st_info = ELF64_ST_INFO(binding, STT_FUNC);
    symbol.st_shndx = static_cast<Elf64_Section>(section);
    names_ += name + '\0';
    symbols_.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
    return *this;
  }
  ElfBuilder& needs(const std::string& library) {
    Elf64_Dyn entry{};
    entry.d_tag = DT_NEEDED;
    entry.d_un.d_val = names_.size();
    names_ += library + '\0';
    dynamic_.append(reinterpret_cast<const char*>(&entry), sizeof entry);
    return *this;
  }

  // The file. Sections: those added, then .dynstr, .dynsym, .dynamic, .shstrtab; the section headers stand last.
  std::string bytes() {
    const auto strings = static_cast<Elf64_Word>(sections.size());
    add(".dynstr", SHT_STRTAB, names_);
    add(".dynsym", SHT_DYNSYM, symbols_).sh_link = strings;
    add(".dynamic", SHT_DYNAMIC, dynamic_).sh_link = strings;
    header.e_shstrndx = static_cast<Elf64_Half>(sections.size());
    Elf64_Shdr& last = add(".shstrtab", SHT_STRTAB, "");
    last.sh_size = section_names_.size();
    content_ += section_names_;
    header.e_shoff = sizeof(Elf64_Ehdr) + content_.size();
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    std::string file(reinterpret_cast<const char*>(&header), sizeof header);
    file += content_;
    for (const Elf64_Shdr& section : sections)
      file.append(reinterpret_cast<const char*>(&section), sizeof section);
    return file;
  }

  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> sections;

 private:
  Elf64_Shdr& add(const std::string& name, Elf64_Word type, const std::string& content) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(section_names_.size());
    section.sh_type = type;
    section.sh_offset = sizeof(Elf64_Ehdr) + content_.size();
    section.sh_size = content.size();
    section_names_ += name + '\0';
    content_ += content;
    return sections.emplace_back(section);
  }

  std::string section_names_;
  std::string names_ = std::string(1, '\0');
  std::string symbols_ = std::string(sizeof(Elf64_Sym), '\0');
  std::string dynamic_;
  std::string content_;
};

}  // namespace muster::test

// Reading the few facts of a shared object from its file: core/plugin/elf.h.
#include "core/plugin/elf.h"

#include <doctest/doctest.h>

#include <cstring>

#include "tests/unit/elf_builder.h"

using namespace muster;
using muster::test::ElfBuilder;

namespace {

Result<ElfContents> read(const std::string& bytes) {
  return read_elf(
      bytes.size(),
      [&](uint64_t offset, void* to, uint64_t size) {
        REQUIRE(offset <= bytes.size());
        REQUIRE(size <= bytes.size() - offset);
        std::memcpy(to, bytes.data() + offset, size);
        return true;
      },
      "/x/libmuster-x.so");
}

std::string message(const std::string& bytes) {
  const Result<ElfContents> contents = read(bytes);
  REQUIRE_FALSE(contents.ok());
  CHECK(contents.error().code == Code::kInvalidArgument);
  return contents.error().message;
}

bool has(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE(text);
  return found;
}

}  // namespace

TEST_CASE("a shared object tells its descriptor, its entries and what it needs") {
  ElfBuilder elf;
  elf.descriptor("{\"name\": \"x\"}")
      .symbol("muster_plugin_entry_v1")
      .symbol("muster_plugin_entry_v2")
      .symbol("other");
  elf.needs("libc.so.6").needs("libz.so.1");

  const Result<ElfContents> contents = read(elf.bytes());

  REQUIRE(contents.ok());
  CHECK(contents->descriptor == "{\"name\": \"x\"}");
  CHECK(contents->facts.entries ==
        std::vector<std::string>{"muster_plugin_entry_v1", "muster_plugin_entry_v2"});
  CHECK(contents->facts.needed == std::vector<std::string>{"libc.so.6", "libz.so.1"});
}

TEST_CASE("an entry that is only used, or local, is none") {
  ElfBuilder elf;
  elf.symbol("muster_plugin_entry_v1", SHN_UNDEF).symbol("muster_plugin_entry_v2", 1, STB_LOCAL);

  const Result<ElfContents> contents = read(elf.bytes());

  REQUIRE(contents.ok());
  CHECK(contents->facts.entries.empty());
  CHECK_FALSE(contents->descriptor.has_value());
}

TEST_CASE("a file that is no shared object of this machine says what it is") {
  CHECK(
      has(message(""),
          "'/x/libmuster-x.so' is not a shared object that muster can load: it has only 0 bytes"));
  CHECK(has(message(std::string(200, 'x')), "it is not an ELF file"));
  ElfBuilder elf;
  elf.header.e_ident[EI_CLASS] = ELFCLASS32;
  CHECK(has(message(elf.bytes()), "it is not a 64-bit one"));
  elf = ElfBuilder();
  elf.header.e_ident[EI_DATA] = ELFDATA2MSB;
  CHECK(has(message(elf.bytes()), "other byte order"));
  elf = ElfBuilder();
  elf.header.e_machine = EM_SPARC;
  CHECK(has(message(elf.bytes()), "another machine (ELF machine 2,"));
  elf = ElfBuilder();
  elf.header.e_type = ET_EXEC;
  CHECK(has(message(elf.bytes()), "its ELF type is 2, not 3"));
}

TEST_CASE("an offset or size past the end of the file is damage, however large it is") {
  for (const uint64_t huge : {uint64_t{1} << 20, uint64_t{1} << 40, UINT64_MAX - 3}) {
    ElfBuilder elf;
    elf.descriptor("{}");
    elf.sections[1].sh_offset = huge;
    CHECK(has(message(elf.bytes()),
              "its section '.muster.descriptor' (offset " + std::to_string(huge)));
    elf = ElfBuilder();
    elf.descriptor("{}");
    elf.sections[1].sh_size = huge;
    CHECK(has(message(elf.bytes()), "its section '.muster.descriptor'"));
  }
  std::string bytes = ElfBuilder::plugin("x");
  const uint64_t past = bytes.size() - 3;
  std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_shoff), &past, sizeof past);
  CHECK(has(message(bytes), "its table of sections"));
}

TEST_CASE("two descriptors are refused, in one section or in two") {
  ElfBuilder one;
  one.descriptor(std::string("{}\0{}", 5));
  CHECK(has(message(one.bytes()), "more than one text; MUSTER_DESCRIPTOR stands once in a plugin"));
  ElfBuilder two;
  two.descriptor("{}").descriptor("{}");
  CHECK(has(message(two.bytes()), "two sections '.muster.descriptor'"));
}

TEST_CASE(
    "every file cut short, and every file with one byte changed, is read or refused and nothing "
    "else") {
  ElfBuilder elf;
  elf.descriptor("{}").symbol("muster_plugin_entry_v1").needs("libc.so.6");
  const std::string whole = elf.bytes();
  for (size_t size = 0; size < whole.size(); ++size) CHECK_FALSE(read(whole.substr(0, size)).ok());
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {1, 0x80, 0xff}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ bit);
      static_cast<void>(read(changed).ok());
    }
  }
}

TEST_CASE("a file whose bytes cannot be read is damaged, not empty") {
  const std::string bytes = ElfBuilder::plugin("x");
  const Result<ElfContents> contents = read_elf(
      bytes.size(), [](uint64_t, void*, uint64_t) { return false; }, "/x");
  REQUIRE_FALSE(contents.ok());
  CHECK(contents.error().message == "'/x' is damaged: its header cannot be read");
}

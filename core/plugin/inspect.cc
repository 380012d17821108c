#include "core/plugin/inspect.h"

#include <fmt/format.h>
#include <muster/plugin.h>
#include <muster/transport.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/config/backend_names.h"
#include "core/plugin/elf.h"
#include "core/plugin/file.h"
#include "core/spec/sha256.h"

namespace muster {
namespace {

// What a file is by its bytes: opened once, hashed if asked, taken apart.
struct Opened {
  FoundPlugin found;
  ElfContents contents;
};

Result<std::string> hash_of(const OpenFile& file, const std::string& path) {
  Sha256 sha;
  constexpr uint64_t kPiece = 256u << 10;
  const std::unique_ptr<char[]> piece(new char[kPiece]);
  const auto size = static_cast<uint64_t>(file.status().st_size);
  for (uint64_t at = 0; at < size; at += kPiece) {
    const uint64_t part = std::min(kPiece, size - at);
    if (!read_fully_at(file.descriptor(), at, piece.get(), part)) {
      return Error{Code::kFailedPrecondition, fmt::format("'{}' cannot be read whole", path), {}};
    }
    sha.update(piece.get(), part);
  }
  return sha.hex();
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

// `path` without symlinks. `pin`: "" for none, kAnyHash to hash without comparing.
constexpr const char* kAnyHash = "*";
Result<FoundPlugin> identify(const OpenFile& open, const std::string& path, const std::string& name,
                             const std::string& pin) {
  FoundPlugin found;
  found.path = path;
  found.device = open.status().st_dev;
  found.inode = open.status().st_ino;
  found.size = open.status().st_size;
  found.modified_ns = modified_ns(open.status());
  if (!pin.empty()) {
    Result<std::string> hash = hash_of(open, path);
    if (!hash) return std::move(hash).error();
    if (pin != kAnyHash && *hash != lower(pin)) {
      return Error{
          Code::kPermissionDenied,
          fmt::format(
              "'{}' is not the file that plugins.sha256 pins: its SHA-256 is {}, pinned is {}",
              path, *hash, lower(pin)),
          {{"hint", fmt::format("install the pinned file again, or, when the new one is meant, pin "
                                "it: 'plugins: {{sha256: {{{}: {}}}}}'",
                                name, *hash)}}};
    }
    found.sha256 = std::move(*hash);
  }
  return found;
}

Result<Opened> open_real(const std::string& path, const std::string& name, const std::string& pin) {
  Result<OpenFile> open = open_regular_file(path);
  if (!open) return std::move(open).error();
  Result<FoundPlugin> found = identify(*open, path, name, pin);
  if (!found) return std::move(found).error();
  Opened opened;
  opened.found = std::move(*found);
  Result<ElfContents> contents = read_elf(open->descriptor(), path);
  if (!contents) {
    return std::move(contents).error().with("hint", "install a build of it for this machine");
  }
  opened.contents = std::move(*contents);
  opened.found.needed = opened.contents.facts.needed;
  return opened;
}

Result<Opened> open_checked(const std::string& file, const std::string& name,
                            const std::string& pin) {
  Result<std::string> path = follow_trusted(file);
  if (!path) return std::move(path).error();
  return open_real(*path, name, pin);
}

bool exports(const ElfContents& contents, std::string_view entry) {
  return std::find(contents.facts.entries.begin(), contents.facts.entries.end(), entry) !=
         contents.facts.entries.end();
}

Error not_a_plugin(std::string message, const char* duty, std::string hint) {
  return {Code::kInvalidArgument,
          fmt::format("{} ({})", message, duty),
          {{"duty", duty}, {"hint", std::move(hint)}}};
}

// What is checked once the bytes are read. `name`: "" takes the descriptor's.
Result<FoundPlugin> check_plugin(Opened opened, const std::string& name) {
  FoundPlugin found = std::move(opened.found);
  const ElfContents& contents = opened.contents;
  if (!contents.descriptor) {
    if (exports(contents, MUSTER_TRANSPORT_ENTRY_V1)) {
      return Error{Code::kInvalidArgument,
                   fmt::format("'{}' is a part of muster itself, not a backend", found.path),
                   {{"hint", "`muster plugins list` shows the backends"}}};
    }
    return not_a_plugin(
        fmt::format("'{}' is not a muster plugin: it has no descriptor (section '{}')", found.path,
                    MUSTER_DESCRIPTOR_SECTION),
        "MP-2", "build it with MUSTER_DESCRIPTOR of <muster/plugin.h> in it");
  }
  Result<Descriptor> descriptor = parse_descriptor(*contents.descriptor);
  if (!descriptor) {
    Error error = std::move(descriptor).error();
    error.message = fmt::format("'{}': {}", found.path, error.message);
    return std::move(error).with("hint", "mend its MUSTER_DESCRIPTOR and build it again");
  }
  found.descriptor = std::move(*descriptor);
  if (!name.empty() && found.descriptor.name != name) {
    return not_a_plugin(
        fmt::format("'{}' holds backend '{}' by its descriptor, but '{}' by its file name",
                    found.path, found.descriptor.name, name),
        "MP-2", fmt::format("name the file '{}'", plugin_file_name(found.descriptor.name)));
  }
  if (found.descriptor.abi_major != MUSTER_PLUGIN_ABI_MAJOR) {
    return not_a_plugin(
        fmt::format("'{}' is built for plugin ABI {}.{}; this muster takes {}.x", found.path,
                    found.descriptor.abi_major, found.descriptor.abi_minor,
                    MUSTER_PLUGIN_ABI_MAJOR),
        "MP-2",
        fmt::format("install a build of it for plugin ABI {}, or a muster that takes {}.x",
                    MUSTER_PLUGIN_ABI_MAJOR, found.descriptor.abi_major));
  }
  if (!exports(contents, MUSTER_PLUGIN_ENTRY_V1)) {
    return not_a_plugin(
        fmt::format("'{}' does not export '{}'", found.path, MUSTER_PLUGIN_ENTRY_V1), "MP-1",
        "declare the entry as <muster/plugin.h> does, with MUSTER_EXPORT, and build it again");
  }
  return found;
}

}  // namespace

Result<FoundPlugin> inspect_file(const std::string& file, const std::string& name,
                                 const std::string& pin) {
  Result<Opened> opened = open_checked(file, name, pin);
  if (!opened) return std::move(opened).error();
  return check_plugin(std::move(*opened), name);
}

Result<FoundPlugin> inspect_plugin(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return system_error_about("open", path, error.value());
  const std::string file = real.filename().string();
  std::string name;
  if (file.starts_with(kFilePrefix) && file.ends_with(kFileSuffix) &&
      file.size() > kFilePrefix.size() + kFileSuffix.size()) {
    name = file.substr(kFilePrefix.size(), file.size() - kFilePrefix.size() - kFileSuffix.size());
  }
  Result<Opened> opened = open_real(real.string(), name, kAnyHash);
  if (!opened) return std::move(opened).error();
  return check_plugin(std::move(*opened), name);
}

Result<FoundPlugin> inspect_service(const std::string& file, const std::string& name,
                                    const std::string& pin) {
  Result<Opened> opened = open_checked(file, name, pin);
  if (!opened) return std::move(opened).error();
  if (!exports(opened->contents, MUSTER_TRANSPORT_ENTRY_V1)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("'{}' is not muster's own library: it does not export '{}'",
                             opened->found.path, MUSTER_TRANSPORT_ENTRY_V1),
                 {{"hint", "install muster again"}}};
  }
  return std::move(opened->found);
}

Result<FoundPlugin> open_program(const std::string& file, const std::string& name,
                                 const std::string& pin) {
  Result<std::string> path = follow_trusted(file);
  if (!path) return std::move(path).error();
  Result<OpenFile> open = open_regular_file(*path);
  if (!open) return std::move(open).error();
  return identify(*open, *path, name, pin);
}

bool is_service_library(const std::string& file) {
  Result<ElfFacts> facts = read_elf_facts(file);
  return facts.ok() && std::find(facts->entries.begin(), facts->entries.end(),
                                 MUSTER_TRANSPORT_ENTRY_V1) != facts->entries.end();
}

Status check_unchanged(const FoundPlugin& found) {
  struct stat now {};
  if (::stat(found.path.c_str(), &now) != 0)
    return system_error_about("look again at", found.path, errno);
  if (now.st_dev == found.device && now.st_ino == found.inode && now.st_size == found.size &&
      modified_ns(now) == found.modified_ns)
    return {};
  return Error{Code::kFailedPrecondition,
               fmt::format("'{}' was replaced between being checked and being loaded", found.path),
               {{"hint", "start again once its installation is finished"}}};
}

}  // namespace muster

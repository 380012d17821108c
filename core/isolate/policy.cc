#include "core/isolate/policy.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace muster {
namespace {

// The C and C++ runtime (MP-1), the parts of libc that were libraries once, and what a compiler's sanitizers add.
constexpr std::string_view kRuntime[] = {
    "libc.so.",     "libm.so.",    "libmvec.so.",    "libstdc++.so.", "libgcc_s.so.",
    "ld-linux",     "libdl.so.",   "libpthread.so.", "librt.so.",     "libasan.so.",
    "libubsan.so.", "libtsan.so.", "liblsan.so.",    "ld64.so.",
};

// The libraries that it needs beyond that, in words; "" when there are none.
std::string other_libraries(const std::vector<std::string>& needed) {
  std::string others;
  for (const std::string& name : needed) {
    if (!is_runtime_library(name)) others += (others.empty() ? "'" : ", '") + name + "'";
  }
  return others;
}

// The file that this code is in: libmuster.so, or a program with it inside.
std::filesystem::path this_library() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&isolation_helper), &info) == 0 ||
      info.dli_fname == nullptr)
    return {};
  std::error_code error;
  std::filesystem::path library = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::filesystem::path() : library;
}

// Who, besides root, can put code into this process as it is.
uid_t library_owner() {
  struct stat status {};
  return ::stat(this_library().c_str(), &status) == 0 ? status.st_uid : 0;
}

// The file, or the nearest directory above it, that belongs to somebody else; "" when there is none.
std::string foreign_part(const std::string& path, uid_t owner) {
  for (std::filesystem::path part = path;; part = part.parent_path()) {
    struct stat status {};
    if (::stat(part.c_str(), &status) != 0 || (status.st_uid != 0 && status.st_uid != owner))
      return part.string();
    if (part == part.root_path() || part.empty()) return {};
  }
}

}  // namespace

bool is_runtime_library(std::string_view name) {
  return std::any_of(std::begin(kRuntime), std::end(kRuntime),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

Isolation decide_isolation(const FoundPlugin& found, std::optional<bool> isolate) {
  if (!found.command.empty()) return {true, "it is an executable", ""};
  if (isolate == true) return {true, "the config says so", ""};
  const std::string others = other_libraries(found.needed);
  if (isolate == false) {
    if (others.empty()) return {false, "the config says so", ""};
    return {false, "the config says so",
            fmt::format("plugin '{}' needs {}: these may be bound to other copies in this process "
                        "(isolate: false lets it in)",
                        found.descriptor.name, others)};
  }
  if (!others.empty())
    return {true, fmt::format("it needs {}, beyond the C and C++ runtime", others), ""};
  const std::string foreign = foreign_part(found.path, library_owner());
  if (!foreign.empty())
    return {true,
            fmt::format("'{}' belongs neither to root nor to the owner of libmuster", foreign), ""};
  return {false,
          "its file and folders belong to root or the owner of libmuster, and it needs only the C "
          "and C++ runtime",
          ""};
}

Result<std::string> isolation_helper() {
  const std::filesystem::path beside = this_library().parent_path();
  std::error_code error;
  const bool tree = std::filesystem::exists(beside / "plugin" / "muster-build-tree", error);
  const std::filesystem::path file =
      beside / (tree ? "isolate/child/muster-isolate" : "muster/muster-isolate");
  Result<std::string> trusted = follow_trusted(file.string());
  if (trusted) return trusted;
  Error failure = std::move(trusted).error();
  failure.message =
      fmt::format("a backend cannot be isolated, and it is never run in this process instead: {}",
                  failure.message);
  failure.code = Code::kFailedPrecondition;
  return std::move(failure).with("hint", "install muster again: muster-isolate comes with it");
}

}  // namespace muster

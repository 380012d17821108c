#include "core/plugin/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

namespace muster {

Result<OpenFile> open_regular_file(const std::string& path) {
  FileDescriptor descriptor;
  do {
    descriptor.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  } while (descriptor.get() < 0 && errno == EINTR);
  if (descriptor.get() < 0) return system_error_about("open", path, errno);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) return system_error_about("look at", path, errno);
  if (!S_ISREG(status.st_mode)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("'{}' is {}, not a regular file", path,
                             S_ISDIR(status.st_mode) ? "a directory" : "a device, pipe or socket"),
                 {}};
  }
  return OpenFile(std::move(descriptor), status);
}

bool read_fully_at(int descriptor, uint64_t offset, void* to, uint64_t size) {
  auto* bytes = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(descriptor, bytes, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<uint64_t>(got);
  }
  return true;
}

Error system_error_about(std::string_view action, const std::string& path, int number) {
  Code code = Code::kFailedPrecondition;
  if (number == ENOENT || number == ENOTDIR) code = Code::kNotFound;
  if (number == EACCES || number == EPERM) code = Code::kPermissionDenied;
  if (number == EMFILE || number == ENFILE || number == ENOMEM) code = Code::kResourceExhausted;
  return {code, fmt::format("cannot {} '{}': {}", action, path, system_text(number)), {}};
}

int64_t modified_ns(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

}  // namespace muster

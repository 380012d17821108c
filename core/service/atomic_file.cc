// Writes a file so that it is there whole or not at all.
#include "core/service/atomic_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

namespace muster {
namespace {

Error failed(const std::string& path, const char* what, int error) {
  const Code code = error == EACCES || error == EPERM || error == EROFS ? Code::kPermissionDenied
                    : error == ENOENT || error == ENOTDIR               ? Code::kNotFound
                    : error == ENOSPC || error == EDQUOT                ? Code::kResourceExhausted
                                                                        : Code::kUnavailable;
  return Error{code, fmt::format("'{}' cannot be {}: {}", path, what, system_text(error)), {}}.with(
      "hint", "name a file in a folder that is there and may be written to");
}

// 0, or the errno.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    content.remove_prefix(static_cast<size_t>(count));
  }
  return fsync(fd) == 0 || errno == EINVAL ? 0 : errno;
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view content) {
  std::error_code ignored;
  const std::string whole = std::filesystem::absolute(path, ignored).string();
  // Taking the name of a device away would break the machine.
  if (std::filesystem::exists(whole, ignored) &&
      !std::filesystem::is_regular_file(whole, ignored)) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("'{}' is there and is not a regular file", whole),
                 {}}
        .with("hint", "name another file");
  }
  std::string temporary = whole + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);  // mode 0600
  if (fd < 0) return failed(whole, "made", errno);
  int error = write_all(fd, content);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), whole.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(temporary.c_str());
  return failed(whole, "written", error);
}

}  // namespace muster

// Reads small files without ever waiting for one.
#include "core/service/file.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/file_descriptor.h"

namespace muster {
namespace {

std::string user_name(uid_t uid) {
  std::vector<char> buffer(4096);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return entry.pw_name;
  return std::to_string(uid);
}

std::string home_of_user() {
  std::vector<char> buffer(4096);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return entry.pw_dir;
  return "";
}

// "mode 0600, owned by 'root'"
std::string owner_text(const struct stat& info) {
  return fmt::format("mode {:04o}, owned by '{}'", info.st_mode & 07777, user_name(info.st_uid));
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return "something else";
}

Error not_regular(const std::string& path, mode_t mode) {
  return Error{Code::kFailedPrecondition,
               fmt::format("'{}' is {}, not a regular file", path, kind_of(mode)),
               {}}
      .with("hint", "name a regular file");
}

Error not_permitted(const std::string& path) {
  const std::string me = user_name(geteuid());
  std::string why;
  // The outermost folder that may not be searched is what must be mended first.
  const std::filesystem::path whole(path);
  std::filesystem::path folder;
  for (const auto& part : whole.parent_path()) {
    folder /= part;
    if (faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) == 0) continue;
    struct stat info {};
    if (stat(folder.c_str(), &info) == 0)
      why = fmt::format("the folder '{}' ({}) may not be searched", folder.string(),
                        owner_text(info));
    break;
  }
  struct stat info {};
  if (why.empty() && stat(path.c_str(), &info) == 0)
    why = fmt::format("the file has {}", owner_text(info));
  if (why.empty()) why = "the system does not allow it";
  return Error{Code::kPermissionDenied,
               fmt::format("'{}' cannot be read by user '{}': {}", path, me, why),
               {}}
      .with("hint", fmt::format("give '{}' the right to read it, or name another file", me));
}

Error not_found(const std::string& path, int error) {
  std::string message = fmt::format("'{}' does not exist", path);
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  bool parent_is_there = true;
  while (!folder.empty() && folder != folder.parent_path() &&
         !std::filesystem::exists(folder, ignored)) {
    folder = folder.parent_path();
    parent_is_there = false;
  }
  if (error == ENOTDIR && !folder.empty()) {
    message += fmt::format(": '{}' is not a folder", folder.string());
  } else if (!parent_is_there && !folder.empty()) {
    message += fmt::format("; of its folders only '{}' is there", folder.string());
  }
  return Error{Code::kNotFound, message, {}}.with("hint", "check the name, or make the file");
}

Error open_failed(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR: return not_found(path, error);
    case EACCES:
    case EPERM: return not_permitted(path);
    case ENXIO: return not_regular(path, S_IFSOCK);
    case ELOOP:
    case ENAMETOOLONG:
      return {Code::kFailedPrecondition,
              fmt::format("'{}' cannot be opened: {}", path, system_text(error)),
              {}};
    case EMFILE:
    case ENFILE:
      return {Code::kResourceExhausted,
              fmt::format("'{}' cannot be opened: {}; raise the limit of open files (ulimit -n)",
                          path, system_text(error)),
              {}};
    default:
      return {Code::kUnavailable,
              fmt::format("'{}' cannot be opened: {}", path, system_text(error)),
              {}};
  }
}

}  // namespace

Result<std::string> absolute_path(const std::string& file) {
  if (file.empty()) return Error{Code::kInvalidArgument, "the name of a file to read is empty", {}};
  if (file.find('\0') != std::string::npos)
    return Error{Code::kInvalidArgument, "the name of a file to read has a NUL in it", {}};
  std::string path = file;
  if (path.rfind("~/", 0) == 0) {
    const char* variable = std::getenv("HOME");
    const std::string home = variable != nullptr && *variable != '\0' ? variable : home_of_user();
    if (home.empty()) {
      return Error{
          Code::kNotFound,
          fmt::format("'{}': HOME is not set and the user database has no home for user {}", file,
                      geteuid()),
          {}}
          .with("hint", "set HOME, or write the whole path");
    }
    path = home + path.substr(1);
  }
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return failed ? path : whole.string();
}

Result<std::string> read_regular_file(const std::string& file, uint64_t maximum_size) {
  Result<std::string> absolute = absolute_path(file);
  if (!absolute) return absolute;
  const std::string& path = *absolute;

  // Looked at before it is opened: opening a device can do something (rewind a tape).
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return open_failed(path, errno);
  if (!S_ISREG(info.st_mode)) return not_regular(path, info.st_mode);
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (fd.get() < 0) return open_failed(path, errno);
  if (fstat(fd.get(), &info) != 0) return open_failed(path, errno);
  if (!S_ISREG(info.st_mode)) return not_regular(path, info.st_mode);

  const auto too_long = [&] {
    return Error{Code::kResourceExhausted,
                 fmt::format("'{}' is longer than the {} bytes it may have", path, maximum_size),
                 {}}
        .with("hint", "check that it is the right file");
  };
  const auto told = static_cast<uint64_t>(std::max<off_t>(info.st_size, 0));
  if (told > maximum_size) return too_long();

  std::string content;
  content.reserve(told + 65);
  // Read to the end, not to the told size: files of /proc tell 0, and others may grow.
  std::vector<char> buffer(65536);
  for (;;) {
    const ssize_t count = read(fd.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return Error{
          Code::kUnavailable, fmt::format("'{}' cannot be read: {}", path, system_text(errno)), {}};
    if (count == 0) return content;
    if (content.size() + static_cast<uint64_t>(count) > maximum_size) return too_long();
    content.append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace muster

// Reading the file of a configuration.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/config/config.h"
#include "core/config/words.h"
#include "core/config/yaml.h"
#include "core/file_descriptor.h"
#include "core/path.h"

namespace muster {
namespace {

Error failure(Code code, const std::string& path, const std::string& why) {
  return Error{
      code, fmt::format("cannot read the configuration '{}': {}", conf::printable(path), why), {}}
      .with("path", path);
}

Error failure_of_system(const std::string& path, int number) {
  const Code code = number == ENOENT || number == ENOTDIR ? Code::kNotFound
                    : number == EACCES || number == EPERM ? Code::kPermissionDenied
                                                          : Code::kUnavailable;
  const std::string why = number == ENOENT ? "there is no such file" : system_text(number);
  return failure(code, path, why);
}

}  // namespace

Result<Config> load_config(const std::string& path, const EnvironmentLookup& environment,
                           const DescriptorLookup& descriptors) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return Error{
        Code::kInvalidArgument, "the name of the configuration's file is empty or holds a NUL", {}};
  }
  const std::string name = rooted_path(path);

  const FileDescriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) return failure_of_system(name, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return failure_of_system(name, errno);
  if (S_ISDIR(status.st_mode)) return failure(Code::kInvalidArgument, name, "it is a directory");
  if (!S_ISREG(status.st_mode))
    return failure(Code::kInvalidArgument, name, "it is not a regular file");

  // Read to its end, whatever its size is said to be, but never much more than may be.
  std::string text;
  char buffer[65536];
  while (text.size() <= conf::kMaximumText + 3) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure_of_system(name, errno);
    if (count == 0) break;
    text.append(buffer, static_cast<size_t>(count));
  }
  if (text.size() > conf::kMaximumText + 3) {
    return failure(Code::kInvalidArgument, name,
                   fmt::format("it is longer than {} MiB", conf::kMaximumText >> 20));
  }
  return parse_config(std::move(text), name, environment, descriptors);
}

}  // namespace muster

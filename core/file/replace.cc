#include "core/file/replace.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>

#include "core/file_descriptor.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr int kMostLinks = 40;  // as many as Linux follows

// A write beyond RLIMIT_FSIZE sends this thread SIGXFSZ, which ends the process where nobody handles it. While this lives the signal is not
// delivered, so that the write fails with EFBIG; one that came meanwhile is taken away.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    sigset_t pending;
    sigemptyset(&only_);
    sigaddset(&only_, SIGXFSZ);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  ~NoSizeSignal() {
    const timespec now{};
    if (!was_pending_) {
      while (sigtimedwait(&only_, nullptr, &now) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  sigset_t only_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

std::string quoted(const std::string& path) { return quote(path, PATH_MAX); }

// With its '/' behind it; "" is the directory that this process is in.
std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

bool is_directory(const std::string& directory) {
  struct stat info {};
  return ::stat(directory.empty() ? "." : directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

FileFailure refused(const std::string& path, const char* what) {
  return {FileFailure::Kind::kRefused, 0, quoted(path) + " is " + what + ", not a regular file",
          "name another file: what is there would be taken away"};
}

// `place`: the file that `path` stands for.
FileFailure failed(const std::string& path, const std::string& place, const char* what, int error) {
  const std::string begin = quoted(path) + " cannot be " + what + ": ";
  const std::string directory = directory_of(place);
  if ((error == ENOENT || error == ENOTDIR) && !is_directory(directory)) {
    const std::string shown =
        directory.size() > 1 ? directory.substr(0, directory.size() - 1) : directory;
    return {FileFailure::Kind::kNoDirectory, error,
            begin + "the directory " + quoted(shown) +
                (error == ENOENT ? " does not exist" : " is none"),
            "make the directory, or name a file in one that is there"};
  }
  const char* hint =
      error == ENOSPC || error == EDQUOT ? "make room on that disk, or name a file on another"
      : error == EFBIG ? "raise the limit of the file size (ulimit -f), or name a file elsewhere"
                       : "name a file in a directory that may be written to";
  return {FileFailure::Kind::kSystem, error, begin + std::generic_category().message(error), hint};
}

// What `path` stands for.
struct Place {
  std::string path;  // behind all symbolic links
  bool exists = false;
  struct stat info {};
};

// Follows symbolic links by hand, for the system follows none to a file that is to be made. 0 or the errno.
int follow(std::string& path) {
  for (int links = 0;; ++links) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return 0;
    if (links == kMostLinks) return ELOOP;
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return errno;
    if (size == 0 || static_cast<size_t>(size) == target.size()) return ENAMETOOLONG;
    const std::string_view to(target.data(), static_cast<size_t>(size));
    path = to[0] == '/' ? std::string(to) : directory_of(path).append(to);
  }
}

const char* kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "a directory"
         : S_ISCHR(mode)  ? "a device"
         : S_ISBLK(mode)  ? "a device"
         : S_ISFIFO(mode) ? "a FIFO"
         : S_ISSOCK(mode) ? "a socket"
                          : "something else";
}

std::optional<FileFailure> find_place(const std::string& path, Place& place) {
  place.path = path;
  if (path.empty()) return failed(path, path, "written", ENOENT);
  // Opened, not only looked at: so the system says its word on links in directories that everybody may write to.
  const FileDescriptor there(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (there.get() < 0 && errno != ENOENT) return failed(path, path, "written", errno);
  if (there.get() >= 0) {
    if (::fstat(there.get(), &place.info) != 0) return failed(path, path, "looked at", errno);
    if (!S_ISREG(place.info.st_mode)) return refused(path, kind_of(place.info.st_mode));
    place.exists = true;
  } else if (path.back() == '/') {
    return refused(path, "the name of a directory");
  }
  if (const int error = follow(place.path); error != 0) return failed(path, path, "written", error);
  if (!place.exists) {
    if (!is_directory(directory_of(place.path))) return failed(path, place.path, "written", ENOENT);
    return std::nullopt;
  }
  // Not so of a link in /proc to a file whose name is gone.
  struct stat found {};
  if (::stat(place.path.c_str(), &found) != 0 || found.st_dev != place.info.st_dev ||
      found.st_ino != place.info.st_ino)
    return refused(path, "a file that has no name any more");
  return std::nullopt;
}

// A new file beside `path`, made as the umask says: not by mkostemp, which says 0600. -1 with errno.
int make_beside(const std::string& path, mode_t mode, std::string& made) {
  static constexpr char kLetters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const std::string directory = directory_of(path);
  // A name has at most 255 bytes.
  const std::string name = path.substr(directory.size(), 240);
  for (int tries = 0; tries < 100; ++tries) {
    std::array<unsigned char, 6> random{};
    if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
      if (errno == EINTR) continue;
      return -1;
    }
    made = directory + name + ".";
    for (const unsigned char byte : random) made += kLetters[byte % (sizeof kLetters - 1)];
    const int fd = ::open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  errno = EEXIST;
  return -1;
}

// 0 or the errno.
int set_access(int fd, const Place& place, FileAccess access) {
  if (access == FileAccess::kOwner) return 0;
  struct stat made {};
  if (::fstat(fd, &made) != 0) return errno;
  mode_t mode = made.st_mode & 0777U;
  if (place.exists) {
    mode = place.info.st_mode & 0777U;
    if ((made.st_uid != place.info.st_uid || made.st_gid != place.info.st_gid) &&
        ::fchown(fd, place.info.st_uid, place.info.st_gid) != 0 &&
        ::fchown(fd, static_cast<uid_t>(-1), place.info.st_gid) != 0) {
      // What its group might do, this process's group may not do for that.
      mode &= ~static_cast<mode_t>(070U) | (mode & 07U) << 3U;
    }
  }
  if (access == FileAccess::kUmaskAndToRun) mode |= (mode & 0444U) >> 2U;
  if (mode == (made.st_mode & 0777U)) return 0;
  return ::fchmod(fd, mode) == 0 ? 0 : errno;
}

// 0 or the errno.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    content.remove_prefix(static_cast<size_t>(count));
  }
  return ::fsync(fd) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: there is no disk behind it
}

// Until then a machine that goes down may forget which files are in the directory. It may not be ours to read, or know no such thing: the file
// is there all the same.
void sync_directory(const std::string& directory) {
  const FileDescriptor opened(
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() >= 0) ::fsync(opened.get());
}

}  // namespace

std::optional<FileFailure> replace_file(const std::string& path, std::string_view content,
                                        FileAccess access) {
  Place place;
  if (auto failure = find_place(path, place)) return failure;
  const NoSizeSignal no_size_signal;
  std::string beside;
  FileDescriptor file(make_beside(place.path, access == FileAccess::kOwner ? 0600 : 0666, beside));
  if (file.get() < 0) return failed(path, place.path, "written", errno);
  int error = set_access(file.get(), place, access);
  if (error == 0) error = write_all(file.get(), content);
  // A full disk may only be told now.
  if (::close(file.release()) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), place.path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(beside.c_str());
    return failed(path, place.path, "written", error);
  }
  sync_directory(directory_of(place.path));
  return std::nullopt;
}

std::optional<FileFailure> refusal_of(const std::string& path) {
  Place place;
  auto failure = find_place(path, place);
  if (failure && failure->kind == FileFailure::Kind::kSystem) return std::nullopt;
  return failure;
}

std::optional<FileFailure> remove_file(const std::string& path) {
  Place place;
  if (auto failure = find_place(path, place)) {
    if (failure->kind == FileFailure::Kind::kNoDirectory) return std::nullopt;
    return failure;
  }
  if (!place.exists) return std::nullopt;
  if (::unlink(place.path.c_str()) != 0 && errno != ENOENT)
    return failed(path, place.path, "removed", errno);
  sync_directory(directory_of(place.path));
  return std::nullopt;
}

}  // namespace muster

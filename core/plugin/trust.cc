// Whose hands a file has gone through: only root's and this user's may have.

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/file.h"
#include "core/plugin/finder.h"

namespace muster {
namespace {

constexpr int kLinkMaximum = 40;  // as Linux follows

std::string user_name(uid_t user) {
  char buffer[4096];
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, buffer, sizeof buffer, &found) == 0 && found != nullptr) {
    return fmt::format("'{}' ({})", found->pw_name, user);
  }
  return fmt::format("{}", user);
}

// For a shell: quoted when it must be.
std::string shell_word(const std::string& text) {
  const bool plain =
      text.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,=") ==
      std::string::npos;
  if (plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

const char* kind_of(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "directory";
  if (S_ISLNK(status.st_mode)) return "symbolic link";
  return "file";
}

Error not_trusted(const std::string& path, const struct stat& status, std::string_view why,
                  std::string mend) {
  return Error{Code::kPermissionDenied,
               fmt::format("{} '{}' is not trusted: {} (owner {}, mode {:04o})", kind_of(status),
                           path, why, user_name(status.st_uid), status.st_mode & 07777),
               {{"hint", std::move(mend)}}};
}

// One component: a directory on the way, a link, or the file itself.
Status check_one(const std::string& path, const struct stat& status) {
  const uid_t self = ::geteuid();
  if (status.st_uid != 0 && status.st_uid != self) {
    return not_trusted(
        path, status,
        self == 0 ? "it belongs to another user than root"
                  : "it belongs to neither root nor this user",
        fmt::format("chown {} {}{}", self, S_ISLNK(status.st_mode) ? "-h " : "", shell_word(path)));
  }
  if (S_ISLNK(status.st_mode)) return {};  // the mode of a link means nothing
  const mode_t writers = status.st_mode & (S_IWGRP | S_IWOTH);
  // In a sticky directory others can add names but not replace ours.
  if (writers == 0 || (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0)) return {};
  const bool group = (writers & S_IWGRP) != 0;
  const bool others = (writers & S_IWOTH) != 0;
  return not_trusted(
      path, status,
      group && others ? "its group and all others can write it"
      : group         ? "its group can write it"
                      : "all others can write it",
      fmt::format("chmod {}{}-w {}", group ? "g" : "", others ? "o" : "", shell_word(path)));
}

// The components of a path in the order of walking, the first one last, so that the next is at the back.
void push_components(std::string_view path, std::vector<std::string>& stack) {
  while (!path.empty()) {
    const size_t slash = path.rfind('/');
    const std::string_view last = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (!last.empty() && last != ".") stack.emplace_back(last);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
}

}  // namespace

Result<std::string> follow_trusted(const std::string& path) {
  if (path.empty() || path[0] != '/') {
    return Error{Code::kInvalidArgument, fmt::format("'{}' is not an absolute path", path), {}};
  }
  std::string at;  // walked so far; "" is the root
  std::vector<std::string> left;
  push_components(path, left);
  struct stat status {};
  if (::lstat("/", &status) != 0) return system_error_about("look at", "/", errno);
  if (Status checked = check_one("/", status); !checked) return std::move(checked).error();
  int links = 0;
  while (!left.empty()) {
    const std::string name = std::move(left.back());
    left.pop_back();
    if (!S_ISDIR(status.st_mode)) return system_error_about("look at", at + "/" + name, ENOTDIR);
    if (name == "..") {
      at.resize(at.empty() ? 0 : at.rfind('/'));
      continue;
    }
    std::string next = at + "/" + name;
    if (::lstat(next.c_str(), &status) != 0) return system_error_about("look at", next, errno);
    if (Status checked = check_one(next, status); !checked) return std::move(checked).error();
    if (!S_ISLNK(status.st_mode)) {
      at = std::move(next);
      continue;
    }
    if (++links > kLinkMaximum) return system_error_about("look at", path, ELOOP);
    char target[PATH_MAX];
    const ssize_t size = ::readlink(next.c_str(), target, sizeof target);
    if (size < 0) return system_error_about("read the link", next, errno);
    const std::string_view text(target, static_cast<size_t>(size));
    if (text.starts_with('/')) at.clear();
    push_components(text, left);
    if (::lstat(at.empty() ? "/" : at.c_str(), &status) != 0)
      return system_error_about("look at", at, errno);
  }
  return at.empty() ? std::string("/") : at;
}

Status check_trust(const std::string& path) {
  Result<std::string> end = follow_trusted(path);
  if (!end) return std::move(end).error();
  return {};
}

}  // namespace muster

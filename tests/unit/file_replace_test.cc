// The one writer of files.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/file/replace.h"

namespace fs = std::filesystem;
using muster::FileAccess;
using muster::FileFailure;
using muster::refusal_of;
using muster::remove_file;
using muster::replace_file;

namespace {

// A directory of its own for each test.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "muster-replace.XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return *this / name;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator(path_)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

mode_t mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(lstat(path.c_str(), &info) == 0);
  return info.st_mode;
}

void written(const std::optional<FileFailure>& failure) {
  if (failure) FAIL(failure->text);
}

// While it lives, the umask of this process.
struct Umask {
  explicit Umask(mode_t mask) : before(umask(mask)) {}
  ~Umask() { umask(before); }
  mode_t before;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a new file has the mode that the umask leaves, or is its owner's alone") {
  const Folder folder;
  const Umask umask(0027);
  written(replace_file(folder / "shared", "a", FileAccess::kUmask));
  written(replace_file(folder / "own", "b", FileAccess::kOwner));
  written(replace_file(folder / "run", "c", FileAccess::kUmaskAndToRun));
  CHECK(content(folder / "shared") == "a");
  CHECK((mode_of(folder / "shared") & 0777U) == 0640);
  CHECK((mode_of(folder / "own") & 0777U) == 0600);
  CHECK((mode_of(folder / "run") & 0777U) == 0750);
  CHECK(folder.names() == Names{"own", "run", "shared"});
}

TEST_CASE(
    "a file is replaced at once: who has it open reads the old one to its end, and its mode "
    "stays") {
  const Folder folder;
  const std::string path = folder.file("out", "old");
  REQUIRE(chmod(path.c_str(), 0604) == 0);
  std::ifstream open(path);
  written(replace_file(path, "new", FileAccess::kUmask));
  std::string read;
  open >> read;
  CHECK(read == "old");
  CHECK(content(path) == "new");
  CHECK((mode_of(path) & 0777U) == 0604);
  written(replace_file(path, "newer", FileAccess::kOwner));
  CHECK((mode_of(path) & 0777U) == 0600);
  CHECK(folder.names() == Names{"out"});
}

TEST_CASE("of a symbolic link the target is replaced and the link stays") {
  const Folder folder;
  fs::create_directories(folder / "there");
  folder.file("there/target", "old");
  fs::create_symlink("there/target", folder / "second");
  fs::create_symlink(folder / "second", folder / "first");
  written(replace_file(folder / "first", "new", FileAccess::kUmask));
  CHECK(S_ISLNK(mode_of(folder / "first")));
  CHECK(S_ISLNK(mode_of(folder / "second")));
  CHECK(content(folder / "there/target") == "new");
  CHECK(folder.names() == Names{"first", "second", "there"});
  written(remove_file(folder / "first"));
  CHECK(S_ISLNK(mode_of(folder / "first")));
  CHECK_FALSE(fs::exists(folder / "there/target"));
  // A link to what is not there makes it.
  written(replace_file(folder / "first", "again", FileAccess::kUmask));
  CHECK(S_ISLNK(mode_of(folder / "first")));
  CHECK(content(folder / "there/target") == "again");
}

TEST_CASE("a link behind a linked directory is followed as the system follows it") {
  const Folder folder;
  fs::create_directories(folder / "deep/er");
  fs::create_directory_symlink("deep/er", folder / "linked");
  fs::create_symlink("../out", folder / "deep/er/link");
  written(replace_file(folder / "linked/link", "new", FileAccess::kUmask));
  CHECK(content(folder / "deep/out") == "new");
  CHECK_FALSE(fs::exists(folder / "out"));
}

TEST_CASE("links that go in a circle are told") {
  const Folder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  const auto failure = replace_file(folder / "a", "x", FileAccess::kUmask);
  REQUIRE(failure);
  CHECK(failure->error == ELOOP);
  CHECK(folder.names() == Names{"a", "b"});
}

TEST_CASE("what is no regular file is refused, and stays what it is") {
  const Folder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  fs::create_directory(folder / "directory");
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string at = folder / "socket";
  REQUIRE(at.size() < sizeof address.sun_path);
  std::copy(at.begin(), at.end(), address.sun_path);
  REQUIRE(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  close(socket);
  fs::create_symlink("pipe", folder / "link");
  const Names before = folder.names();
  const std::pair<std::string, std::string> refused[] = {
      {folder / "pipe", "a FIFO"},
      {folder / "directory", "a directory"},
      {folder / "socket", "a socket"},
      {folder / "link", "a FIFO"},
      {folder / "new/", "the name of a directory"},
      {"/dev/null", "a device"}};
  for (const auto& one : refused) {
    const std::string &path = one.first, &what = one.second;
    CAPTURE(path);
    const mode_t kind = fs::exists(path) ? mode_of(path) : 0;
    for (const auto& failure : {replace_file(path, "x", FileAccess::kOwner), refusal_of(path)}) {
      REQUIRE(failure);
      CHECK(failure->kind == FileFailure::Kind::kRefused);
      CHECK(failure->text == "'" + path + "' is " + what + ", not a regular file");
    }
    if (path.back() != '/') {
      CHECK(remove_file(path));
      CHECK(mode_of(path) == kind);
    }
  }
  CHECK(folder.names() == before);
}

TEST_CASE("a directory that is not there is told by its name") {
  const Folder folder;
  const std::string path = folder / "none/out";
  for (const auto& failure : {replace_file(path, "x", FileAccess::kOwner), refusal_of(path)}) {
    REQUIRE(failure);
    CHECK(failure->kind == FileFailure::Kind::kNoDirectory);
    CHECK(failure->text == "'" + path + "' cannot be written: the directory '" + (folder / "none") +
                               "' does not exist");
  }
  written(remove_file(path));
  folder.file("file", "");
  CHECK(replace_file(folder / "file/out", "x", FileAccess::kOwner));
  CHECK(folder.names() == Names{"file"});
}

TEST_CASE(
    "a file beyond the limit of the file size is a failure that leaves nothing, and no signal") {
  const Folder folder;
  const std::string path = folder.file("out", "old");
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, SIG_DFL);
    const auto failure = replace_file(path, std::string(5000, 'x'), FileAccess::kUmask);
    _exit(failure && failure->error == EFBIG ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(content(path) == "old");
  CHECK(folder.names() == Names{"out"});
}

TEST_CASE("a name as long as names may be is written") {
  const Folder folder;
  const std::string path = folder / std::string(255, 'n');
  written(replace_file(path, "x", FileAccess::kUmask));
  written(replace_file(path, "y", FileAccess::kUmask));
  CHECK(content(path) == "y");
}

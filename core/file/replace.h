// The one writer of files: what muster writes is there whole, or the file is as it was.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster {

// Why a file was not written. `text` is the whole of it: "'/run/x' cannot be written: the directory '/run' does not exist".
struct FileFailure {
  // kRefused: what is there must not be replaced. kNoDirectory: there is no directory to write it into. kSystem: `error` says why.
  enum class Kind { kRefused, kNoDirectory, kSystem };
  Kind kind = Kind::kSystem;
  int error = 0;  // errno; of kRefused 0
  std::string text;
  std::string hint;  // what to do about it
};

// Who may read the file.
enum class FileAccess {
  kOwner,  // mode 0600, whatever was there before
  kUmask,  // a new file: as the umask says; one that is there keeps its mode, and its owner and group where that is allowed
  kUmaskAndToRun,  // the same, and whoever may read it may run it
};

// Replaces the file `path`, or makes it: `content` is written beside it, forced to the disk, and given its name; then the directory is forced
// to the disk too. A reader sees all of the old content or all of the new one, also after a crash of the machine.
//   - Of a symbolic link the target is replaced or made; the link stays.
//   - A device, a FIFO, a socket or a directory is refused before anything is written: taking its name away would break who uses it.
//   - On any failure `path` is as it was and nothing is left beside it; a limit of the file size (RLIMIT_FSIZE) is a failure like any other.
// Other names of the file (hard links) keep the old content. [thread-safe]
std::optional<FileFailure> replace_file(const std::string& path, std::string_view content,
                                        FileAccess access);

// What replace_file would refuse, or find no directory for, by what is there now. Writes nothing.
std::optional<FileFailure> refusal_of(const std::string& path);

// Removes the file that replace_file would replace; of a symbolic link the target. One that is not there is removed already.
std::optional<FileFailure> remove_file(const std::string& path);

}  // namespace muster

// OpenFile: a regular file that is opened once and then looked at through its descriptor alone.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/file_descriptor.h"
#include "core/result.h"

namespace muster {

class OpenFile {
 public:
  OpenFile(FileDescriptor descriptor, const struct stat& status)
      : descriptor_(std::move(descriptor)), status_(status) {}

  int descriptor() const { return descriptor_.get(); }
  const struct stat& status() const { return status_; }  // as of opening

 private:
  FileDescriptor descriptor_;
  struct stat status_;
};

// Opens for reading; never waits (a FIFO is refused, not opened for ever). kNotFound, kPermissionDenied, kInvalidArgument (not a regular file).
Result<OpenFile> open_regular_file(const std::string& path);

// All of `size` bytes at `offset`; false on an error or when the file ends before.
bool read_fully_at(int descriptor, uint64_t offset, void* to, uint64_t size);

// "cannot open '/x': Permission denied", with the code that fits errno.
Error system_error_about(std::string_view action, const std::string& path, int number);

// Modification time in nanoseconds since 1970.
int64_t modified_ns(const struct stat& status);

}  // namespace muster

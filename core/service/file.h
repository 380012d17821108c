// Reads small files without ever waiting for one.
#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"

namespace muster {

// A whole regular file of at most `maximum_size` bytes; "~/" is the user's home (HOME, else what the user database says). Never
// blocks on a pipe, a socket or a device. Fails with
//   kNotFound            no such file; tells the nearest folder that is there
//   kPermissionDenied    tells who owns it and its mode, or which folder may not be searched
//   kFailedPrecondition  not a regular file
//   kResourceExhausted   longer than the maximum
//   kUnavailable         reading failed
Result<std::string> read_regular_file(const std::string& file, uint64_t maximum_size);

// The whole path of a file as a user writes it: with "~/" for the user's home (see above), else from the working directory. kNotFound
// when the user has no home.
Result<std::string> absolute_path(const std::string& file);

}  // namespace muster

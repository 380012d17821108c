// The writer of files, with its failures as errors of the core.
#include "core/service/atomic_file.h"

#include <cerrno>

#include "core/file/replace.h"

namespace muster {

Status write_private_file(const std::string& path, std::string_view content) {
  auto failure = replace_file(path, content, FileAccess::kOwner);
  if (!failure) return {};
  const int error = failure->error;
  // Not kNotFound, which says of a cluster that it is not there.
  const Code code = error == EACCES || error == EPERM || error == EROFS ? Code::kPermissionDenied
                    : error == ENOSPC || error == EDQUOT || error == EFBIG
                        ? Code::kResourceExhausted
                        : Code::kFailedPrecondition;
  return Error{code, std::move(failure->text), {}}.with("hint", std::move(failure->hint));
}

}  // namespace muster

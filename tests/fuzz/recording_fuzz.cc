// Recordings: whatever the file holds, reading it ends, and what was read is written so that it reads the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/service/recording.h"
#include "core/service/session.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace muster;
  const Result<RecordedResolvers> read =
      read_recording({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!read) {
    if (read.error().message.rfind("fuzz:", 0) != 0) std::abort();
    return 0;
  }
  const Secrets none;
  const std::string written = write_recording(*read, none);
  const Result<RecordedResolvers> again = read_recording(written, "again");
  if (!again || write_recording(*again, none) != written) std::abort();
  return 0;
}

// muster plugins trace: what the backends of a resolve and the core say to each other.
#include <string>

#include "tools/muster/settings.h"
#include "tools/muster/terminal.h"

namespace muster_command {
namespace {

constexpr int32_t kFrames = -1;  // the log level of a frame

struct Lines {
  int32_t level = 0;  // of those that are no frames
  int lost = 0;       // the exit status when stdout cannot be written to
};

void write_line(void* ctx, int32_t level, const char* text, size_t size) {
  Lines& lines = *static_cast<Lines*>(ctx);
  if (level == kFrames) {
    if (lines.lost == 0) lines.lost = print_page(std::string(text, size) + "\n");
  } else if (level >= lines.level) {
    write_log(nullptr, level, text, size);
  }
}

}  // namespace

int plugins_trace(const Options& options) {
  const Settings settings = make_settings(options);
  if (settings == nullptr) return kExitUsage;
  Error error;
  if (muster_settings_set(settings.get(), "trace", "true", Out(error)) != 0) return report(error);
  Lines lines{log_level(options)};
  muster_settings_set_log(settings.get(), kFrames, write_line, &lines);
  Cluster cluster;
  if (muster_open(settings.get(), Out(cluster), Out(error)) != 0) return report(error);
  Snapshot snapshot;
  int32_t code = 0;
  {
    const CancelOnSignal signals(cluster.get());
    code = muster_resolve(cluster.get(), Out(snapshot), Out(error));
  }
  CancelOnSignal::die_if_signalled();
  if (code != 0) return report(error);
  if (lines.lost != 0) return lines.lost;
  return muster_snapshot_complete(snapshot.get()) != 0 ? 0 : kExitIncomplete;
}

}  // namespace muster_command

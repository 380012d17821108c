// What a watch of pods says: lines of JSON, read as they arrive. Knows nothing of networks.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/pod.h"
#include "plugins/kubernetes/pod_list.h"

namespace muster::kubernetes {

struct PodEvent {
  // An added pod and a modified one are told alike, for a stream that goes on may tell either again.
  enum class Kind : uint8_t { kChanged, kDeleted, kBookmark, kError };
  Kind kind = Kind::kBookmark;
  Pod pod;              // of kChanged and kDeleted
  std::string version;  // the resourceVersion from which a later watch goes on; "" for kError
  ApiStatus status;     // of kError
  int64_t code = 0;     // of kError, as an HTTP status: 410 when the version is no longer known
};

// Not thread-safe.
class PodEventReader {
 public:
  // `wanted` outlives this. A line longer than `line_maximum` bytes is no event.
  explicit PodEventReader(const Wanted& wanted, size_t line_maximum = 16 << 20)
      : wanted_(wanted), line_maximum_(line_maximum) {}

  // Before each stream: what was left of the one before is forgotten.
  void begin();

  // The events that are whole with the next bytes, in order; their pods' texts go into `texts`, which keeps no pods.
  // DATA_LOSS when a line is no event of pods; what was whole before it is lost with it.
  sdk::Result<std::vector<PodEvent>> take(std::string_view bytes, PodList& texts);

  // Whether nothing of a further event has come: else the rest is under way.
  bool between_events() const { return text_.empty(); }

 private:
  sdk::Status read(std::string_view line, PodList& texts, PodEvent& event);

  const Wanted& wanted_;
  const size_t line_maximum_;
  std::string text_;  // what is not whole yet
  simdjson::ondemand::parser parser_;
};

}  // namespace muster::kubernetes

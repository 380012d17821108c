// What a watch says, of pods or of other objects: lines of JSON, read as they arrive. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/pod.h"
#include "plugins/kubernetes/pod_list.h"

namespace muster::kubernetes {

struct Event {
  // An added object and a modified one are told alike, for a stream that goes on may tell either again.
  enum class Kind : uint8_t { kChanged, kDeleted, kBookmark, kError };
  Kind kind = Kind::kBookmark;
  Pod pod;                 // of kChanged and kDeleted, where pods are read
  std::string name, json;  // of those, where other objects are: metadata.name, and the whole
  std::string version;     // the resourceVersion from which a later watch goes on; "" for kError
  ApiStatus status;        // of kError
  int64_t code = 0;        // of kError, as an HTTP status: 410 when the version is no longer known
};

// Not thread-safe.
class EventReader {
 public:
  // Of pods. `wanted` outlives this. A line longer than `line_maximum` bytes is no event.
  explicit EventReader(const Wanted& wanted, size_t line_maximum = 16 << 20)
      : wanted_(&wanted), line_maximum_(line_maximum) {}
  // Of other objects.
  explicit EventReader(size_t line_maximum = 16 << 20) : line_maximum_(line_maximum) {}

  // Before each stream: what was left of the one before is forgotten.
  void begin();

  // The events that are whole with the next bytes, in order; their pods' texts go into `texts`, which keeps no pods.
  // DATA_LOSS as soon as a line is, or begins as, no event of such objects; what was whole before it is lost with it.
  sdk::Result<std::vector<Event>> take(std::string_view bytes, PodList& texts);

  // After the last byte of a stream that ended well: the event that no end of a line followed, if it is whole.
  sdk::Result<std::vector<Event>> finish(PodList& texts);

  // Whether nothing of a further event has come: else the rest is under way.
  bool between_events() const { return text_.empty(); }

 private:
  sdk::Status read(std::string_view line, PodList& texts, Event& event);

  const Wanted* const wanted_ = nullptr;  // null: not of pods
  const size_t line_maximum_;
  std::string text_;  // what is not whole yet
  json::Walk walk_;
};

}  // namespace muster::kubernetes

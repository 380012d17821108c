// One page of pods, read while its bytes arrive: a page is never held, and its reading is done when it ends. Knows nothing of networks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/pod_list.h"
#include "plugins/kubernetes/pod_list_protobuf.h"

namespace muster::kubernetes {

// Takes JSON or protobuf, whichever the bytes are; keeps its buffers from one page to the next. Not thread-safe.
class PodListStream {
 public:
  // All of them outlive this. Pods are appended to `list`; those of a page that failed may be used by nobody.
  // `piece`: of how many bytes on a part of JSON is read; the default stays in a processor's own cache.
  PodListStream(PodListReader& json, const Wanted& wanted, PodList& list, size_t piece = 256 << 10)
      : json_(json), wanted_(wanted), list_(list), piece_(piece) {
    begin();
  }

  // Before each page but the first.
  void begin();

  // The next bytes. DATA_LOSS as soon as they cannot be the beginning of a PodList.
  sdk::Status take(std::string_view bytes);

  // Whether the bytes of this page that were taken are protobuf's.
  bool is_protobuf() const { return form_ == Form::kProtobuf; }

  // After the last byte: the continue token, "" on the last page. DATA_LOSS when it was no whole PodList.
  sdk::Result<std::string> finish();

 private:
  enum class Form { kUnknown, kJson, kProtobuf };
  sdk::Status take_protobuf(std::string_view bytes);
  void read_ahead();
  std::optional<size_t> last_cut();

  PodListReader& json_;
  const Wanted& wanted_;
  PodList& list_;
  ProtobufPodReader protobuf_;
  Form form_ = Form::kUnknown;

  std::string text_;  // what was not read yet; JSON: behind the page's head
  size_t head_ = 0;   // JSON: the size of that head, up to the items; 0: not known yet
  size_t searched_ = 0;
  const size_t piece_;
  size_t enough_ = 0;  // JSON: from how many bytes on a part of the page is read
};

}  // namespace muster::kubernetes

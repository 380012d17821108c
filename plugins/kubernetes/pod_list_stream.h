// The pages of a list of pods, read while their bytes arrive: a page is never held. Knows nothing of networks.
#pragma once

#include <string>
#include <string_view>

#include <muster/plugin.hpp>

#include "plugins/kubernetes/pod_list.h"
#include "plugins/kubernetes/pod_list_parts.h"
#include "plugins/kubernetes/pod_list_protobuf.h"
#include "plugins/kubernetes/pod_list_queue.h"

namespace muster::kubernetes {

// Takes JSON or protobuf, whichever the bytes are; keeps its buffers from one page to the next. Used by one thread. Large pages of
// JSON are read by another one: `list` is looked at after `end`. Protobuf is read at once: that takes less time than handing it over.
class PodListStream {
 public:
  // All of them outlive this, and are left alone until then. Pods are appended to `list`.
  // `part`: of how many bytes on a part of JSON is read; the default stays in a processor's own cache.
  PodListStream(PodListReader& json, const Wanted& wanted, PodList& list, size_t part = 128 << 10)
      : wanted_(wanted), list_(list), cutter_(part), reader_(json, wanted, list), queue_(reader_) {}

  // Before each page but the first; one that was not finished is forgotten, with its pods.
  void begin();
  // The next bytes. DATA_LOSS as soon as they cannot be the beginning of a PodList, or when the page before was none.
  sdk::Status take(std::string_view bytes);
  // After the last byte: the continue token, "" on the last page. DATA_LOSS when it was no whole PodList; but where the token stands
  // before the pods the page is read on while the next one is asked for, and that is told later.
  sdk::Result<std::string> finish();
  // After the last page, or instead of going on: waits until all is read, and tells what of it failed.
  sdk::Status end() { return queue_.end(); }

  // Whether any byte of this page came.
  bool began() const { return began_; }
  // How many pods were read up to now.
  size_t count() const { return form_ == Form::kProtobuf ? list_.pods.size() : reader_.count(); }

 private:
  enum class Form { kUnknown, kJson, kProtobuf };
  sdk::Status find_form();
  sdk::Status take_json(std::string_view bytes);
  sdk::Status take_protobuf(std::string_view bytes);
  sdk::Result<std::string> finish_protobuf();

  const Wanted& wanted_;
  PodList& list_;
  bool began_ = false, finished_ = false;
  Form form_ = Form::kUnknown;

  // Of protobuf.
  ProtobufPodReader protobuf_;
  std::string text_;   // what was not read yet, of either form while it is not known
  size_t before_ = 0;  // how many pods there were before this page

  // Of JSON.
  PageCutter cutter_;
  PagePart part_;
  PartReader reader_;
  PartQueue queue_;
};

}  // namespace muster::kubernetes

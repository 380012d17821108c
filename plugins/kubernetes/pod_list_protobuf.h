// The API server's PodList as protobuf (application/vnd.kubernetes.protobuf), read pod by pod as it arrives. Knows nothing of networks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/kubernetes/pod_list.h"

namespace muster::kubernetes {

// What such a body begins with; the form's envelope (k8s.io/apimachinery, runtime.Unknown) follows.
inline constexpr std::string_view kProtobufMagic("k8s\0", 4);

// Reads one page. What is not looked at is passed over by its length. Not thread-safe.
class ProtobufPodReader {
 public:
  // Appends the pods that are whole in `bytes`, and tells how many bytes it took; the rest is given again, with what follows
  // it. After nullopt `why()` says what cannot be understood.
  std::optional<size_t> take(std::string_view bytes, const Wanted& wanted, PodList& list);
  // Of the bytes that were left, how many the field that they begin needs at least: more than there are.
  size_t needed() const { return needed_; }
  // After the last byte, all of them taken: whether that was a whole PodList; else `why()`.
  bool whole();

  const std::string& next() const { return next_; }  // the continue token
  const std::string& why() const { return why_; }

 private:
  enum class Place { kMagic, kEnvelope, kList };
  std::optional<size_t> take_field(std::string_view bytes, const Wanted& wanted, PodList& list);
  void take_list_field(uint64_t number, std::string_view value, const Wanted& wanted,
                       PodList& list);

  Place place_ = Place::kMagic;
  bool has_list_ = false;
  uint64_t left_ = 0;  // of the list
  size_t needed_ = 0;
  std::string next_, why_;
};

// The first words of a Status in that form; empty when `body` is none.
ApiStatus read_protobuf_status(std::string_view body);

}  // namespace muster::kubernetes

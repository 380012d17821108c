// A page of pods as it arrives: however its bytes are parted, any bytes give the same pods or an error.
// The first byte says in what steps.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/kubernetes/pod_list_stream.h"

namespace {

using namespace muster::kubernetes;

struct Outcome {
  bool good = false;
  std::string next;
  PodList list;
};

Outcome read(std::string_view body, size_t step, size_t piece) {
  static PodListReader reader;
  const Wanted wanted = {{"a", "port"}, true};
  Outcome out;
  PodListStream stream(reader, wanted, out.list, piece);
  // A pod that says that it has more than is held is RESOURCE_EXHAUSTED.
  const auto must_be_told = [](const muster::sdk::Failure& failure) {
    if (failure.code != MUSTER_E_DATA_LOSS && failure.code != MUSTER_E_RESOURCE_EXHAUSTED)
      std::abort();
    if (failure.message.empty()) std::abort();
  };
  for (size_t at = 0; at < body.size(); at += step) {
    if (const auto status = stream.take(body.substr(at, step)); !status) {
      must_be_told(status.failure());
      return out;
    }
  }
  auto next = stream.finish();
  out.good = bool(next);
  if (next) {
    out.next = *next;
  } else {
    must_be_told(next.failure());
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = read(body, size, size);
  const Outcome parted = read(body, data[0] + size_t{1}, 64);
  (void)read_protobuf_status(body);
  // What is JSON as a whole is so in parts; protobuf is read in one way alone.
  if (whole.good && !parted.good) std::abort();
  if (body.starts_with(kProtobufMagic) && whole.good != parted.good) std::abort();
  if (!whole.good) return 0;
  if (whole.next != parted.next || whole.list.pods.size() != parted.list.pods.size()) std::abort();
  for (size_t n = 0; n < whole.list.pods.size(); ++n) {
    const Pod &a = whole.list.pods[n], &b = parted.list.pods[n];
    if (a.name.empty() || a.phase == Phase::kNone || !(a.name == b.name) || !(a.ip == b.ip))
      std::abort();
  }
  return 0;
}

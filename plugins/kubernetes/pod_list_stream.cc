#include "plugins/kubernetes/pod_list_stream.h"

#include <algorithm>
#include <utility>

namespace muster::kubernetes {
void PodListStream::begin() {
  if (!finished_) {
    queue_.forget();
    if (form_ == Form::kProtobuf) list_.pods.resize(before_);
  }
  began_ = finished_ = false;
  form_ = Form::kUnknown;
  protobuf_ = {};
  text_.clear();
  cutter_.begin();
}

sdk::Status PodListStream::take(std::string_view bytes) {
  began_ = began_ || !bytes.empty();
  if (form_ == Form::kJson) return take_json(bytes);
  if (form_ == Form::kProtobuf) return take_protobuf(bytes);
  text_.append(bytes.substr(0, kProtobufMagic.size()));
  bytes.remove_prefix(std::min(bytes.size(), kProtobufMagic.size()));
  if (text_.size() < kProtobufMagic.size()) return {};
  if (auto status = find_form(); !status) return status;
  return form_ == Form::kJson ? take_json(bytes) : take_protobuf(bytes);
}

sdk::Status PodListStream::find_form() {
  if (!text_.starts_with(kProtobufMagic)) {
    form_ = Form::kJson;
    return take_json(std::exchange(text_, {}));
  }
  form_ = Form::kProtobuf;
  if (auto status = queue_.end(); !status) return status;
  before_ = list_.pods.size();
  return {};
}

sdk::Status PodListStream::take_json(std::string_view bytes) {
  if (!cutter_.take(bytes, part_)) {
    if (cutter_.held() > kHeldMaximum) return list_not_held();
    return {};
  }
  auto read = queue_.give(part_);
  if (!read) return std::move(read).failure();
  return {};
}

sdk::Status PodListStream::take_protobuf(std::string_view bytes) {
  // What was left of the bytes before is a part of one pod: it gets what it lacks. The rest is read where it is.
  while (!text_.empty()) {
    const auto taken = protobuf_.take(text_, wanted_, list_);
    if (!taken) return list_not_understood(protobuf_.why());
    text_.erase(0, *taken);
    if (text_.empty()) break;
    if (bytes.empty()) return {};
    if (protobuf_.needed() > kHeldMaximum) return list_not_held();
    const size_t more = std::min(bytes.size(), protobuf_.needed() - text_.size());
    text_.append(bytes.substr(0, more));
    bytes.remove_prefix(more);
  }
  const auto taken = protobuf_.take(bytes, wanted_, list_);
  if (!taken) return list_not_understood(protobuf_.why());
  text_.assign(bytes.substr(*taken));
  return {};
}

sdk::Result<std::string> PodListStream::finish_protobuf() {
  if (!text_.empty()) return list_not_understood("it ends within a field");
  if (!protobuf_.whole()) return list_not_understood(protobuf_.why());
  return protobuf_.next();
}

sdk::Result<std::string> PodListStream::finish() {
  if (form_ == Form::kProtobuf) {
    auto next = finish_protobuf();
    finished_ = bool(next);
    return next;
  }
  if (form_ == Form::kUnknown) cutter_.take(text_, part_);
  cutter_.finish(part_);
  finished_ = true;
  const std::string next = cutter_.next();
  auto read = queue_.give(part_);
  if (!read || next.empty()) return read;
  return next;
}

}  // namespace muster::kubernetes

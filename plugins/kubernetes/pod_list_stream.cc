// JSON is read in parts: the page's head, some pods, and brackets that end it are a whole PodList too, and PodListReader reads it.
// Where a pod ends is guessed by its look; a wrong guess is no list (its brackets do not match), and then that part is read with
// more of the page, at last with all of it. So the guess decides when something is read, never what.
#include "plugins/kubernetes/pod_list_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace muster::kubernetes {
namespace {

constexpr std::string_view kItems = "\"items\":[";
constexpr std::string_view kBetween =
    "},{\"metadata\":";  // as the API server writes it; 1 is where to cut
constexpr std::string_view kEnd = "]}";

sdk::Failure not_understood(const std::string& why) {
  return {MUSTER_E_DATA_LOSS, "the answer of the API server cannot be understood: " + why, {}};
}

size_t find(std::string_view text, std::string_view wanted, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  const void* at = memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  return at == nullptr ? std::string_view::npos
                       : static_cast<size_t>(static_cast<const char*>(at) - text.data());
}

}  // namespace

void PodListStream::begin() {
  protobuf_ = {};
  form_ = Form::kUnknown;
  text_.clear();
  text_.reserve(2 * piece_);
  head_ = searched_ = 0;
  enough_ = piece_;
}

sdk::Status PodListStream::take(std::string_view bytes) {
  if (form_ == Form::kProtobuf) return take_protobuf(bytes);
  text_.append(bytes);
  if (form_ == Form::kUnknown && text_.size() >= kProtobufMagic.size()) {
    if (text_.starts_with(kProtobufMagic)) {
      form_ = Form::kProtobuf;
      return take_protobuf({});
    }
    form_ = Form::kJson;
  }
  if (text_.size() >= enough_) read_ahead();
  return {};
}

sdk::Status PodListStream::take_protobuf(std::string_view bytes) {
  // What was left of the bytes before is a part of one pod: it gets what it lacks. The rest is read where it is.
  while (!text_.empty()) {
    const auto taken = protobuf_.take(text_, wanted_, list_);
    if (!taken) return not_understood(protobuf_.why());
    text_.erase(0, *taken);
    if (text_.empty()) break;
    if (bytes.empty()) return {};
    const size_t more = std::min(bytes.size(), protobuf_.needed() - text_.size());
    text_.append(bytes.substr(0, more));
    bytes.remove_prefix(more);
  }
  const auto taken = protobuf_.take(bytes, wanted_, list_);
  if (!taken) return not_understood(protobuf_.why());
  text_.assign(bytes.substr(*taken));
  return {};
}

// Where the last pod begins that may not be whole: the comma before it.
std::optional<size_t> PodListStream::last_cut() {
  const size_t from = std::max(head_, searched_);
  searched_ = text_.size() - std::min(text_.size(), kBetween.size());
  for (size_t window = 16 << 10;; window *= 2) {
    const size_t start = std::max(from, text_.size() - std::min(text_.size(), window));
    std::optional<size_t> last;
    for (size_t at = start; (at = find(text_, kBetween, at)) != std::string_view::npos; ++at)
      last = at + 1;
    if (last || start == from) return last;
  }
}

void PodListStream::read_ahead() {
  if (head_ == 0) {
    const size_t items = find(text_, kItems, 0);
    if (items == std::string_view::npos) {
      enough_ = SIZE_MAX;  // it is written in another way: all of it at once
      return;
    }
    head_ = items + kItems.size();
  }
  const auto cut = last_cut();
  if (!cut) {
    enough_ = text_.size() + piece_;
    return;
  }
  text_.append(simdjson::SIMDJSON_PADDING, '\0');
  const std::string covered = text_.substr(*cut, kEnd.size());
  text_.replace(*cut, kEnd.size(), kEnd);
  const size_t before = list_.pods.size();
  const auto read =
      json_.read(std::string_view(text_).substr(0, *cut + kEnd.size()), wanted_, list_);
  text_.replace(*cut, kEnd.size(), covered);
  text_.resize(text_.size() - simdjson::SIMDJSON_PADDING);
  if (!read) {
    list_.pods.resize(before);
    enough_ = 2 * text_.size();
    return;
  }
  text_.erase(head_, *cut + 1 - head_);
  searched_ = head_;
  enough_ = head_ + piece_;
}

sdk::Result<std::string> PodListStream::finish() {
  if (form_ == Form::kProtobuf) {
    if (!text_.empty()) return not_understood("it ends within a field");
    if (!protobuf_.whole()) return not_understood(protobuf_.why());
    return protobuf_.next();
  }
  const size_t size = text_.size();
  text_.append(simdjson::SIMDJSON_PADDING, '\0');
  return json_.read(std::string_view(text_).substr(0, size), wanted_, list_);
}

}  // namespace muster::kubernetes

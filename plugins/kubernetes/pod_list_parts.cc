// Where a pod ends is guessed by its look; a wrong guess is no list (its brackets do not match), and then that part is read with
// those that follow it, at last with all of the page, as long as that is not too much to hold. So the guess decides when something is read, never what.
#include "plugins/kubernetes/pod_list_parts.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace muster::kubernetes {
namespace {

constexpr std::string_view kItems = "\"items\":[";
constexpr std::string_view kBetween =
    "},{\"metadata\":";  // as the API server writes it; 1 is where to cut
constexpr std::string_view kEnd = "]}";
constexpr size_t kHeadMaximum = 16
                                << 10;  // a head that says a token; the server's has some 300 bytes

size_t find(std::string_view text, std::string_view wanted, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  const void* at = memmem(text.data() + from, text.size() - from, wanted.data(), wanted.size());
  return at == nullptr ? std::string_view::npos
                       : static_cast<size_t>(static_cast<const char*>(at) - text.data());
}

}  // namespace

// ---- Cutting --------------------------------------------------------------------------------

void PageCutter::begin() {
  text_.clear();
  text_.reserve(2 * size_);
  next_.clear();
  head_ = searched_ = 0;
  enough_ = size_;
}

bool PageCutter::take(std::string_view bytes, PagePart& part) {
  text_.append(bytes);
  if (head_ == 0 && enough_ != SIZE_MAX && !read_head()) return false;
  if (text_.size() < enough_) return false;
  const auto cut = last_cut();
  if (!cut) {
    enough_ = text_.size() + size_;
    return false;
  }
  part.text.clear();
  part.text.reserve(2 * size_);
  part.text.append(text_, 0, head_).append(text_, *cut + 1);
  part.text.swap(text_);
  part.text.resize(*cut);
  part.text.append(kEnd);
  part.head = head_;
  part.last = false;
  part.next = next_;
  searched_ = head_;
  enough_ = head_ + size_;
  return true;
}

void PageCutter::finish(PagePart& part) {
  part.text.swap(text_);
  part.head = head_;
  part.last = true;
  part.next = next_;
}

// Whether the head is known now.
bool PageCutter::read_head() {
  const size_t items = find(text_, kItems, searched_);
  if (items == std::string_view::npos) {
    searched_ = text_.size() - std::min(text_.size(), kItems.size());
    if (text_.size() >= size_)
      enough_ = SIZE_MAX;  // it is written in another way: all of it at once
    return false;
  }
  head_ = items + kItems.size();
  if (head_ > kHeadMaximum) return true;
  PodList none;
  if (auto next = reader_.read(text_.substr(0, head_).append(kEnd), {}, none))
    next_ = *std::move(next);
  return true;
}

// Where the last pod begins that may not be whole: the comma before it.
std::optional<size_t> PageCutter::last_cut() {
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

// ---- Reading --------------------------------------------------------------------------------

void PartReader::forget() {
  if (before_) list_.pods.resize(*before_);
  before_.reset();
  waiting_.clear();
  enough_ = 0;
}

sdk::Result<std::string> PartReader::read_text(std::string_view text) {
  const size_t before = list_.pods.size();
  auto next = json_.read(text, wanted_, list_);
  if (!next) list_.pods.resize(before);
  return next;
}

sdk::Result<std::string> PartReader::read(PagePart& part) {
  auto next = read_next(part);
  count_.store(list_.pods.size(), std::memory_order_relaxed);
  return next;
}

sdk::Result<std::string> PartReader::read_next(PagePart& part) {
  if (!before_) before_ = list_.pods.size();
  std::string* text = &part.text;
  if (!waiting_.empty()) {
    waiting_.append(",").append(part.text, part.head);
    text = &waiting_;
  }
  const bool attempt = part.last || text->size() >= enough_;
  sdk::Result<std::string> next = std::string();
  if (attempt) next = read_text(*text);
  if (part.last) {
    if (next) before_.reset();
    forget();
    if (!next || part.next.empty() || part.next == *next) return next;
    return list_not_understood("it has two continue tokens");
  }
  if (attempt && next) {
    waiting_.clear();
    enough_ = 0;
    return std::string();
  }
  if (text->size() > kHeldMaximum) {
    forget();
    return list_not_held();
  }
  text->resize(text->size() - kEnd.size());
  if (text != &waiting_) waiting_.swap(*text);
  if (attempt) enough_ = 2 * waiting_.size();
  return std::string();
}

}  // namespace muster::kubernetes

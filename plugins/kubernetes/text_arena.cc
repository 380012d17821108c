#include "plugins/kubernetes/text_arena.h"

#include <algorithm>

namespace muster::kubernetes {
namespace {

constexpr size_t kBlock = 64 << 10;

// Over the last 16 bytes, where such texts differ.
size_t hash(std::string_view text) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15u;
  uint64_t first = 0, last = 0;
  if (text.size() >= 8) {
    std::memcpy(&first, text.data() + (text.size() > 16 ? text.size() - 16 : 0), 8);
    std::memcpy(&last, text.data() + text.size() - 8, 8);
  } else {
    std::memcpy(&last, text.data(), text.size());
  }
  return (((first * kFactor) ^ last ^ text.size()) * kFactor) >> 56;
}

}  // namespace

char* TextArena::take(size_t size, size_t alignment) {
  const size_t gap = (alignment - reinterpret_cast<uintptr_t>(next_) % alignment) % alignment;
  if (next_ == nullptr || size + gap > left_) {
    const size_t block = std::max(kBlock, size);
    blocks_.push_back({std::unique_ptr<char[]>(new char[block]), block});
    next_ = blocks_.back().memory.get();
    left_ = block;
    size_ += block;
    return take(size, alignment);
  }
  char* at = next_ + gap;
  next_ += gap + size;
  left_ -= gap + size;
  return at;
}

void TextArena::clear() {
  recent_ = {};
  // A block of its own for one long text would be kept for ever.
  if (!blocks_.empty() && blocks_.front().size != kBlock) blocks_.clear();
  if (blocks_.size() > 1) blocks_.erase(blocks_.begin() + 1, blocks_.end());
  next_ = blocks_.empty() ? nullptr : blocks_.front().memory.get();
  left_ = size_ = blocks_.empty() ? 0 : kBlock;
}

Text TextArena::add(std::string_view text) {
  if (text.empty()) return {};
  const auto size = static_cast<uint32_t>(text.size());
  char* at = take(sizeof size + size, 1);
  std::memcpy(at, &size, sizeof size);
  std::memcpy(at + sizeof size, text.data(), size);
  return Text(at);
}

Text TextArena::shared(std::string_view text) {
  if (text.empty()) return {};
  Text& recent = recent_[hash(text) % recent_.size()];
  if (!(recent == text)) recent = add(text);
  return recent;
}

}  // namespace muster::kubernetes

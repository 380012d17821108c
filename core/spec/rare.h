// Texts that most objects of a kind do not have, for the price of a pointer, and of one allocation where there is one.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

// Key and value, in the order in which they were set; a key stands once.
using Attributes = std::vector<std::pair<std::string, std::string>>;

// A text, "" when there is none, that copies share. Copies may be used by several threads, one of them by one thread at a time.
class RareText {
 public:
  RareText() = default;
  explicit RareText(std::string_view text) {
    if (text.empty()) return;
    void* memory = ::operator new(sizeof(Block) + text.size() + 1);
    block_ = new (memory) Block{{1}, static_cast<uint32_t>(text.size())};
    std::memcpy(block_->text(), text.data(), text.size());
    block_->text()[text.size()] = '\0';
  }
  RareText(const RareText& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  RareText(RareText&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  RareText& operator=(RareText other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  RareText& operator=(std::string_view text) { return *this = RareText(text); }
  ~RareText() {
    if (block_ != nullptr && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      ::operator delete(block_);
  }

  // Valid until this is changed or gone; a NUL follows.
  std::string_view view() const {
    return block_ == nullptr ? std::string_view("")
                             : std::string_view(block_->text(), block_->size);
  }
  operator std::string_view() const { return view(); }
  bool empty() const { return block_ == nullptr; }
  size_t size() const { return view().size(); }
  // Whether they are one text in memory, or both none.
  bool shares_with(const RareText& other) const { return block_ == other.block_; }

  friend bool operator==(const RareText& a, const RareText& b) {
    return a.block_ == b.block_ || a.view() == b.view();
  }
  friend bool operator==(const RareText& a, std::string_view b) { return a.view() == b; }

 private:
  // The text follows, and a NUL.
  struct Block {
    std::atomic<uint32_t> owners;
    uint32_t size;
    char* text() { return reinterpret_cast<char*>(this + 1); }
  };
  Block* block_ = nullptr;
};

// Attributes of one of many. Made whole, then read.
class RareAttributes {
 public:
  RareAttributes() = default;
  // From each key and each value with a NUL behind it; neither has one inside.
  explicit RareAttributes(std::string_view packed) : packed_(packed) {}
  explicit RareAttributes(const Attributes& attributes) : packed_(pack(attributes)) {}
  RareAttributes& operator=(const Attributes& attributes) {
    return *this = RareAttributes(attributes);
  }

  // Walks over them; each has a NUL behind its key and its value.
  class Iterator {
   public:
    explicit Iterator(std::string_view rest) : rest_(rest) {}
    std::pair<std::string_view, std::string_view> operator*() const {
      const std::string_view key(rest_.data());
      return {key, std::string_view(rest_.data() + key.size() + 1)};
    }
    Iterator& operator++() {
      const auto [key, value] = **this;
      rest_.remove_prefix(key.size() + value.size() + 2);
      return *this;
    }
    bool operator!=(const Iterator& other) const { return rest_.size() != other.rest_.size(); }

   private:
    std::string_view rest_;
  };
  Iterator begin() const { return Iterator(packed_); }
  Iterator end() const { return Iterator(std::string_view()); }
  bool empty() const { return packed_.empty(); }

  // As it was made from.
  std::string_view packed() const { return packed_; }
  bool shares_with(const RareAttributes& other) const { return packed_.shares_with(other.packed_); }

  operator Attributes() const {
    Attributes all;
    for (const auto& [key, value] : *this) all.emplace_back(key, value);
    return all;
  }
  friend bool operator==(const RareAttributes& a, const RareAttributes& b) {
    return a.packed_ == b.packed_;
  }
  friend bool operator==(const RareAttributes& a, const Attributes& b) {
    return a == RareAttributes(b);
  }

 private:
  static std::string pack(const Attributes& attributes) {
    std::string packed;
    for (const auto& [key, value] : attributes)
      packed.append(key).append(1, '\0').append(value).append(1, '\0');
    return packed;
  }

  RareText packed_;
};

}  // namespace muster

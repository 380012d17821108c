// Many short texts that live and die together: one allocation for thousands of them, and one pointer for each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace muster::kubernetes {

// A text of an arena, as long as the arena lives; "" when default-made.
class Text {
 public:
  Text() = default;

  std::string_view view() const {
    if (at_ == nullptr) return {};
    uint32_t size = 0;
    std::memcpy(&size, at_, sizeof size);
    return {at_ + sizeof size, size};
  }
  operator std::string_view() const { return view(); }
  std::string string() const { return std::string(view()); }
  bool empty() const { return at_ == nullptr; }

  friend bool operator==(Text a, Text b) { return a.at_ == b.at_ || a.view() == b.view(); }
  friend bool operator==(Text a, std::string_view b) { return a.view() == b; }

 private:
  friend class TextArena;
  explicit Text(const char* at) : at_(at) {}

  const char* at_ = nullptr;  // four bytes of size, then the text
};

// Not thread-safe. What it gave stays where it is when the arena is moved.
class TextArena {
 public:
  // A copy of `text`.
  Text add(std::string_view text);

  // The same for what many pods say alike (namespace, owner): mostly the copy made before.
  Text shared(std::string_view text);

  // `count` default-made values, which are never destroyed.
  template <typename T>
  T* make(size_t count = 1) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignof(std::max_align_t));
    T* made = reinterpret_cast<T*>(take(sizeof(T) * count, alignof(T)));
    for (size_t n = 0; n < count; ++n) new (made + n) T();
    return made;
  }

  // Takes back all that it gave; what memory it keeps for the next is one block.
  void clear();

  // Bytes that it gave, with those that nobody points to any longer.
  size_t size() const { return size_ - left_; }

 private:
  char* take(size_t size, size_t alignment);

  struct Block {
    std::unique_ptr<char[]> memory;
    size_t size = 0;
  };
  std::vector<Block> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t size_ = 0;  // of all blocks; what is left of those before the last counts as given
  std::array<Text, 256> recent_ = {};
};

}  // namespace muster::kubernetes

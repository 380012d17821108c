// CallStrings: what is handed out to a plugin until its call ends.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>

namespace muster {

// Readable zero bytes behind every text handed out: simdjson parses in place.
constexpr size_t kPadding = 64;

// The zeros stay behind the end, in memory that the text still has.
inline void pad(std::string& text) {
  const size_t size = text.size();
  text.resize(size + kPadding, '\0');
  text.resize(size);
}

// [one-at-a-time]
class CallStrings {
 public:
  // Where the text is from now on, padded. One that is kept already takes no more memory: a watch may read the same for months.
  const std::string& keep(std::string text) {
    pad(text);
    return *texts_.insert(std::move(text)).first;
  }
  void clear() { texts_.clear(); }

 private:
  // By size first, so that a long text is looked into only beside one of its size.
  struct Order {
    bool operator()(const std::string& a, const std::string& b) const {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    }
  };
  std::set<std::string, Order> texts_;
};

}  // namespace muster

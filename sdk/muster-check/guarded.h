// A table at the very end of a page, read-only, with a page behind it that nobody may touch.
#pragma once

#include <cstddef>
#include <cstring>

namespace muster::check {

class Guarded {
 public:
  // `content` is `known` bytes; `extra` bytes of poison stand behind them, as the fields of a later minor would.
  Guarded(const void* content, size_t known, size_t extra);
  ~Guarded();
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  const void* data() const { return data_; }

 private:
  void* pages_ = nullptr;
  size_t mapped_ = 0;
  void* data_ = nullptr;
};

}  // namespace muster::check

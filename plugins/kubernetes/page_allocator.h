// Memory for large vectors that gives what was outgrown back to the system.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <limits>
#include <new>

namespace muster::kubernetes {

// From a mebibyte on each allocation is pages of its own. In a thread's heap the place that a grown vector leaves is of no use to
// the threads beside it.
template <typename T>
struct PageAllocator {
  using value_type = T;

  PageAllocator() = default;
  template <typename Other>
  PageAllocator(const PageAllocator<Other>&) {}

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    if (!has_pages(count)) return static_cast<T*>(::operator new(count * sizeof(T)));
    void* pages = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(pages);
  }
  void deallocate(T* at, size_t count) {
    if (has_pages(count))
      munmap(at, count * sizeof(T));
    else
      ::operator delete(at);
  }

  template <typename Other>
  bool operator==(const PageAllocator<Other>&) const {
    return true;
  }

 private:
  static bool has_pages(size_t count) { return count * sizeof(T) >= size_t{1} << 20; }
};

}  // namespace muster::kubernetes

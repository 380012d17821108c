#include "sdk/muster-check/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace muster::check {

Guarded::Guarded(const void* content, size_t known, size_t extra) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t size = known + extra;
  const size_t used = (size + page - 1) / page * page;
  mapped_ = used + page;
  pages_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages_ == MAP_FAILED) throw std::bad_alloc();
  auto* end = static_cast<unsigned char*>(pages_) + used;
  data_ = end - size;
  std::memcpy(data_, content, known);
  // An address that is none: who calls or follows it ends here.
  std::memset(end - extra, 0xdb, extra);
  ::mprotect(pages_, used, PROT_READ);
  ::mprotect(end, page, PROT_NONE);
}

Guarded::~Guarded() { ::munmap(pages_, mapped_); }

}  // namespace muster::check

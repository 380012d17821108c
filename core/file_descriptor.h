// A file descriptor of this process.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace muster {

// Closes on the way out. Not for two threads at once.
class FileDescriptor {
 public:
  // A negative number, as a failed open() gives it, is none.
  explicit FileDescriptor(int number = -1) : number_(number) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }

  int get() const { return number_; }
  // Closes what it has, and has another.
  void reset(int number = -1) {
    if (number_ >= 0) ::close(number_);
    number_ = number;
  }
  // Who asked for it closes it.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  // Gives it a number of at least `least`, out of the way of those that a new program gets. False with errno: there is none left.
  [[nodiscard]] bool raise(int least) {
    if (number_ >= least) return true;
    const int higher = ::fcntl(number_, F_DUPFD_CLOEXEC, least);
    if (higher < 0) return false;
    reset(higher);
    return true;
  }

 private:
  int number_;
};

}  // namespace muster

// Rare: a value that most objects of a kind do not have, for the price of a pointer.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

// Reads as a T that is empty until one is set; T is a container or a string. Copies are deep. Threads: as for a T.
template <typename T>
class Rare {
 public:
  Rare() = default;
  explicit Rare(T value) { *this = std::move(value); }
  Rare(const Rare& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Rare(Rare&&) noexcept = default;
  Rare& operator=(const Rare& other) {
    if (this != &other) *this = Rare(other);
    return *this;
  }
  Rare& operator=(Rare&&) noexcept = default;
  Rare& operator=(T value) {
    if (value.empty()) {
      value_.reset();
    } else {
      value_ = std::make_unique<T>(std::move(value));
    }
    return *this;
  }
  ~Rare() = default;

  const T& get() const {
    static const T& nothing = *new T;  // never destroyed: a library leaves no exit handler behind
    return value_ ? *value_ : nothing;
  }
  // To change it in place.
  T& change() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }

  operator const T&() const { return get(); }
  operator T&() { return change(); }
  operator std::string_view() const requires std::same_as<T, std::string> { return get(); }

  bool empty() const { return !value_ || value_->empty(); }
  size_t size() const { return value_ ? value_->size() : 0; }
  auto begin() const { return get().begin(); }
  auto end() const { return get().end(); }
  const auto& operator[](size_t at) const { return get()[at]; }

  friend bool operator==(const Rare& a, const Rare& b) { return a.get() == b.get(); }
  friend bool operator==(const Rare& a, const T& b) { return a.get() == b; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace muster

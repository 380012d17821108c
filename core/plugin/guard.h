// Calling into a plugin, and reading structs that crossed.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>

namespace muster {

// Runs `body`, which calls one function of a plugin. An exception that leaves it (MP-13) is told in words; else nothing.
template <typename Body>
std::optional<std::string> catch_exception(Body&& body) {
  try {
    body();
  } catch (const std::exception& exception) {
    return std::string("a C++ exception left it: '") + exception.what() + "'";
  } catch (...) {
    return std::string("a C++ exception left it that is no std::exception");
  }
  return std::nullopt;
}

// Copies what both sides know of a struct that begins with struct_size; the rest is zero (MC-5). False when not even struct_size is
// covered by it: then nothing is read.
template <typename Struct>
bool copy_struct(const Struct* theirs, Struct& ours) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  std::memset(&ours, 0, sizeof ours);
  uint64_t size = 0;
  std::memcpy(&size, theirs, sizeof size);
  if (size < sizeof size) {
    ours.struct_size = size;
    return false;
  }
  std::memcpy(&ours, theirs, size < sizeof ours ? size : sizeof ours);
  return true;
}

}  // namespace muster

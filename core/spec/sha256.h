// Sha256: the hash of digests and of pinned plugin files, without a TLS library inside libmuster.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// SHA-256 (FIPS 180-4) of bytes given piece by piece. One thread at a time; no allocation, cannot fail.
class Sha256 {
 public:
  Sha256();

  void update(const void* data, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }

  // The 64 lower-case hex digits of everything given so far. More may be given afterwards.
  std::string hex() const;

 private:
  void absorb(const uint8_t* block);

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> block_{};  // bytes not yet absorbed: the first total_ % 64
  uint64_t total_ = 0;
};

}  // namespace muster

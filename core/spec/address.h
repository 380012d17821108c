// Address: the one type for "host:port", whatever the host is.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.h"

namespace muster {

class AddressPool;

// A host (DNS name, IPv4 or IPv6) with a port. The only code that takes such texts apart.
//
// Text forms (RFC 3986 3.2.2, RFC 6874 zones): "name:8470", "10.0.0.1:8470", "[fd00::1]:8470",
// "[fe80::1%eth0]:8470" (also with RFC 6874's "%25eth0"). Ports are 1 to 65535. Hosts are kept as written: a
// name's trailing dot and letters, IPv6 long or short.
//
// Clusters have a hundred thousand of them, so one has 24 bytes: a host of up to 16 (every IPv4 address) stands in the
// address itself, a longer one in memory that copies share, and many addresses when they come through one AddressPool.
// Copies may be used by several threads, one address changed by one thread at a time, as with any value.
class Address {
 public:
  Address() = default;
  Address(const Address& other) noexcept {
    take_bytes(other);
    if (is_outside()) add_owner(place_.outside.block);
  }
  Address(Address&& other) noexcept {
    take_bytes(other);
    other.forget();
  }
  Address& operator=(const Address& other) noexcept {
    Address copy(other);
    swap(copy);
    return *this;
  }
  Address& operator=(Address&& other) noexcept {
    Address taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Address() {
    if (is_outside()) drop_owner(place_.outside.block);
  }

  // Parses "host:port". Fails with kInvalidArgument that quotes the text and says which part is wrong:
  // no port, port out of range, IPv6 without brackets, an unclosed bracket, a scheme ("grpc://"), blanks,
  // NUL or control characters, a host that is neither a name (letters, digits, '-', '_', '.') nor an IP. A name that
  // ends in a number must be IPv4, since every system's resolver takes it for that.
  static Result<Address> parse(std::string_view text);

  // The same without an error to make: false leaves `address` as it was, and parse() tells why. For long lists.
  static bool try_parse(std::string_view text, Address& address);
  // Reads the address at the start of a longer text, such as a list, in one pass; how many bytes it has. 0 and `address`
  // as it was when none stands there, or one that needs a closer look: IPv6, or a name of more than 63 bytes or with a dot at its
  // end. What follows the address is the caller's to judge.
  static size_t read_plain(std::string_view text, Address& address, AddressPool& pool);

  // From a host, IPv6 with or without brackets, and a port. Fails as parse does.
  static Result<Address> from_host(std::string_view host, int64_t port);

  // IPv6 without brackets, with its zone. Valid until the address is changed, moved from or gone.
  std::string_view host() const {
    return {is_outside() ? place_.outside.text : place_.inside, host_size()};
  }
  uint16_t port() const { return port_; }  // 0 only in a default-constructed one
  bool is_ipv6() const { return (bits_ & kIpv6) != 0; }
  std::string to_string() const;            // brackets around IPv6
  void append_to(std::string& text) const;  // the same, at the end of `text`

  bool operator==(const Address& other) const {
    return port_ == other.port_ && is_ipv6() == other.is_ipv6() && host() == other.host();
  }

 private:
  friend class AddressPool;

  // Counted memory in which hosts stand.
  struct Block;
  static void add_owner(Block* block) noexcept;
  static void drop_owner(Block* block) noexcept;

  static constexpr size_t kInside = 16;
  static constexpr uint16_t kSize = 0x3fff;  // of bits_: the size of the host, at most 512
  static constexpr uint16_t kIpv6 = 0x4000;
  static constexpr uint16_t kOutside = 0x8000;
  struct Outside {
    Block* block;
    const char* text;
  };
  union Place {
    char inside[kInside];
    Outside outside;
  };

  static Result<Address> parse_closely(std::string_view text);
  // For an address that has no host yet.
  void set(std::string_view host, uint16_t port, bool ipv6, AddressPool* pool);

  size_t host_size() const { return bits_ & kSize; }
  bool is_outside() const { return (bits_ & kOutside) != 0; }
  void take_bytes(const Address& other) noexcept {
    std::memcpy(&place_, &other.place_, sizeof place_);
    port_ = other.port_;
    bits_ = other.bits_;
  }
  void forget() noexcept { port_ = bits_ = 0; }
  void swap(Address& other) noexcept {
    std::swap(place_, other.place_);
    std::swap(port_, other.port_);
    std::swap(bits_, other.bits_);
  }

  Place place_ = {};
  uint16_t port_ = 0;
  uint16_t bits_ = 0;
};

// Memory for the hosts of addresses that are made together and mostly live together. It may go before they do; its memory goes
// with the last of them. Used by one thread.
class AddressPool {
 public:
  AddressPool() = default;
  AddressPool(const AddressPool&) = delete;
  AddressPool& operator=(const AddressPool&) = delete;
  ~AddressPool();

 private:
  friend class Address;

  // Room for `size` bytes, and the block they are in, which counts one owner more.
  char* take(size_t size, Address::Block*& block);
  void let_go();

  Address::Block* block_ = nullptr;
  size_t used_ = 0;
  size_t size_ = 0;
  uint32_t given_ = 0;
};

}  // namespace muster

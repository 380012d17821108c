#include "core/spec/address.h"

#include <arpa/inet.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <new>

#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr const char* kForm =
    "write host:port, such as '10.0.0.1:8470', 'worker-0.svc:8470' or '[fd00::1]:8470'";

// What a byte may be in a host name.
enum Kind : unsigned char { kOther = 0, kLetter = 1, kDigit = 2, kHyphen = 3, kDot = 4 };

constexpr std::array<unsigned char, 256> make_kinds() {
  std::array<unsigned char, 256> kinds{};
  for (unsigned c = 'a'; c <= 'z'; ++c) kinds[c] = kLetter;
  for (unsigned c = 'A'; c <= 'Z'; ++c) kinds[c] = kLetter;
  for (unsigned c = '0'; c <= '9'; ++c) kinds[c] = kDigit;
  kinds['_'] = kLetter;
  kinds['-'] = kHyphen;
  kinds['.'] = kDot;
  return kinds;
}
constexpr std::array<unsigned char, 256> kKinds = make_kinds();

// The reason why a text is no address, or nothing. Reasons go on from "'text' is not an address: ".
using Reason = std::string;

Error refuse(std::string_view text, const Reason& reason) {
  return Error{Code::kInvalidArgument, quote(text) + " is not an address: " + reason, {}};
}

// Four numbers from 0 to 255, none with a leading zero, which some read as octal.
bool is_ipv4(std::string_view host) {
  const char* at = host.data();
  const char* const end = at + host.size();
  const auto digit = [&] { return at == end ? 10u : static_cast<unsigned>(*at) - '0'; };
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at == end || *at++ != '.')) return false;
    unsigned value = digit();
    if (value > 9) return false;
    ++at;
    if (value != 0 && digit() <= 9) {
      value = value * 10 + digit();
      ++at;
      if (digit() <= 9) {
        value = value * 10 + digit();
        ++at;
      }
    }
    if (value > 255) return false;
  }
  return at == end;
}

// Of up to 64 bytes one bit each, the first byte's the lowest: what they are in a host name.
struct Classes {
  uint64_t may = 0;  // letter, digit, '_', '-', '.'
  uint64_t digit = 0;
  uint64_t hyphen = 0;
  uint64_t dot = 0;

#ifdef __SSE2__
  // Adds the 16 bytes at `text` as those from bit `at` on.
  void add16(const char* text, size_t at) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
    const auto equals = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
    // Signed comparisons: bytes from 0x80 on are below everything.
    const auto between = [&](__m128i what, char low, char high) {
      return _mm_and_si128(_mm_cmpgt_epi8(what, _mm_set1_epi8(static_cast<char>(low - 1))),
                           _mm_cmplt_epi8(what, _mm_set1_epi8(static_cast<char>(high + 1))));
    };
    const __m128i digits = between(bytes, '0', '9');
    const __m128i hyphens = equals('-');
    const __m128i dots = equals('.');
    const __m128i letters =
        _mm_or_si128(equals('_'), between(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 'z'));
    const __m128i all = _mm_or_si128(_mm_or_si128(digits, hyphens), _mm_or_si128(dots, letters));
    const auto mask = [at](__m128i which) {
      return static_cast<uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(which))) << at;
    };
    may |= mask(all);
    digit |= mask(digits);
    hyphen |= mask(hyphens);
    dot |= mask(dots);
  }
#endif

  void add(char c, size_t at) {
    const unsigned char kind = kKinds[static_cast<unsigned char>(c)];
    const auto mask = [at](bool is) { return static_cast<uint64_t>(is) << at; };
    may |= mask(kind != kOther);
    digit |= mask(kind == kDigit);
    hyphen |= mask(kind == kHyphen);
    dot |= mask(kind == kDot);
  }
};

// Of the first 63 bytes of a text, as far as they may stand in a host name.
Classes classes_of(std::string_view text) {
  const size_t most = std::min<size_t>(text.size(), 64);
  Classes classes;
  size_t at = 0;
#ifdef __SSE2__
  for (; at + 16 <= most; at += 16) {
    classes.add16(text.data() + at, at);
    if (classes.may >> at != 0xffff) return classes;
  }
#endif
  for (; at < most; ++at) {
    classes.add(text[at], at);
    if (classes.may >> at == 0) return classes;
  }
  return classes;
}

// How long the host at the start of a text is, when it is surely a name or an IPv4 address: one that check_name would find no fault
// with, seen without a reason to give. 0 means "look closer". Addresses of large clusters come through here by the hundred thousand.
size_t plain_host(std::string_view text) {
  const Classes classes = classes_of(text);
  const auto size = static_cast<size_t>(std::countr_one(classes.may));
  if (size == 0 || size > 63) return 0;
  const uint64_t all = (uint64_t{1} << size) - 1;
  const uint64_t dot = classes.dot & all;
  const uint64_t starts = dot << 1 | 1;  // of labels
  if ((starts & (dot | classes.hyphen) & all) != 0) return 0;
  // The last label must not be a number unless it is IPv4's, nor be empty (a complete name, with its dot).
  const uint64_t last = all & ~((uint64_t{1} << std::bit_width(dot)) - 1);
  if ((last & ~classes.digit) != 0) return size;
  return is_ipv4(text.substr(0, size)) ? size : 0;
}

bool is_ipv6(std::string_view host) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (host.size() >= text.size()) return false;
  std::memcpy(text.data(), host.data(), host.size());
  in6_addr ignored;
  return std::strlen(text.data()) == host.size() && inet_pton(AF_INET6, text.data(), &ignored) == 1;
}

// RFC 6874's ZoneID, without its escapes.
bool is_zone(std::string_view zone) {
  if (zone.empty() || zone.size() > 63) return false;
  for (const char c : zone) {
    const auto kind = kKinds[static_cast<unsigned char>(c)];
    if (kind == kOther && c != '~') return false;
  }
  return true;
}

// A name or an IPv4 address.
Reason check_name(std::string_view host) {
  if (host.empty()) return std::string("it has no host; ") + kForm;
  size_t label = 0;     // where the current label starts
  bool numeric = true;  // the current label has digits only
  bool last_numeric = false;
  for (size_t i = 0; i < host.size(); ++i) {
    switch (kKinds[static_cast<unsigned char>(host[i])]) {
      case kDigit: break;
      case kLetter: numeric = false; break;
      case kHyphen:
        if (i == label) return "a label of the host " + quote(host) + " starts with '-'";
        numeric = false;
        break;
      case kDot:
        if (i == label) return "the host " + quote(host) + " has an empty label";
        if (i - label > 63)
          return "a label of the host " + quote(host) + " is longer than 63 characters";
        last_numeric = numeric;
        label = i + 1;
        numeric = true;
        break;
      default: {
        const auto c = static_cast<unsigned char>(host[i]);
        if (c == ' ' || (c >= '\t' && c <= '\r')) return "it has a blank in it";
        if (c < 0x20 || c == 0x7f) return "it has a control character in it";
        if (c >= 0x80)
          return "the host " + quote(host) +
                 " has a character that is not ASCII; write such a name in its 'xn--' form";
        return "the host " + quote(host) + " has a '" + static_cast<char>(c) +
               "' in it; a name has letters, digits, '-', '_' and '.'";
      }
    }
  }
  if (host.size() - label > 63)
    return "a label of the host " + quote(host) + " is longer than 63 characters";
  if (label != host.size()) last_numeric = numeric;  // else the trailing dot of a complete name
  if (host.size() > 253 + (label == host.size() ? 1 : 0))
    return "the host is longer than 253 characters";
  // A name that ends in a number is read as IPv4 by every resolver, some of them in surprising ways.
  if (last_numeric && !is_ipv4(host)) {
    return "the host " + quote(host) +
           " ends in a number, so it has to be an IPv4 address of four numbers from 0 to 255";
  }
  return {};
}

// IPv6 with or without a zone. `host` gets it as it is kept.
Reason check_ipv6(std::string_view text, std::string& host) {
  const size_t percent = text.find('%');
  const std::string_view ip = text.substr(0, percent);
  if (!is_ipv6(ip)) return quote(ip) + " is not an IPv6 address";
  if (percent == std::string_view::npos) {
    host.assign(ip);
    return {};
  }
  std::string_view zone = text.substr(percent + 1);
  // RFC 6874 writes the '%' of a zone as "%25" inside a URI. Before a letter it can mean nothing else; before a
  // digit it may be the zone "256", so there it stays.
  if (zone.size() > 2 && zone.substr(0, 2) == "25" &&
      kKinds[static_cast<unsigned char>(zone[2])] == kLetter)
    zone.remove_prefix(2);
  if (!is_zone(zone)) return quote(zone) + " is not the zone of an IPv6 address";
  host.assign(ip).append(1, '%').append(zone);
  return {};
}

Reason check_port(std::string_view text, uint16_t& port) {
  if (text.empty()) return "it has no port after the ':'";
  uint32_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return "the port " + quote(text) + " is not a number";
    value = value * 10 + static_cast<uint32_t>(c - '0');
    if (value > 65535) return "the port " + quote(text) + " is out of range; ports are 1 to 65535";
  }
  if (value == 0) return "the port " + quote(text) + " is out of range; ports are 1 to 65535";
  if (text[0] == '0') return "the port " + quote(text) + " starts with '0'";
  port = static_cast<uint16_t>(value);
  return {};
}

// Looks for what somebody meant who wrote a text with several ':'.
Reason explain_colons(std::string_view text) {
  if (const size_t scheme = text.find("://"); scheme != std::string_view::npos) {
    return "it starts with the scheme " + quote(text.substr(0, scheme + 3)) +
           "; write it without, the scheme is rpc_layer's";
  }
  std::string ignored;
  if (check_ipv6(text, ignored).empty())
    return "an IPv6 address needs brackets and a port, as in " +
           quote("[" + std::string(text) + "]:8470");
  const size_t last = text.rfind(':');
  if (check_ipv6(text.substr(0, last), ignored).empty()) {
    return "an IPv6 address needs brackets, as in " +
           quote("[" + std::string(text.substr(0, last)) + "]" + std::string(text.substr(last)));
  }
  return std::string("it has more than one ':'; ") + kForm;
}

}  // namespace

struct Address::Block {
  std::atomic<uint32_t> owners;
  char* text() { return reinterpret_cast<char*>(this + 1); }

  static Block* make(size_t size, uint32_t owners) {
    return new (::operator new(sizeof(Block) + size)) Block{owners};
  }
};

void Address::add_owner(Block* block) noexcept {
  block->owners.fetch_add(1, std::memory_order_relaxed);
}

void Address::drop_owner(Block* block) noexcept {
  if (block->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) ::operator delete(block);
}

void Address::set(std::string_view host, uint16_t port, bool ipv6, AddressPool* pool) {
  port_ = port;
  bits_ = static_cast<uint16_t>(host.size() | (ipv6 ? kIpv6 : 0));
  char* text = place_.inside;
  if (host.size() > kInside) {
    Block* block;
    if (pool != nullptr) {
      text = pool->take(host.size(), block);
    } else {
      block = Block::make(host.size(), 1);
      text = block->text();
    }
    place_.outside = {block, text};
    bits_ |= kOutside;
  }
  std::memcpy(text, host.data(), host.size());
}

AddressPool::~AddressPool() { let_go(); }

// The pool owns a block as often as it may give it to addresses, so that giving is no atomic operation.
constexpr uint32_t kOwners = uint32_t{1} << 30;

char* AddressPool::take(size_t size, Address::Block*& block) {
  constexpr size_t kFirst = 1 << 12;
  constexpr size_t kLast = 1 << 16;
  if (block_ == nullptr || size_ - used_ < size) {
    let_go();
    // Many pools are there for one address alone.
    size_ = size_ == 0 ? size : std::min(kLast, std::max(kFirst, size_ * 2));
    block_ = Address::Block::make(size_, kOwners);
    used_ = 0;
    given_ = 0;
  }
  char* text = block_->text() + used_;
  used_ += size;
  ++given_;
  block = block_;
  return text;
}

void AddressPool::let_go() {
  if (block_ == nullptr) return;
  const uint32_t rest = kOwners - given_;
  if (block_->owners.fetch_sub(rest, std::memory_order_acq_rel) == rest) ::operator delete(block_);
  block_ = nullptr;
}

size_t Address::read_plain(std::string_view text, Address& address, AddressPool& pool) {
  const size_t host_size = plain_host(text);
  size_t at = host_size;
  if (at == 0 || at == text.size() || text[at] != ':') return 0;
  uint32_t port = 0;
  const size_t most = std::min(text.size(), at + 6);
  while (++at < most) {
    const unsigned digit = static_cast<unsigned>(text[at]) - '0';
    if (digit > 9 || (port == 0 && digit == 0)) break;
    port = port * 10 + digit;
  }
  const bool goes_on = at < text.size() && text[at] >= '0' && text[at] <= '9';
  if (port == 0 || port > 65535 || goes_on) return 0;

  if (address.is_outside()) drop_owner(address.place_.outside.block);
  if (host_size <= kInside && text.size() >= kInside) {
    // A copy of a fixed size is a single one. What follows the host is nobody's.
    std::memcpy(address.place_.inside, text.data(), kInside);
    address.port_ = static_cast<uint16_t>(port);
    address.bits_ = static_cast<uint16_t>(host_size);
  } else {
    address.set(text.substr(0, host_size), static_cast<uint16_t>(port), false, &pool);
  }
  return at;
}

bool Address::try_parse(std::string_view text, Address& address) {
  auto parsed = parse(text);
  if (!parsed) return false;
  address = std::move(*parsed);
  return true;
}

Result<Address> Address::parse(std::string_view text) {
  Address address;
  AddressPool pool;
  if (read_plain(text, address, pool) == text.size() && !text.empty()) return address;
  return parse_closely(text);
}

Result<Address> Address::parse_closely(std::string_view text) {
  Address address;
  uint16_t port = 0;
  if (text.empty()) return refuse(text, std::string("it is empty; ") + kForm);
  if (text.size() > 512) return refuse(text, "it is longer than 512 bytes");

  if (text[0] == '[') {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return refuse(text, "the '[' has no ']' after it");
    std::string host;
    if (Reason reason = check_ipv6(text.substr(1, close - 1), host); !reason.empty())
      return refuse(text, reason);
    if (close + 1 == text.size())
      return refuse(text, "it has no port, as in '" + std::string(text) + ":8470'");
    if (text[close + 1] != ':') return refuse(text, "after the ']' only ':' and a port may follow");
    if (Reason reason = check_port(text.substr(close + 2), port); !reason.empty())
      return refuse(text, reason);
    address.set(host, port, true, nullptr);
    return address;
  }

  if (text.find("://") != std::string_view::npos) return refuse(text, explain_colons(text));
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    if (Reason reason = check_name(text); !reason.empty()) return refuse(text, reason);
    return refuse(text, "it has no port, as in '" + std::string(text) + ":8470'");
  }
  const std::string_view host = text.substr(0, colon);
  Reason reason = check_name(host);
  if (!reason.empty())
    return refuse(text, host.find(':') == std::string_view::npos ? reason : explain_colons(text));
  reason = check_port(text.substr(colon + 1), port);
  if (!reason.empty()) return refuse(text, reason);
  address.set(host, port, false, nullptr);
  return address;
}

Result<Address> Address::from_host(std::string_view host, int64_t port) {
  if (port >= 1 && port <= 65535 && !host.empty() &&
      (is_ipv4(host) || plain_host(host) == host.size())) {
    Address address;
    address.set(host, static_cast<uint16_t>(port), false, nullptr);
    return address;
  }
  Reason reason;
  std::string ipv6;  // as it is kept
  if (host.size() > 512) {
    reason = "it is longer than 512 bytes";
  } else if (!host.empty() && host.front() == '[') {
    reason = host.back() == ']' ? check_ipv6(host.substr(1, host.size() - 2), ipv6)
                                : "the '[' has no ']' at the end";
  } else if (host.find("://") != std::string_view::npos) {
    reason = "it has a scheme; write the host alone";
  } else if (host.find(':') != std::string_view::npos) {
    reason = check_ipv6(host, ipv6);
    if (!reason.empty()) reason += "; a port is given apart from the host";
  } else {
    reason = check_name(host);
  }
  if (!reason.empty())
    return Error{Code::kInvalidArgument, quote(host) + " is not a host: " + reason, {}};
  if (port < 1 || port > 65535) {
    return Error{Code::kInvalidArgument,
                 "the port " + std::to_string(port) + " of the host " + quote(host) +
                     " is out of range; ports are 1 to 65535",
                 {}};
  }
  Address address;
  address.set(ipv6.empty() ? host : ipv6, static_cast<uint16_t>(port), !ipv6.empty(), nullptr);
  return address;
}

std::string Address::to_string() const {
  std::string text;
  append_to(text);
  return text;
}

void Address::append_to(std::string& text) const {
  const bool brackets = is_ipv6();
  if (brackets) text += '[';
  text += host();
  if (brackets) text += ']';
  std::array<char, 6> digits;
  size_t at = digits.size();
  uint32_t rest = port_;
  do {
    digits[--at] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  digits[--at] = ':';
  text.append(digits.data() + at, digits.size() - at);
}

}  // namespace muster

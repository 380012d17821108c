// Small texts for messages.
#include "plugins/http/words.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "plugins/http/failure.h"

namespace muster::http {

const char *phase_name(Phase phase) {
  switch (phase) {
    case Phase::none: return "";
    case Phase::resolve: return "resolve";
    case Phase::connect: return "connect";
    case Phase::proxy: return "proxy";
    case Phase::tls: return "tls";
    case Phase::send: return "send";
    case Phase::wait: return "wait";
    case Phase::receive: return "receive";
  }
  return "";
}

std::string quote(std::string_view text, size_t most) {
  std::string result = "'";
  for (char c : text.substr(0, most)) {
    if (c >= 0x20 && c < 0x7f) {
      result += c;
      continue;
    }
    char hex[8];
    std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    result += hex;
  }
  if (text.size() > most) result += "...";
  result += '\'';
  return result;
}

std::string errno_words(int error) {
  // strerror follows the locale, which is the process's and not ours.
  switch (error) {
    case ECONNREFUSED: return "connection refused";
    case ECONNRESET: return "connection reset by the other side";
    case ECONNABORTED: return "connection aborted";
    case EPIPE: return "connection closed by the other side";
    case ENETUNREACH: return "network unreachable";
    case EHOSTUNREACH: return "host unreachable";
    case EHOSTDOWN: return "host is down";
    case ENETDOWN: return "network is down";
    case ETIMEDOUT: return "connection timed out";
    case EADDRNOTAVAIL: return "no local address or port to connect from";
    case EAFNOSUPPORT: return "address family not supported on this machine";
    case EACCES:
    case EPERM: return "not permitted on this machine (firewall or sandbox)";
    case EMFILE: return "too many open files in this process";
    case ENFILE: return "too many open files on this machine";
    case ENOBUFS:
    case ENOMEM: return "out of memory";
    case EINVAL: return "invalid address";
    default: {
      const char *name = strerrorname_np(error);
      return std::string("error ") + (name ? name : std::to_string(error));
    }
  }
}

std::string duration_words(int64_t nanoseconds) {
  char text[48];
  nanoseconds = std::max<int64_t>(nanoseconds, 0);
  if (nanoseconds < 1'000'000'000) {
    std::snprintf(text, sizeof text, "%lld ms", static_cast<long long>(nanoseconds / 1'000'000));
  } else {
    const long long tenths = nanoseconds / 100'000'000;
    std::snprintf(text, sizeof text, "%lld.%lld s", tenths / 10, tenths % 10);
  }
  return text;
}

namespace {
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char &c : result) c = lower(c);
  return result;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace muster::http

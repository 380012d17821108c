#include "plugins/http/socks.h"

#include <arpa/inet.h>

#include <array>

#include "plugins/http/words.h"

namespace muster::http {

namespace {

constexpr char kVersion = 5;
constexpr char kNoLogin = 0;
constexpr char kPassword = 2;
constexpr size_t kLongest = 255;  // of a name, a user, a password

// The words of a reply's code, and whether trying again may help.
struct Reply {
  const char *words;
  int32_t code;
};
Reply reply_of(unsigned char code) {
  switch (code) {
    case 1: return {"it failed", MUSTER_E_UNAVAILABLE};
    case 2: return {"its rules do not allow this server", MUSTER_E_FAILED_PRECONDITION};
    case 3: return {"it does not reach the server's network", MUSTER_E_UNAVAILABLE};
    case 4:
      return {"it does not reach the server, or does not find its name", MUSTER_E_UNAVAILABLE};
    case 5: return {"the server refused its connection", MUSTER_E_UNAVAILABLE};
    case 6: return {"its packets to the server lived too long", MUSTER_E_UNAVAILABLE};
    case 7: return {"it opens no connections for others", MUSTER_E_FAILED_PRECONDITION};
    case 8: return {"it does not take this kind of address", MUSTER_E_FAILED_PRECONDITION};
    default: return {"it gave an unknown reason", MUSTER_E_DATA_LOSS};
  }
}

std::string with_size(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}

// The server as a request names it: kind of address, address, port.
std::string address_of(const Endpoint &server) {
  std::string out;
  std::array<char, 16> bytes{};
  const std::string host = server.plain_host();
  if (inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) {
    out = '\1' + std::string(bytes.data(), 4);
  } else if (inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) {
    out = '\4' + std::string(bytes.data(), 16);
  } else {
    out = '\3' + with_size(host);
  }
  out += static_cast<char>(server.port >> 8);
  out += static_cast<char>(server.port & 0xFF);
  return out;
}

// The talk with one proxy. Never reads further than to the end of its last answer.
class Talk {
 public:
  Talk(Connection &connection, const Proxy &proxy, const Endpoint &server, const Patience &patience)
      : connection_(connection), proxy_(proxy), server_(server), patience_(patience) {}

  Failed open() {
    if (server_.plain_host().size() > kLongest || proxy_.user.size() > kLongest ||
        proxy_.password.size() > kLongest)
      return wrong(MUSTER_E_INVALID_ARGUMENT,
                   "the name, the user or the password is too long for it");
    const bool login = !proxy_.user.empty();
    std::string answer;
    if (Failed failed = ask(login ? std::string{kVersion, 2, kNoLogin, kPassword}
                                  : std::string{kVersion, 1, kNoLogin},
                            2, answer))
      return failed;
    if (answer[0] != kVersion) return no_socks();
    if (answer[1] == kPassword && login) {
      if (Failed failed =
              ask('\1' + with_size(proxy_.user) + with_size(proxy_.password), 2, answer))
        return failed;
      if (answer[1] != 0)
        return wrong(MUSTER_E_FAILED_PRECONDITION,
                     "it does not accept the user and password of the proxy's URL");
    } else if (answer[1] != kNoLogin) {
      return wrong(
          MUSTER_E_FAILED_PRECONDITION,
          login ? "it takes neither user and password nor nobody"
                : "it wants a user and a password",
          "give the proxy's user and password in its URL (socks5://USER:PASSWORD@HOST:PORT)");
    }
    if (Failed failed = ask(std::string{kVersion, 1, 0} + address_of(server_), 4, answer))
      return failed;
    if (answer[0] != kVersion) return no_socks();
    if (answer[1] != 0) {
      const Reply reply = reply_of(static_cast<unsigned char>(answer[1]));
      return wrong(reply.code, reply.words);
    }
    // The address at which the proxy stands towards the server, which nobody needs.
    const char kind = answer[3];
    size_t rest = kind == 1 ? 4 : 16;
    if (kind == 3) {
      if (Failed failed = ask("", 1, answer)) return failed;
      rest = static_cast<unsigned char>(answer[0]);
    } else if (kind != 1 && kind != 4) {
      return no_socks();
    }
    return ask("", rest + 2, answer);
  }

 private:
  Failed told(Failure failed) const {
    failed.phase = Phase::proxy;
    failed.message = "the proxy " + quote(proxy_.endpoint.text()) + ", asked for a way to " +
                     quote(server_.text()) + ": " + failed.message;
    return failed;
  }
  Failed wrong(int32_t code, std::string words, std::string hint = "") const {
    return told(failure(code, Phase::proxy, std::move(words), std::move(hint)));
  }
  Failed no_socks() const {
    return wrong(MUSTER_E_DATA_LOSS, "what answers there does not speak SOCKS 5");
  }

  // Sends `text` and reads an answer of exactly `size` bytes.
  Failed ask(std::string_view text, size_t size, std::string &answer) {
    if (Failed failed = connection_.write(text, patience_)) return told(std::move(*failed));
    answer.assign(size, '\0');
    for (size_t at = 0; at < size;) {
      size_t got = 0;
      if (Failed failed = connection_.read(answer.data() + at, size - at, got, patience_,
                                           Phase::proxy, "its answer"))
        return told(std::move(*failed));
      if (got == 0) return wrong(MUSTER_E_UNAVAILABLE, "it closed the connection");
      at += got;
    }
    return {};
  }

  Connection &connection_;
  const Proxy &proxy_;
  const Endpoint &server_;
  const Patience &patience_;
};

}  // namespace

Failed open_socks(Connection &connection, const Proxy &proxy, const Endpoint &server,
                  const Patience &patience) {
  return Talk(connection, proxy, server, patience).open();
}

}  // namespace muster::http

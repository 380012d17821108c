// Host names to addresses.
#include "plugins/http/resolver.h"

#include <ares.h>
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/uio.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <mutex>

#include "plugins/http/words.h"

namespace muster::http {

namespace {

// Sockets as our rules want them: closed on exec, never blocking, never raising SIGPIPE.
ares_socket_t open_socket(int family, int type, int protocol, void *) {
  return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}
int close_socket(ares_socket_t fd, void *) { return close(fd); }
int connect_socket(ares_socket_t fd, const sockaddr *address, ares_socklen_t size, void *) {
  return connect(fd, address, size);
}
ares_ssize_t receive(ares_socket_t fd, void *data, size_t size, int flags, sockaddr *from,
                     ares_socklen_t *from_size, void *) {
  return recvfrom(fd, data, size, flags, from, from_size);
}
ares_ssize_t send_all(ares_socket_t fd, const iovec *parts, int count, void *) {
  msghdr message{};
  message.msg_iov = const_cast<iovec *>(parts);
  message.msg_iovlen = static_cast<size_t>(count);
  return sendmsg(fd, &message, MSG_NOSIGNAL);
}
constexpr ares_socket_functions kSocketFunctions{open_socket, close_socket, connect_socket, receive,
                                                 send_all};

// A lookup's answer, filled by c-ares.
struct Answer {
  bool done = false;
  int status = ARES_SUCCESS;
  std::vector<Address> addresses;
};

void on_answer(void *arg, int status, int, ares_addrinfo *info) {
  auto &answer = *static_cast<Answer *>(arg);
  answer.done = true;
  answer.status = status;
  if (!info) return;
  for (const ares_addrinfo_node *node = info->nodes; node; node = node->ai_next) {
    Address address;
    if (node->ai_addrlen > sizeof address.socket_address) continue;
    std::memcpy(&address.socket_address, node->ai_addr, node->ai_addrlen);
    address.size = node->ai_addrlen;
    if (answer.addresses.size() < 32) answer.addresses.push_back(address);
  }
  ares_freeaddrinfo(info);
}

class Channel {
 public:
  Channel() = default;
  Channel(const Channel &) = delete;
  Channel &operator=(const Channel &) = delete;
  ~Channel() {
    if (channel_) ares_destroy(channel_);
  }

  int open(const char *name_servers) {
    // Not safe on several threads at once; nothing of it is ever given back.
    static std::once_flag once;
    static int library_status = ARES_SUCCESS;
    std::call_once(once, [] { library_status = ares_library_init(ARES_LIB_INIT_ALL); });
    if (library_status != ARES_SUCCESS) return library_status;

    // By itself c-ares waits 5, 10, 20 and 40 s: longer than most calls last, so a dead first server
    // would hide a living second one.
    ares_options options{};
    options.timeout = 1500;
    options.tries = 4;
    if (int status = ares_init_options(&channel_, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
        status != ARES_SUCCESS) {
      return status;
    }
    ares_set_socket_functions(channel_, &kSocketFunctions, nullptr);
    return name_servers ? ares_set_servers_ports_csv(channel_, name_servers) : ARES_SUCCESS;
  }

  ares_channel get() const { return channel_; }

  // "127.0.0.53, [fd00::1]:5353"
  std::string servers() const {
    ares_addr_port_node *list = nullptr;
    std::string result;
    if (ares_get_servers_ports(channel_, &list) != ARES_SUCCESS) return "none";
    for (const ares_addr_port_node *node = list; node; node = node->next) {
      char text[INET6_ADDRSTRLEN] = "";
      inet_ntop(node->family, &node->addr, text, sizeof text);
      if (!result.empty()) result += ", ";
      result += text;
    }
    ares_free_data(list);
    return result.empty() ? "none" : result;
  }

 private:
  ares_channel channel_ = nullptr;
};

// One round of waiting for the servers of `channel`.
Patience::Woke work(ares_channel channel, const Patience &patience) {
  ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
  const int bits = ares_getsock(channel, sockets, ARES_GETSOCK_MAXNUM);
  pollfd fds[ARES_GETSOCK_MAXNUM];
  nfds_t count = 0;
  for (int i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
    short events = 0;
    if (ARES_GETSOCK_READABLE(bits, i)) events |= POLLIN;
    if (ARES_GETSOCK_WRITABLE(bits, i)) events |= POLLOUT;
    if (events != 0) fds[count++] = {sockets[i], events, 0};
  }
  timeval most{.tv_sec = 1, .tv_usec = 0};
  timeval next{};
  const timeval *timer = ares_timeout(channel, &most, &next);
  const int64_t until =
      monotonic_ns() + timer->tv_sec * INT64_C(1'000'000'000) + timer->tv_usec * INT64_C(1'000);
  const Patience::Woke woke = patience.wait({fds, count}, until);
  if (woke == Patience::Woke::timer) ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  if (woke == Patience::Woke::ready) {
    for (nfds_t i = 0; i < count; ++i) {
      if (fds[i].revents == 0) continue;
      const bool readable =
          (fds[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0 && (fds[i].events & POLLIN) != 0;
      const bool writable =
          (fds[i].revents & (POLLOUT | POLLERR | POLLHUP)) != 0 && (fds[i].events & POLLOUT) != 0;
      ares_process_fd(channel, readable ? fds[i].fd : ARES_SOCKET_BAD,
                      writable ? fds[i].fd : ARES_SOCKET_BAD);
    }
  }
  return woke;
}

Failure lookup_failure(int status, const std::string &name, const std::string &servers) {
  const auto fail = [&](int32_t code, const std::string &why) {
    return failure(code, Phase::resolve, "cannot find the address of " + quote(name) + ": " + why);
  };
  const std::string asked = " (asked: /etc/hosts and the name servers " + servers + ")";
  switch (status) {
    case ARES_ENOTFOUND: return fail(MUSTER_E_UNAVAILABLE, "no such name" + asked);
    case ARES_ENODATA:
      return fail(MUSTER_E_UNAVAILABLE, "the name exists but has no IPv4 or IPv6 address" + asked);
    case ARES_ETIMEOUT:
      return fail(MUSTER_E_UNAVAILABLE, "no name server answered in time" + asked);
    case ARES_ECONNREFUSED:
      return fail(
          MUSTER_E_UNAVAILABLE,
          "no name server gave an answer: each cannot be reached, or fails (SERVFAIL)" + asked);
    case ARES_ESERVFAIL:
      return fail(MUSTER_E_UNAVAILABLE, "the name server failed (SERVFAIL)" + asked);
    case ARES_EREFUSED:
      return fail(MUSTER_E_UNAVAILABLE, "the name server refused to answer" + asked);
    case ARES_ENOTIMP:
      return fail(MUSTER_E_UNAVAILABLE, "the name server cannot do such a lookup" + asked);
    case ARES_EBADNAME:
    case ARES_EFORMERR: return fail(MUSTER_E_INVALID_ARGUMENT, "it cannot be a host name");
    case ARES_ENOMEM: return fail(MUSTER_E_RESOURCE_EXHAUSTED, "out of memory");
    case ARES_EFILE:
      return fail(MUSTER_E_UNAVAILABLE, "/etc/hosts or /etc/resolv.conf cannot be read");
    default: return fail(MUSTER_E_UNAVAILABLE, ares_strerror(status) + asked);
  }
}

// Fills `address` when `endpoint` is an IP literal. A zone that does not exist fails.
Failed parse_literal(const Endpoint &endpoint, Address &address, bool &is_literal) {
  is_literal = false;
  if (endpoint.v6_literal) {
    auto &v6 = reinterpret_cast<sockaddr_in6 &>(address.socket_address);
    const size_t percent = endpoint.host.find('%');
    if (inet_pton(AF_INET6, endpoint.host.substr(0, percent).c_str(), &v6.sin6_addr) != 1)
      return {};
    if (percent != std::string::npos) {
      const std::string zone = endpoint.host.substr(percent + 1);
      v6.sin6_scope_id = if_nametoindex(zone.c_str());
      if (v6.sin6_scope_id == 0)
        std::from_chars(zone.data(), zone.data() + zone.size(), v6.sin6_scope_id);
      if (v6.sin6_scope_id == 0) {
        return failure(MUSTER_E_INVALID_ARGUMENT, Phase::resolve,
                       "the address " + quote(endpoint.host) + " names the network interface " +
                           quote(zone) + ", which this machine does not have");
      }
    }
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(endpoint.port);
    address.size = sizeof(sockaddr_in6);
    is_literal = true;
    return {};
  }
  auto &v4 = reinterpret_cast<sockaddr_in &>(address.socket_address);
  if (inet_pton(AF_INET, endpoint.host.c_str(), &v4.sin_addr) != 1) return {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(endpoint.port);
  address.size = sizeof(sockaddr_in);
  is_literal = true;
  return {};
}

}  // namespace

std::string Address::text() const {
  char host[NI_MAXHOST] = "?";
  getnameinfo(reinterpret_cast<const sockaddr *>(&socket_address), size, host, sizeof host, nullptr,
              0, NI_NUMERICHOST);
  return socket_address.ss_family == AF_INET6 ? '[' + std::string(host) + ']' : std::string(host);
}

Failed resolve(const Endpoint &endpoint, const char *name_servers, const Patience &patience,
               std::vector<Address> &addresses) {
  Address literal;
  bool is_literal = false;
  if (Failed failed = parse_literal(endpoint, literal, is_literal)) return failed;
  if (is_literal) {
    addresses.push_back(literal);
    return {};
  }

  Channel channel;
  if (int status = channel.open(name_servers); status != ARES_SUCCESS) {
    return lookup_failure(status, endpoint.host, "none");
  }
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  Answer answer;
  ares_getaddrinfo(channel.get(), endpoint.host.c_str(), std::to_string(endpoint.port).c_str(),
                   &hints, on_answer, &answer);
  while (!answer.done) {
    const Patience::Woke woke = work(channel.get(), patience);
    if (woke == Patience::Woke::deadline || woke == Patience::Woke::cancelled) {
      const std::string servers = channel.servers();
      ares_cancel(channel.get());
      return patience.ended(
          woke, Phase::resolve,
          "the address of " + quote(endpoint.host) + " (asked the name servers " + servers + ")");
    }
  }
  if (answer.status != ARES_SUCCESS)
    return lookup_failure(answer.status, endpoint.host, channel.servers());
  if (answer.addresses.empty())
    return lookup_failure(ARES_ENODATA, endpoint.host, channel.servers());
  // Not every path through c-ares fills in the port.
  for (Address &address : answer.addresses) {
    if (address.socket_address.ss_family == AF_INET6) {
      reinterpret_cast<sockaddr_in6 &>(address.socket_address).sin6_port = htons(endpoint.port);
    } else {
      reinterpret_cast<sockaddr_in &>(address.socket_address).sin_port = htons(endpoint.port);
    }
  }
  addresses = std::move(answer.addresses);
  return {};
}

}  // namespace muster::http

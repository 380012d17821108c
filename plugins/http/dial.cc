// TCP connections.
#include "plugins/http/dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>

#include "plugins/http/words.h"

namespace muster::http {

namespace {

// The addresses with their families in turn, beginning with that of the first.
std::vector<const Address *> in_turn(const std::vector<Address> &addresses) {
  std::vector<const Address *> same;
  std::vector<const Address *> other;
  for (const Address &address : addresses) {
    const bool first =
        address.socket_address.ss_family == addresses.front().socket_address.ss_family;
    (first ? same : other).push_back(&address);
  }
  std::vector<const Address *> result;
  for (size_t i = 0; i < same.size() || i < other.size(); ++i) {
    if (i < same.size()) result.push_back(same[i]);
    if (i < other.size()) result.push_back(other[i]);
  }
  return result;
}

// The attempts that run; closes their sockets.
class Attempts {
 public:
  Attempts() = default;
  Attempts(const Attempts &) = delete;
  Attempts &operator=(const Attempts &) = delete;
  ~Attempts() {
    for (const pollfd &attempt : fds_) close(attempt.fd);
  }

  // Starts one more; notes why when it fails at once.
  void start(const Address &address) {
    const int fd = socket(address.socket_address.ss_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd < 0) return note(address, errno);
    if (connect(fd, reinterpret_cast<const sockaddr *>(&address.socket_address), address.size) !=
            0 &&
        errno != EINPROGRESS && errno != EINTR) {
      note(address, errno);
      close(fd);
      return;
    }
    fds_.push_back({fd, POLLOUT, 0});
    addresses_.push_back(&address);
  }

  // The first that is connected, taken out; -1 when none is. Drops those that failed.
  int take_connected() {
    for (size_t i = 0; i < fds_.size();) {
      if (fds_[i].revents == 0) {
        ++i;
        continue;
      }
      int error = 0;
      socklen_t size = sizeof error;
      const int fd = fds_[i].fd;
      if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
      if (error != 0) {
        note(*addresses_[i], error);
        close(fd);
      }
      fds_.erase(fds_.begin() + static_cast<ptrdiff_t>(i));
      addresses_.erase(addresses_.begin() + static_cast<ptrdiff_t>(i));
      if (error == 0) return fd;
    }
    return -1;
  }

  std::vector<pollfd> &fds() { return fds_; }
  const std::string &story() const { return story_; }
  bool out_of_files() const { return out_of_files_; }

 private:
  void note(const Address &address, int error) {
    if (!story_.empty()) story_ += "; ";
    story_ += address.text() + ": " + errno_words(error);
    if (error == EMFILE || error == ENFILE) out_of_files_ = true;
  }

  std::vector<pollfd> fds_;
  std::vector<const Address *> addresses_;
  std::string story_;
  bool out_of_files_ = false;
};

}  // namespace

Failed dial(const std::vector<Address> &addresses, const std::string &name,
            const Patience &patience, int &fd) {
  constexpr int64_t kStagger = 250'000'000;
  const std::vector<const Address *> order = in_turn(addresses);
  Attempts attempts;
  size_t next = 0;
  int64_t next_start = 0;
  for (;;) {
    if (next < order.size() && (attempts.fds().empty() || monotonic_ns() >= next_start)) {
      attempts.start(*order[next++]);
      next_start = monotonic_ns() + kStagger;
      continue;
    }
    if (attempts.fds().empty()) {
      return failure(attempts.out_of_files() ? MUSTER_E_RESOURCE_EXHAUSTED : MUSTER_E_UNAVAILABLE,
                     Phase::connect, "cannot connect to " + quote(name) + ": " + attempts.story());
    }
    const Patience::Woke woke =
        patience.wait(attempts.fds(), next < order.size() ? next_start : Patience::kNever);
    if (woke == Patience::Woke::deadline || woke == Patience::Woke::cancelled) {
      std::string waited_for = "a connection to " + quote(name) + " (tried";
      for (size_t i = 0; i < next; ++i) waited_for += (i ? ", " : " ") + order[i]->text();
      if (!attempts.story().empty()) waited_for += "; " + attempts.story();
      return patience.ended(woke, Phase::connect, waited_for + ")");
    }
    if (woke != Patience::Woke::ready) continue;
    fd = attempts.take_connected();
    if (fd < 0) continue;

    // Requests are small and wait for their answers; a dead peer of a silent watch is found out.
    const int on = 1, idle = 30, interval = 10, count = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
    return {};
  }
}

}  // namespace muster::http

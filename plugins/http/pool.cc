// Connections kept for the next request.
#include "plugins/http/pool.h"

#include <unistd.h>

#include <list>
#include <mutex>
#include <utility>
#include <vector>

namespace muster::http {

namespace {

constexpr int64_t kMostIdle = INT64_C(30'000'000'000);
constexpr size_t kMostPerKey = 8;
constexpr size_t kMostInAll = 64;

struct Kept {
  std::string key;
  std::unique_ptr<Connection> connection;
  int64_t since_ns;
};

using Connections = std::vector<std::unique_ptr<Connection>>;

// The pool of this process. Never destroyed: threads of the host may outlive static objects, and at
// exit the kernel closes everything anyway.
struct Pool {
  std::mutex mutex;
  std::list<Kept> kept;  // the oldest first
  pid_t process = getpid();

  // A forked child shares its parent's connections; using one would mix their bytes.
  void forget_after_fork() {
    if (process == getpid()) return;
    for (Kept &one : kept) one.connection->forget();
    kept.clear();
    process = getpid();
  }

  // Connections are closed by the caller outside the lock.
  void take_old(Connections &closed) {
    const int64_t now = monotonic_ns();
    while (!kept.empty() && now - kept.front().since_ns > kMostIdle) {
      closed.push_back(std::move(kept.front().connection));
      kept.pop_front();
    }
  }
};

Pool &pool() {
  static auto *const only = new Pool;
  return *only;
}

}  // namespace

std::unique_ptr<Connection> take_kept(const std::string &key) {
  Connections closed;
  for (;;) {
    std::unique_ptr<Connection> found;
    {
      Pool &all = pool();
      const std::lock_guard lock(all.mutex);
      all.forget_after_fork();
      all.take_old(closed);
      // The youngest is the likeliest to live.
      for (auto one = all.kept.rbegin(); one != all.kept.rend(); ++one) {
        if (one->key != key) continue;
        found = std::move(one->connection);
        all.kept.erase(std::next(one).base());
        break;
      }
    }
    if (!found || found->is_quiet()) return found;
    closed.push_back(std::move(found));
  }
}

void keep(const std::string &key, std::unique_ptr<Connection> connection) {
  Connections closed;
  Pool &all = pool();
  const std::lock_guard lock(all.mutex);
  all.forget_after_fork();
  all.take_old(closed);
  all.kept.push_back({key, std::move(connection), monotonic_ns()});
  size_t same = 0;
  for (const Kept &one : all.kept) same += one.key == key;
  if (same > kMostPerKey || all.kept.size() > kMostInAll) {
    auto oldest = all.kept.begin();
    if (same > kMostPerKey) {
      while (oldest->key != key) ++oldest;
    }
    closed.push_back(std::move(oldest->connection));
    all.kept.erase(oldest);
  }
}

void close_kept() {
  std::list<Kept> closed;
  Pool &all = pool();
  const std::lock_guard lock(all.mutex);
  all.forget_after_fork();
  closed.swap(all.kept);
}

}  // namespace muster::http

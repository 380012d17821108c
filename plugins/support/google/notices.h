// What the metadata server says is about to happen to this VM, as soon as it says it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <muster/http_streams.hpp>
#include <muster/plugin.hpp>

namespace muster::support::google {

// Listens for one call, by requests that the server answers when there is news (wait_for_change). A server that is away, or that says what
// nobody can understand, is asked again after a while, and what it said before stands.
class Notices {
 public:
  // `call` outlives this.
  explicit Notices(sdk::Call& call);
  ~Notices() { rest(); }
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  // Whether this core has what it takes.
  bool possible() const { return streams_.possible(); }
  // Asks what holds now; a server that does not answer in two seconds may say it later. CANCELLED.
  sdk::Status begin();
  // After begin. Whether the server may say something of this machine: that of a pod knows no such thing.
  bool any() const;
  // Listens until `until_ns` of the monotonic clock: true as soon as something has changed. CANCELLED.
  sdk::Result<bool> listen(int64_t until_ns);
  // Until it listens again nothing goes on, so that others may use the call's exchanges. What changes meanwhile is heard then.
  void rest();

  // What has been heard. Preempted: why this VM is no member any more; "" while it is one.
  std::string preempted() const;
  // The event of its maintenance: "TERMINATE_ON_HOST_MAINTENANCE"; "" for none.
  std::string maintenance() const;
  // What that event means, as a warning of the member that this VM is; "" for none.
  std::string warning(std::string_view member) const;
  // All of it as one text.
  std::string said() const { return preempted_.value + " " + maintenance_.value; }

 private:
  struct Key {
    const char* path;
    const char* purpose;
    std::string value;
    std::string etag;     // of the value
    uint64_t number = 0;  // of its exchange; 0: none goes on
    int64_t begun_ns = 0;
    int64_t due_ns = 0;  // when it is asked next, while none goes on
    bool heard = false;
    bool absent = false;
  };
  int64_t now() const { return clock_->monotonic_ns(call_.get()); }
  sdk::Status ask(Key& key);
  bool take(Key& key, const sdk::Result<sdk::Response>& response);
  // `first`: each is asked only until it has said something.
  sdk::Result<bool> listen_once(int64_t until_ns, bool first);

  sdk::Call& call_;
  const muster_clock_v1* const clock_;
  const sdk::HttpStreams streams_;
  Key preempted_, maintenance_;
  const std::array<Key*, 2> keys_ = {&preempted_, &maintenance_};
};

}  // namespace muster::support::google

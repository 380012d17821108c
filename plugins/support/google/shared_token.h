// One token for all resolvers of this plugin that have the same credentials.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <muster/plugin.hpp>

#include "plugins/support/google/token.h"

namespace muster::support::google {

// Held by those who use it, and gone with the last of them. [thread-safe]
class SharedToken {
 public:
  // The one of these credentials: whoever holds one of the same text has the same. Of the text only a digest is kept.
  static std::shared_ptr<SharedToken> of(const std::string& credentials);

  // Asks for a new token. `self_signed`: a service account may sign it; `timeout_ns`: of the whole; 0: as long as the call may take.
  using Fetch = std::function<sdk::Result<Token>(bool self_signed, int64_t timeout_ns)>;

  // A token that can be sent. A new one is asked for in the old one's last minutes, by one of those who need it: the others go on with
  // the old one, or wait where there is none. One that cannot be had before the old one's end does not matter, and is not asked for
  // again at once. The failure is fetch's, or CANCELLED or DEADLINE_EXCEEDED while waiting for somebody else.
  sdk::Result<Token> get(const Fetch& fetch, sdk::Call& call);

  // An API does not take this token; get gives another. False where the service account's own are refused and there is no other kind
  // (`may_be_granted`).
  bool refuse(const Token& token, bool may_be_granted);

  // What whoever gives the tokens says besides, and never otherwise: whose APIs they are for; "" until somebody was told.
  std::string universe() const;
  void set_universe(std::string universe);

 private:
  sdk::Status wait(std::unique_lock<std::mutex>& lock, const sdk::Call& call);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Token> token_;
  bool asking_ = false;       // somebody is
  uint64_t failures_ = 0;     // of those who asked
  int64_t not_before_s_ = 0;  // another try for a token that is not needed yet
  bool self_signed_ = true;   // until an API refuses what a service account signed
  std::string universe_;
};

}  // namespace muster::support::google

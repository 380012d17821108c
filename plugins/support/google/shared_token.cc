#include "plugins/support/google/shared_token.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <utility>

#include "plugins/support/google/hash.h"

namespace muster::support::google {
namespace {

// A new token is asked for in the old one's last minutes. Not earlier: the metadata server gives the old one until four minutes before.
constexpr int64_t kMargin_s = 225;
constexpr int64_t kLast_s = 10;  // the request must still arrive with it
constexpr int64_t kAgain_s = 30;
constexpr int64_t kEarly_ns = 5'000'000'000;  // what a token may cost that is not needed yet
constexpr std::chrono::milliseconds kLook{20};

}  // namespace

std::shared_ptr<SharedToken> SharedToken::of(const std::string& credentials) {
  // Never freed: a call that is given up may outlive the process's exit handlers.
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<std::string, std::weak_ptr<SharedToken>>;
  const std::lock_guard lock(mutex);
  for (auto at = all.begin(); at != all.end();) at = at->second.expired() ? all.erase(at) : ++at;
  auto& known = all[sha256(credentials)];
  auto token = known.lock();
  if (token == nullptr) known = token = std::make_shared<SharedToken>();
  return token;
}

sdk::Status SharedToken::wait(std::unique_lock<std::mutex>& lock, const sdk::Call& call) {
  const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
  const uint64_t before = failures_;
  while (asking_ && failures_ == before) {
    if (call.cancelled())
      return sdk::Failure{MUSTER_E_CANCELLED, "waiting for an access token was cancelled", {}};
    if (clock != nullptr && clock->monotonic_ns(call.get()) >= call.get()->deadline_ns)
      return sdk::Failure{MUSTER_E_DEADLINE_EXCEEDED,
                          "the deadline came while another source asked for an access token",
                          {}};
    call.progress("an access token of Google, which another source asks for");
    changed_.wait_for(lock, kLook);
  }
  return {};
}

sdk::Result<Token> SharedToken::get(const Fetch& fetch, sdk::Call& call) {
  std::unique_lock lock(mutex_);
  const int64_t now = now_s(call);
  const auto left = [&] {
    return !token_ ? 0 : token_->expires == 0 ? kMargin_s : token_->expires - now;
  };
  // Whoever waited in vain asks for itself: it has time of its own, and its failure words of its own.
  if (asking_ && left() < kLast_s)
    if (auto waited = wait(lock, call); !waited) return std::move(waited).failure();
  const bool usable = token_ && left() >= kLast_s;
  if (token_ && (left() >= kMargin_s || (usable && (asking_ || now < not_before_s_))))
    return *token_;

  const bool self_signed = self_signed_;
  asking_ = true;
  lock.unlock();
  sdk::Result<Token> fresh = sdk::Failure{MUSTER_E_INTERNAL, "no token was asked for", {}};
  try {
    fresh = fetch(self_signed, usable ? kEarly_ns : 0);
  } catch (...) {
    lock.lock();
    asking_ = false;  // or the others would wait for ever
    ++failures_;
    throw;
  }
  lock.lock();
  asking_ = false;
  if (fresh) {
    token_ = *fresh;
    not_before_s_ = 0;
  } else {
    ++failures_;
    not_before_s_ = now + kAgain_s;
  }
  changed_.notify_all();
  if (fresh || !usable || !token_ || call.cancelled()) return fresh;
  call.host().log(MUSTER_LOG_DEBUG,
                  fmt::format("google: no new token could be had; the old one is good for {} s",
                              token_->expires - now));
  return *token_;
}

bool SharedToken::refuse(const Token& token, bool may_be_granted) {
  const std::lock_guard lock(mutex_);
  if (token.self_signed) {
    if (!may_be_granted) return false;
    self_signed_ = false;  // the token endpoint's is taken everywhere
  }
  if (token_ && token_->text == token.text) token_.reset();
  return true;
}

std::string SharedToken::universe() const {
  const std::lock_guard lock(mutex_);
  return universe_;
}

void SharedToken::set_universe(std::string universe) {
  const std::lock_guard lock(mutex_);
  universe_ = std::move(universe);
}

}  // namespace muster::support::google

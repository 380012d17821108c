#include "plugins/support/google/notices.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "plugins/support/google/api.h"
#include "plugins/support/google/metadata.h"
#include "plugins/support/text.h"

namespace muster::support::google {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;
constexpr int kWait_s = 60;  // the server answers after it at the latest
constexpr int64_t kTimeout_ns = (kWait_s + 10) * kSecond_ns;
constexpr int64_t kFirst_ns = 2 * kSecond_ns;
constexpr int64_t kPause_ns = 5 * kSecond_ns;
constexpr uint64_t kMaximum = 4096;
constexpr const char* kNothingKnown = "NONE";

}  // namespace

Notices::Notices(sdk::Call& call)
    : call_(call),
      clock_(call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1)),
      streams_(call),
      preempted_{"instance/preempted", "hear when this VM is preempted", "FALSE", kNothingKnown},
      maintenance_{"instance/maintenance-event", "hear of maintenance of this VM's host", "NONE",
                   kNothingKnown} {}

sdk::Status Notices::begin() {
  const int64_t until = now() + kFirst_ns;
  const auto open = [](const Key* key) { return !key->heard; };
  while (std::any_of(keys_.begin(), keys_.end(), open) && now() < until)
    if (auto listened = listen_once(until, true); !listened) return std::move(listened).failure();
  return {};
}

bool Notices::any() const {
  return std::any_of(keys_.begin(), keys_.end(), [](const Key* key) { return !key->absent; });
}

sdk::Result<bool> Notices::listen(int64_t until_ns) {
  while (now() < until_ns) {
    auto changed = listen_once(until_ns, false);
    if (!changed || *changed) return changed;
  }
  return false;
}

void Notices::rest() {
  for (Key* key : keys_)
    if (const uint64_t number = std::exchange(key->number, 0); number != 0) streams_.end(number);
}

sdk::Result<bool> Notices::listen_once(int64_t until_ns, bool first) {
  for (Key* key : keys_) {
    if (key->absent || key->number != 0 || (first && key->heard)) continue;
    if (key->due_ns <= now()) {
      if (auto asked = ask(*key); !asked) return std::move(asked).failure();
    } else {
      until_ns = std::min(until_ns, key->due_ns);
    }
  }
  call_.progress("changes of the members, and notices of the metadata server");
  const auto news = streams_.next(std::max<int64_t>(until_ns - now(), 0));
  if (call_.cancelled() || (news.ended == 0 && news.code == MUSTER_E_CANCELLED))
    return sdk::Failure{MUSTER_E_CANCELLED, "watching was cancelled", {}};
  for (Key* key : keys_)
    if (news.ended != 0 && news.ended == key->number) return take(*key, *news.response);
  return false;
}

sdk::Status Notices::ask(Key& key) {
  sdk::Request request =
      Metadata::request(fmt::format("{}?wait_for_change=true&timeout_sec={}&last_etag={}", key.path,
                                    kWait_s, percent_encoded(key.etag)),
                        key.purpose, call_);
  request.flags |= MUSTER_HTTP_NO_RETRY;
  request.maximum_body_size = kMaximum;
  request.timeout_ns = kTimeout_ns;
  auto begun = streams_.begin(request);
  if (!begun) return std::move(begun).failure();
  key.number = *begun;
  key.begun_ns = now();
  return {};
}

// Whether it says something else than before.
bool Notices::take(Key& key, const sdk::Result<sdk::Response>& response) {
  key.number = 0;
  key.due_ns = now() + jittered_ns(kPause_ns);
  if (!response || !Metadata::told(*response)) return false;
  key.absent = response->status() == 404;
  key.heard = key.heard || key.absent;
  if (response->status() == 412) key.etag = kNothingKnown;  // it does not take that one
  if (response->status() != 200 || !Metadata::whole(*response)) return false;
  key.heard = true;
  const std::string_view value = trimmed(response->body());
  const std::string_view etag = response->header("ETag").value_or("");
  // One that answers at once, and nothing new, does not wait for a change.
  if (!etag.empty() && (etag != key.etag || now() - key.begun_ns >= kSecond_ns)) key.due_ns = 0;
  key.etag = etag.empty() ? kNothingKnown : std::string(etag);
  if (value == key.value) return false;
  key.value = value;
  call_.host().log(MUSTER_LOG_DEBUG, fmt::format("google: the metadata server says {} of {}",
                                                 quote(value), key.path));
  return true;
}

std::string Notices::preempted() const {
  return preempted_.value == "TRUE" ? "being preempted: the metadata server of this VM says so"
                                    : "";
}

std::string Notices::maintenance() const {
  return maintenance_.value == "NONE" ? "" : maintenance_.value;
}

std::string Notices::warning(std::string_view member) const {
  const std::string event = maintenance();
  if (event.empty()) return "";
  return fmt::format(
      "{}, this VM, {} for maintenance of its host (maintenance-event {})", quote(member),
      event == "TERMINATE_ON_HOST_MAINTENANCE" ? "is about to be stopped"
      : event == "MIGRATE_ON_HOST_MAINTENANCE" ? "is about to be moved to another host"
                                               : "is told to be ready",
      quote(event));
}

}  // namespace muster::support::google

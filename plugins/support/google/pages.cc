#include "plugins/support/google/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace muster::support::google {
namespace {

constexpr int kPagesMaximum = 20000;
constexpr int kEmptyMaximum = 100;
// So many are what a filter over a large project may give.
constexpr int kEmptyAtOnce = 10;
constexpr int64_t kPause_ns = 10'000'000;
constexpr int64_t kLongestPause_ns = 200'000'000;

}  // namespace

std::string_view next_token(const StrictJson& page) {
  if (page.presence("/error") != StrictJson::Presence::kAbsent)
    page.refuse("/error", "is there, under a status of success");
  if (page.presence("/kind") != StrictJson::Presence::kAbsent &&
      !page.text("/kind").starts_with("compute#"))
    page.refuse("/kind", "is that of no list of Google's");
  return page.text_or("/nextPageToken", "");
}

sdk::Status Pages::take(size_t entries, std::string next, const std::string& list) {
  empty_ = entries == 0 ? empty_ + 1 : 0;
  std::string why;
  if (!next.empty()) {
    if (next == token_) why = "two pages have one token";
    if (empty_ >= kEmptyMaximum) why = fmt::format("{} pages in a row have no entry", empty_);
    if (number_ >= kPagesMaximum) why = fmt::format("it has more than {} pages", kPagesMaximum);
  }
  if (!why.empty())
    return sdk::Failure{MUSTER_E_DATA_LOSS,
                        fmt::format("{} does not go on: {}", list, why),
                        {{"hint",
                          "the server's tokens of pages lead nowhere; is there a proxy before it, "
                          "or an outage? https://status.cloud.google.com"}}};
  done_ = next.empty();
  token_ = std::move(next);
  ++number_;
  return {};
}

int64_t Pages::pause_ns() const {
  if (empty_ <= kEmptyAtOnce) return 0;
  return std::min(kPause_ns << std::min(empty_ - kEmptyAtOnce - 1, 10), kLongestPause_ns);
}

sdk::Status Pages::pause(sdk::Call& call) const {
  const int64_t wait_ns = pause_ns();
  const auto* clock = call.host().service<muster_clock_v1>(MUSTER_CLOCK_V1);
  if (wait_ns == 0 || clock == nullptr) return {};
  call.progress(fmt::format("page {}: the {} before it are empty", number_, empty_));
  const int32_t slept = clock->sleep_ns(call.get(), wait_ns);
  if (slept == MUSTER_OK) return {};
  return sdk::Failure{slept,
                      fmt::format("stopped at page {}: the {} before it are empty, and each has "
                                  "the token of another",
                                  number_, empty_),
                      {}};
}

}  // namespace muster::support::google

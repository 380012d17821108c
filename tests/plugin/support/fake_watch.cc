#include "tests/plugin/support/fake_watch.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fake {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr int64_t kLongestBackoff = 8 * kSecond;

int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

std::vector<double> Watched::times(std::string_view kind, std::string_view part,
                                   double from_s) const {
  std::vector<double> out;
  for (const Told& one : told)
    if (one.kind == kind && one.at_s >= from_s && one.text.find(part) != std::string::npos)
      out.push_back(one.at_s);
  return out;
}

std::string Watched::last(std::string_view kind) const {
  const auto at =
      std::find_if(told.rbegin(), told.rend(), [&](const Told& one) { return one.kind == kind; });
  return at == told.rend() ? "" : at->text;
}

bool Watched::over() const {
  return now_ns - kSecond >= nanoseconds(until_s) || requests > requests_maximum;
}

void Watched::tell(const std::string& kind, const std::string& text) {
  told.push_back({static_cast<double>(now_ns - kSecond) / 1e9, kind, text});
}

void Watched::serve(const Request& request, Response& response) {
  ++requests;
  const bool is_list = request.url.find("labelSelector=") != std::string::npos;
  tell(is_list ? "list" : "get", request.url);
  const int64_t takes = nanoseconds(response.takes_s);
  if (request.timeout_ns > 0 && takes > request.timeout_ns) {
    response = {};
    response.code = MUSTER_E_DEADLINE_EXCEEDED;
    response.message = "the time was over, while waiting for the answer";
    now_ns += request.timeout_ns;
  } else {
    now_ns += std::max<int64_t>(takes, 1'000'000);
  }
}

uint64_t Watched::begin(const Request& request, const muster_http_request_v1& raw) {
  ++requests;
  tell("watch", request.url);
  Live live;
  live.text = stream(request);
  live.began_ns = live.word_ns = now_ns;
  live.on_body = raw.on_body;
  live.on_body_ctx = raw.on_body_ctx;
  live.timeout_ns = raw.timeout_ns;
  live.idle_ns = raw.idle_timeout_ns;
  streams.emplace(++number, std::move(live));
  return number;
}

int64_t Watched::Live::due_ns() const {
  const bool silent = piece == text.pieces.size();
  const int64_t limit = piece == 0 ? timeout_ns : idle_ns;
  const int64_t too_long = limit > 0 ? word_ns + limit : kNever;
  if (!silent) return std::min(too_long, began_ns + nanoseconds(text.pieces[piece].at_s));
  return text.ends_s < 0 ? too_long : std::min(too_long, began_ns + nanoseconds(text.ends_s));
}

Watched::Next Watched::next(int64_t timeout_ns) {
  const int64_t end = nanoseconds(until_s) + kSecond;
  const int64_t limit = timeout_ns < end - now_ns ? now_ns + std::max<int64_t>(timeout_ns, 0) : end;
  const auto at = std::min_element(
      streams.begin(), streams.end(),
      [](const auto& a, const auto& b) { return a.second.due_ns() < b.second.due_ns(); });
  if (over()) return {0, MUSTER_E_CANCELLED, {}};
  if (at == streams.end() || at->second.due_ns() > limit) {
    now_ns = std::max(now_ns, limit);
    return {0, over() ? MUSTER_E_CANCELLED : MUSTER_E_DEADLINE_EXCEEDED, {}};
  }
  const uint64_t which = at->first;
  Live& live = at->second;
  now_ns = std::max(now_ns, live.due_ns());
  const bool has_piece = live.piece < live.text.pieces.size() &&
                         now_ns >= live.began_ns + nanoseconds(live.text.pieces[live.piece].at_s);
  if (has_piece) {
    const std::string bytes = live.text.pieces[live.piece++].bytes;
    live.word_ns = now_ns;
    const int32_t code = live.on_body(live.on_body_ctx, bytes.data(), bytes.size());
    if (code == MUSTER_OK) return {};
    streams.erase(which);
    return {which, code, {}};
  }
  Response response = live.text.end;
  if (live.text.ends_s < 0 || now_ns < live.began_ns + nanoseconds(live.text.ends_s)) {
    response.code = live.piece == 0 ? MUSTER_E_DEADLINE_EXCEEDED : MUSTER_E_UNAVAILABLE;
    response.message = "the stream was silent for too long";
  }
  streams.erase(which);
  return {which, response.code, response};
}

void Watched::failed(int32_t code, const std::string& words) {
  tell("failure", std::to_string(code) + " " + words);
  if (now_ns - begun_ns > kLongestBackoff) backoff_ns = 0;
  backoff_ns = std::min(std::max(backoff_ns * 2, kSecond), kLongestBackoff);
  streams.clear();
  now_ns += backoff_ns;
  begun_ns = now_ns;
}

}  // namespace fake

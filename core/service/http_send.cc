// A whole request: its attempts and its redirects.
#include "core/service/http_send.h"

#include <time.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/service/http_secret.h"
#include "core/service/recording.h"
#include "core/service/retry.h"

namespace muster {
namespace {

constexpr int kMostRedirects = 5;

bool is_redirect(int64_t status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Gives the plugin's own progress back when the request is over.
class Progress {
 public:
  explicit Progress(Call& call) : call_(call), before_(call.progress()) {}
  ~Progress() { call_.set_progress(before_); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const HttpRequest& request, int attempt, const std::string& waiting) {
    std::string text = fmt::format("{} {}", request.method, shown_host_and_path(request));
    if (attempt > 1) text += fmt::format(", attempt {}", attempt);
    call_.set_progress(call_.session().secrets().redact(text + waiting));
  }

 private:
  Call& call_;
  std::string before_;
};

// One request on its way: the state between its attempts.
class Sending {
 public:
  Sending(Call& call, const muster_call_v1* raw_call, HttpRequest request)
      : call_(call),
        raw_call_(raw_call),
        request_(std::move(request)),
        deadline_ns_(request_.raw.timeout_ns > 0
                         ? std::min(call.deadline_ns(), call.now_ns() + request_.raw.timeout_ns)
                         : call.deadline_ns()),
        progress_(call) {}

  Result<Sent> run() {
    for (int redirects = 0;; ++redirects) {
      Result<Sent> sent = send_hop();
      if (!sent || sent->stopped != MUSTER_OK || !is_redirect(sent->attempt.status)) return sent;
      const std::string_view location = sent->attempt.header("Location");
      if (location.empty()) return sent;
      const std::string from = shown_url(request_, secrets());
      if (redirects == kMostRedirects) {
        Error error{Code::kUnavailable,
                    fmt::format("{} {}: redirected more than {} times", request_.method, from,
                                kMostRedirects),
                    {{"endpoint", request_.url.endpoint()}}};
        return std::move(error).with("hint",
                                     "check the URL: its server sends from one place to the next");
      }
      std::string reason;
      const bool follows = request_.follow(sent->attempt.status, location, &reason);
      log(follows ? fmt::format("{} redirects to {}", from, shown_url(request_, secrets()))
                  : fmt::format("the redirect of {} is not followed: {}", from, reason));
      if (!follows) return sent;
    }
  }

 private:
  Secrets& secrets() const { return call_.session().secrets(); }
  void log(const std::string& text, int32_t level = MUSTER_LOG_DEBUG) const {
    call_.session().log().write(
        level, fmt::format("{} ({}): {}", call_.backend(), call_.path(), text), secrets());
  }

  Result<Proxy> proxy_of_hop() {
    if (request_.has(MUSTER_HTTP_NO_PROXY)) return Proxy{};
    const char* own = request_.raw.proxy_url;
    Result<Proxy> proxy = own != nullptr && *own != '\0'
                              ? parse_proxy(own, "the option for it")
                              : choose_proxy(request_.url, [this](const std::string& name) {
                                  return call_.session().variable(call_.path(), name);
                                });
    if (proxy) {
      secrets().add(proxy->user_info);
      secrets().add(proxy->password);
    }
    return proxy;
  }

  // All attempts at one URL.
  Result<Sent> send_hop() {
    const Result<Proxy> proxy = proxy_of_hop();
    if (!proxy) return proxy.error();
    std::string earlier;
    for (int number = 1;; ++number) {
      progress_.show(request_, number, "");
      if (call_.cancelled()) return failure(*proxy, ended(Code::kCancelled), number - 1, earlier);
      if (call_.now_ns() >= deadline_ns_)
        return failure(*proxy, ended(Code::kDeadlineExceeded), number - 1, earlier);

      Attempt attempt = attempt_exchange(call_, raw_call_, request_, *proxy, deadline_ns_, number);
      add_record(*proxy, attempt, number);
      if (attempt.stopped != MUSTER_OK) return Sent{{}, attempt.stopped};

      bool as_asked = false;
      const std::optional<int64_t> wait = wait_before_next(attempt, number, &as_asked);
      if (!wait) {
        if (!attempt.answered()) return failure(*proxy, attempt, number, earlier);
        return Sent{std::move(attempt), MUSTER_OK};
      }
      earlier =
          attempt.answered() ? fmt::format("status {}", attempt.status) : attempt.error.message;
      log(fmt::format("{} {}: {}; trying again in {}", request_.method,
                      shown_url(request_, secrets()), earlier, duration_text(*wait)));
      progress_.show(request_, number + 1,
                     fmt::format(", waiting {}{}", duration_text(*wait),
                                 as_asked ? " as the server asked" : " after: " + earlier));
      const Code slept = call_.sleep(*wait);
      if (slept != Code::kOk) return failure(*proxy, ended(slept), number, earlier);
    }
  }

  // How long to wait before another attempt; nullopt when this one's outcome stands.
  std::optional<int64_t> wait_before_next(const Attempt& attempt, int number,
                                          bool* as_asked) const {
    if (number >= kMostAttempts || request_.has(MUSTER_HTTP_NO_RETRY) || attempt.handed_over)
      return std::nullopt;
    const bool safe = is_idempotent_method(request_.method) || request_.has(MUSTER_HTTP_IDEMPOTENT);
    if (attempt.answered()) {
      if (!safe || !is_transient_status(attempt.status)) return std::nullopt;
    } else {
      const bool never_sent = attempt.error.detail("sent") == "0";
      if (attempt.error.code != Code::kUnavailable || !(safe || never_sent)) return std::nullopt;
    }
    if (call_.session().replays_exchanges()) {
      // Whether there was time left then cannot be found out now; the recording knows what was done.
      const ExchangeKey key = exchange_key(request_, secrets());
      const bool again = call_.session().recording()->tried_again(call_.path(), request_.method,
                                                                  key.url, key.body, number + 1);
      return again ? std::optional<int64_t>(0) : std::nullopt;
    }
    int64_t wait = backoff_ns(number);
    if (attempt.answered()) {
      const std::optional<int64_t> asked =
          retry_after_ns(attempt.header("Retry-After"), attempt.header("Date"), ::time(nullptr));
      if (asked) {
        // At least what was asked for, and not all at the same moment.
        wait = *asked + std::min(wait, *asked / 10);
        *as_asked = *asked > 0;
      }
    }
    // An attempt that could only begin after the deadline is none: what there is now says more than "too late".
    if (wait >= deadline_ns_ - call_.now_ns()) return std::nullopt;
    return wait;
  }

  static Attempt ended(Code code) {
    Attempt attempt;
    attempt.error.code = code;
    return attempt;
  }

  Error failure(const Proxy& proxy, const Attempt& last, int attempts,
                const std::string& earlier) const {
    return word_failure(request_, proxy, last, attempts, earlier, secrets());
  }

  void add_record(const Proxy& proxy, const Attempt& attempt, int number) {
    RequestRecord record;
    record.method = request_.method;
    record.url = shown_url(request_, secrets());
    record.purpose = secrets().redact(request_.purpose);
    record.status = attempt.stopped != MUSTER_OK ? 200 : attempt.status;
    if (record.status == 0) record.error = failure(proxy, attempt, 1, "").message;
    record.milliseconds = attempt.milliseconds;
    record.bytes = attempt.bytes;
    record.attempt = number;
    log(fmt::format("{} {}: {}, {} ms, {} bytes{}", record.method, record.url,
                    record.error.empty() ? std::to_string(record.status) : record.error,
                    record.milliseconds, record.bytes,
                    number > 1 ? fmt::format(", attempt {}", number) : ""),
        MUSTER_LOG_INFO);
    call_.add_request(std::move(record));
  }

  Call& call_;
  const muster_call_v1* raw_call_;
  HttpRequest request_;
  int64_t deadline_ns_;
  Progress progress_;
};

}  // namespace

Result<Sent> send_request(Call& call, const muster_call_v1* raw_call, HttpRequest request) {
  for (const muster_http_header_v1& header : request.headers) {
    learn_secret_header(header.name, std::string_view(header.value, header.value_size),
                        call.session().secrets());
  }
  return Sending(call, raw_call, std::move(request)).run();
}

}  // namespace muster

// HttpStreams: the exchanges of one call that go on beside one another.
#include "core/service/http_streams.h"

#include <algorithm>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/thread.h"

namespace muster {
namespace {

// Streams end with their call, and what they say of it is told before the call's own end is.
constexpr int64_t kLastWords_ns = 100'000'000;
constexpr int64_t kPoll_ns = 20'000'000;  // a cancel is seen after this long
constexpr size_t kFarAhead = size_t{1}
                             << 20;  // more than this is not received before it is asked for

// A request that borrows from nobody.
class Owned {
 public:
  explicit Owned(const HttpRequest& request) : request_(request) {
    muster_http_request_v1& raw = request_.raw;
    for (muster_http_header_v1& header : request_.headers) {
      header.name = keep(header.name);
      keep(header.value, header.value_size);
    }
    const char* body = request_.body.data();
    uint64_t size = request_.body.size();
    keep(body, size);
    request_.body = std::string_view(body, size);
    keep(raw.ca_pem, raw.ca_pem_size);
    keep(raw.client_certificate_pem, raw.client_certificate_pem_size);
    keep(raw.client_key_pem, raw.client_key_pem_size);
    raw.tls_server_name = keep(raw.tls_server_name);
    raw.proxy_url = keep(raw.proxy_url);
    raw.method = raw.url = raw.purpose = raw.body = nullptr;  // read already
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  HttpRequest& request() { return request_; }

 private:
  const char* keep(const char* text) {
    return text == nullptr ? nullptr : texts_.emplace_back(text).c_str();
  }
  void keep(const char*& text, uint64_t& size) {
    if (text == nullptr) return;
    const std::string& kept =
        size == MUSTER_NUL_TERMINATED ? texts_.emplace_back(text) : texts_.emplace_back(text, size);
    text = kept.c_str();
    size = kept.size();
  }

  HttpRequest request_;
  std::deque<std::string> texts_;
};

}  // namespace

class HttpStreams::Stream {
 public:
  Stream(Call& call, Shared& shared, const HttpRequest& request)
      : shared_(shared),
        on_body_(request.raw.on_body),
        on_body_ctx_(request.raw.on_body_ctx),
        owned_(request),
        cancel_(call.cancel().child()),
        call_(call.shared_session(), call.path(), call.backend(), call.deadline_ns(), cancel_) {
    call_.set_http(call.http());
    table_.struct_size = sizeof table_;
    table_.ctx = &call_;
    table_.deadline_ns = call.deadline_ns();
    table_.is_cancelled = [](const muster_call_v1* table) {
      const Call& known = Call::of(table);
      return known.cancelled() || known.now_ns() >= known.deadline_ns() ? 1 : 0;
    };
    if (on_body_ == nullptr) return;
    owned_.request().raw.on_body = &Stream::take;
    owned_.request().raw.on_body_ctx = this;
  }
  ~Stream() { stop(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  Status start() {
    Result<std::thread> started = start_thread("http", [this] { run(); });
    if (!started) return std::move(started).error();
    thread_ = std::move(*started);
    return {};
  }

  // Ends it, if it has not ended, and waits for that.
  void stop() {
    cancel_.cancel();
    shared_.changed.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  // ---- Under the lock ----
  bool has_pieces() const { return !waiting_.empty(); }
  bool has_ended() const { return sent_.has_value(); }
  std::string take_pieces() { return std::exchange(waiting_, {}); }

  // ---- On the plugin's thread ----
  int32_t hand(const std::string& pieces) const {
    return on_body_(on_body_ctx_, pieces.data(), pieces.size());
  }
  // Of one that has ended: what came of it.
  Result<Sent> result() { return std::move(*sent_); }
  // `stopped`: by its on_body, so that its end is no failure.
  std::vector<RequestRecord> take_requests(bool stopped) {
    std::vector<RequestRecord> records = call_.take_requests();
    if (stopped && !records.empty() && records.back().status == 0) {
      records.back().status = 200;
      records.back().error.clear();
    }
    return records;
  }

 private:
  void run() {
    std::optional<Result<Sent>> sent;
    try {
      sent.emplace(send_request(call_, &table_, owned_.request()));
    } catch (const std::exception& exception) {
      sent.emplace(exception_error(exception, "the core failed"));
    }
    const std::lock_guard lock(shared_.mutex);
    sent_ = std::move(sent);
    shared_.changed.notify_all();
  }

  static int32_t take(void* ctx, const char* data, uint64_t size) {
    auto& self = *static_cast<Stream*>(ctx);
    std::unique_lock lock(self.shared_.mutex);
    while (self.waiting_.size() >= kFarAhead && !self.call_.cancelled())
      self.shared_.changed.wait_for(lock, std::chrono::nanoseconds(kPoll_ns));
    if (self.call_.cancelled()) return MUSTER_E_CANCELLED;
    self.waiting_.append(data, size);
    self.shared_.changed.notify_all();
    return MUSTER_OK;
  }

  Shared& shared_;
  int32_t (*const on_body_)(void*, const char*, uint64_t);
  void* const on_body_ctx_;
  Owned owned_;
  CancelToken cancel_;
  Call call_;
  muster_call_v1 table_{};
  std::string waiting_;               // received and not handed over
  std::optional<Result<Sent>> sent_;  // once it has ended
  std::thread thread_;
};

HttpStreams::HttpStreams(Call& call) : call_(call) {}

HttpStreams::~HttpStreams() {
  while (!streams_.empty()) leave(streams_.begin());
}

Result<uint64_t> HttpStreams::begin(const HttpRequest& request) {
  auto stream = std::make_unique<Stream>(call_, shared_, request);
  if (Status started = stream->start(); !started) return std::move(started).error();
  streams_.emplace(++last_, std::move(stream));
  return last_;
}

void HttpStreams::leave(std::map<uint64_t, std::unique_ptr<Stream>>::iterator at) {
  const bool ended = [&] {
    const std::lock_guard lock(shared_.mutex);
    return at->second->has_ended();
  }();
  at->second->stop();
  for (RequestRecord& record : at->second->take_requests(!ended))
    call_.add_request(std::move(record));
  streams_.erase(at);
}

void HttpStreams::end(uint64_t number) {
  if (const auto at = streams_.find(number); at != streams_.end()) leave(at);
}

HttpStreams::Told HttpStreams::next(int64_t timeout_ns) {
  const int64_t now = monotonic_ns();
  // Not past the call's own end, however long somebody wants to wait.
  const int64_t end = call_.deadline_ns() + kLastWords_ns;
  const int64_t until = timeout_ns < end - now ? now + std::max<int64_t>(timeout_ns, 0) : end;
  std::unique_lock lock(shared_.mutex);
  for (;;) {
    const auto has_news = [](const auto& entry) {
      return entry.second->has_pieces() || entry.second->has_ended();
    };
    auto at = std::find_if(streams_.upper_bound(turn_), streams_.end(), has_news);
    if (at == streams_.end()) at = std::find_if(streams_.begin(), streams_.end(), has_news);
    if (at != streams_.end()) {
      turn_ = at->first;
      if (at->second->has_pieces()) {
        const std::string pieces = at->second->take_pieces();
        lock.unlock();
        shared_.changed.notify_all();
        const int32_t code = at->second->hand(pieces);
        if (code == MUSTER_OK) return {};
        const uint64_t number = at->first;
        leave(at);
        return {number, Result<Sent>(Sent{{}, code}), MUSTER_OK};
      }
      Told told{at->first, at->second->result(), MUSTER_OK};
      lock.unlock();
      leave(at);
      return told;
    }
    if (call_.cancelled()) return {0, std::nullopt, MUSTER_E_CANCELLED};
    const int64_t left = until - monotonic_ns();
    if (left <= 0) return {0, std::nullopt, MUSTER_E_DEADLINE_EXCEEDED};
    shared_.changed.wait_for(lock, std::chrono::nanoseconds(std::min(left, kPoll_ns)));
  }
}

}  // namespace muster

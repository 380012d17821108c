// muster.http.streams/1: the exchanges of one call beside one another.
#include <doctest/doctest.h>

#include <muster/http_streams.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "service_world.h"

namespace {

using namespace muster;
using namespace muster::testing;

// A transport whose exchanges go on until the test ends them, each by its URL.
class Streams {
 public:
  Streams() { current() = this; }
  ~Streams() { current() = nullptr; }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  static std::shared_ptr<HttpLibrary> library() {
    static const muster_transport_v1 table = {sizeof(muster_transport_v1),
                                              1,
                                              0,
                                              exchange,
                                              [](muster_http_response_v1* response) {
                                                *response = {sizeof *response, 0, nullptr, 0,
                                                             nullptr,          0, nullptr};
                                              },
                                              nullptr};
    return make_http_library(&table);
  }

  void say(const std::string& url, const std::string& piece) {
    const std::lock_guard lock(mutex_);
    pieces_[url].push_back(piece);
    changed_.notify_all();
  }
  void close(const std::string& url, int32_t code = MUSTER_OK) {
    const std::lock_guard lock(mutex_);
    ends_[url] = code;
    changed_.notify_all();
  }

  std::atomic<int> begun{0}, ended{0}, cancelled{0};
  std::atomic<uint64_t> taken{0};  // bytes that the core took
  std::string header;              // X of the last one

 private:
  static Streams*& current() {
    static Streams* one = nullptr;
    return one;
  }
  static int32_t exchange(const muster_host_v1* host, const muster_call_v1* call,
                          const muster_http_request_v1* request, muster_http_response_v1* response,
                          muster_error* error) {
    Streams& self = *current();
    ++self.begun;
    const int32_t code = self.follow(call, *request);
    ++self.ended;
    if (code == MUSTER_E_CANCELLED) ++self.cancelled;
    if (code != MUSTER_OK) {
      host->set_error(error, code, "it broke off", MUSTER_NUL_TERMINATED);
      host->add_detail(error, "sent", "1", 1);
      return code;
    }
    response->status = 200;
    return MUSTER_OK;
  }
  int32_t follow(const muster_call_v1* call, const muster_http_request_v1& request) {
    const std::string url(request.url, request.url_size);
    std::unique_lock lock(mutex_);
    for (uint64_t n = 0; n < request.header_count; ++n)
      header.assign(request.headers[n].value, request.headers[n].value_size);
    for (;;) {
      while (!pieces_[url].empty()) {
        const std::string piece = pieces_[url].front();
        pieces_[url].erase(pieces_[url].begin());
        lock.unlock();
        const int32_t code = request.on_body(request.on_body_ctx, piece.data(), piece.size());
        if (code != MUSTER_OK) return code;
        taken += piece.size();
        lock.lock();
      }
      if (ends_.count(url) != 0) return ends_[url];
      if (call->is_cancelled(call) != 0) return MUSTER_E_CANCELLED;
      changed_.wait_for(lock, std::chrono::milliseconds(5));
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<std::string>> pieces_;
  std::map<std::string, int32_t> ends_;
};

struct Net {
  explicit Net(int64_t time_ns = 5 * kSecond)
      : world(Session::live(nullptr, std::make_shared<Secrets>()), Streams::library(), time_ns) {}

  Streams streams;
  World world;
  const muster_http_streams_v1* http =
      World::service<muster_http_streams_v1>(MUSTER_HTTP_STREAMS_V1);

  uint64_t begin(Get& get) {
    uint64_t number = 0;
    CHECK(http->begin(world.call(), &get.request, &number, &get.error) == MUSTER_OK);
    CHECK(number != 0);
    return number;
  }
  struct News {
    int32_t code;
    uint64_t number;
    std::string message;
  };
  News next(int64_t timeout_ns = 2 * kSecond) {
    muster_http_response_v1 response{};
    response.struct_size = sizeof response;
    muster_error error;
    News news{};
    const char* words = nullptr;
    news.code = http->next(world.call(), timeout_ns, &news.number, &response, &words, &error);
    news.message = words;
    CHECK(news.message == error.error.message);
    return news;
  }
  ~Net() { world.inside().end_streams(); }
};

Get stream_of(const std::string& url) {
  Get get(url);
  get.request.flags = MUSTER_HTTP_NO_RETRY;
  get.request.maximum_body_size = UINT64_MAX;
  return get;
}

}  // namespace

TEST_CASE("pieces of two streams reach their own on_body, on the thread that asks for them") {
  Net net;
  Get a = stream_of("http://h/a"), b = stream_of("http://h/b");
  a.stream();
  b.stream();
  net.begin(a);
  net.begin(b);
  CHECK(net.next(0).code == MUSTER_E_DEADLINE_EXCEEDED);
  net.streams.say("http://h/b", "bee");
  CHECK(net.next().code == MUSTER_OK);
  CHECK(b.streamed == "bee");
  net.streams.say("http://h/a", "ay");
  CHECK(net.next().code == MUSTER_OK);
  CHECK(a.streamed == "ay");
  CHECK(net.next(10 * kMillisecond).code == MUSTER_E_DEADLINE_EXCEEDED);
}

TEST_CASE("what came before an end is told before it, and the end once with its number") {
  Net net;
  Get a = stream_of("http://h/a"), b = stream_of("http://h/b");
  a.stream();
  b.stream();
  const uint64_t first = net.begin(a), second = net.begin(b);
  net.streams.say("http://h/a", "last");
  net.streams.close("http://h/a");
  Net::News news = net.next();
  if (news.number == 0) news = net.next();
  CHECK(news.number == first);
  CHECK(news.code == MUSTER_OK);
  CHECK(a.streamed == "last");
  net.streams.close("http://h/b", MUSTER_E_UNAVAILABLE);
  news = net.next();
  CHECK(news.number == second);
  CHECK(news.code == MUSTER_E_UNAVAILABLE);
  CHECK(news.message.find("it broke off") != std::string::npos);
  CHECK(net.next(0).code == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(net.world.inside().requests().size() == 2);
}

TEST_CASE("an on_body that refuses ends its own stream alone, with its code") {
  Net net;
  Get a = stream_of("http://h/a"), b = stream_of("http://h/b");
  a.stream(1, MUSTER_E_ABORTED);
  b.stream();
  const uint64_t first = net.begin(a);
  net.begin(b);
  net.streams.say("http://h/a", "x");
  const Net::News news = net.next();
  CHECK(news.number == first);
  CHECK(news.code == MUSTER_E_ABORTED);
  CHECK(net.streams.ended == 1);
  CHECK(net.world.inside().requests().at(0).status == 200);
  net.streams.say("http://h/b", "still");
  CHECK(net.next().code == MUSTER_OK);
  CHECK(b.streamed == "still");
}

TEST_CASE("a request may be gone when begin has returned") {
  Net net;
  {
    Get a = stream_of("http://h/a");
    a.stream().header("X", "a text that lives on the heap");
    a.request.on_body = [](void*, const char*, uint64_t) -> int32_t { return MUSTER_OK; };
    a.request.on_body_ctx = nullptr;
    net.begin(a);
  }
  net.streams.close("http://h/a");
  CHECK(net.next().code == MUSTER_OK);
  CHECK(net.streams.header == "a text that lives on the heap");
}

TEST_CASE("end is heard of no more, and a cancel of the call ends the waiting") {
  Net net;
  Get a = stream_of("http://h/a"), b = stream_of("http://h/b");
  a.stream();
  b.stream();
  const uint64_t first = net.begin(a);
  net.begin(b);
  net.streams.say("http://h/a", "too late");
  net.http->end(net.world.call(), first);
  net.http->end(net.world.call(), first);
  CHECK(net.streams.ended <= 1);  // 0: it had not begun
  CHECK(net.next(10 * kMillisecond).code == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(a.streamed.empty());
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    net.world.cancel.cancel();
  });
  const int64_t began = monotonic_ns();
  const Net::News news = net.next(20 * kSecond);
  later.join();
  CHECK(monotonic_ns() - began < kSecond);
  // The stream may have seen it first.
  CHECK((news.code == MUSTER_E_CANCELLED || news.code == MUSTER_OK));
}

TEST_CASE(
    "a wait ends with its call, however long it was to be, and after what the streams say of that "
    "end") {
  Net net(50 * kMillisecond);
  Get a = stream_of("http://h/a");
  a.stream();
  net.begin(a);
  const int64_t began = monotonic_ns();
  std::thread transport([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(80));
    net.streams.close("http://h/a", MUSTER_E_DEADLINE_EXCEEDED);
  });
  const Net::News said = net.next(20 * kSecond);
  transport.join();
  CHECK(said.number != 0);
  CHECK(said.message.find("it broke off") != std::string::npos);
  CHECK(net.next(20 * kSecond).code == MUSTER_E_DEADLINE_EXCEEDED);
  CHECK(monotonic_ns() - began < 2 * kSecond);
}

TEST_CASE("what is left ends with the call") {
  Net net;
  Get a = stream_of("http://h/a");
  a.stream();
  net.begin(a);
  while (net.streams.begun == 0) std::this_thread::yield();
  const int64_t began = monotonic_ns();
  net.world.inside().end_streams();
  CHECK(monotonic_ns() - began < kSecond / 2);
  CHECK(net.streams.ended == 1);
  CHECK(net.streams.cancelled == 1);
}

TEST_CASE("a stream that is not listened to is not received without bound") {
  Net net;
  Get a = stream_of("http://h/a");
  a.stream();
  net.begin(a);
  const std::string piece(256 << 10, 'x');
  for (int n = 0; n < 40; ++n) net.streams.say("http://h/a", piece);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(net.streams.taken <= (2u << 20));
  while (a.streamed.size() < 40 * piece.size()) REQUIRE(net.next().code == MUSTER_OK);
}

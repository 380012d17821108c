// A call into a plugin with everything behind it, for the tests of core/service.
#pragma once

#include <muster/http.h>
#include <muster/plugin.h>
#include <muster/transport.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/cancel.h"
#include "core/service/call.h"
#include "core/service/host.h"
#include "core/service/session.h"
#include "tests/unit/contains.h"

namespace muster::testing {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kSecond = 1'000'000'000;

// A folder that is gone at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "muster-service-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::string path_;
};

inline std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A variable for as long as this lives.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_.c_str()); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  std::string name_;
};

// Log lines as they were written.
struct Lines {
  std::vector<std::string> lines;
  std::shared_ptr<const Log> log() {
    return std::make_shared<const Log>(0, [this](int32_t level, std::string_view text) {
      lines.push_back(std::to_string(level) + " " + std::string(text));
    });
  }
  bool contain(const std::string& part) const {
    for (const std::string& line : lines) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }
};

// One running call of the resolver "cluster", as core/plugin makes it.
class World {
 public:
  explicit World(std::shared_ptr<Session> session, std::shared_ptr<HttpLibrary> http = nullptr,
                 int64_t time_ns = 5 * kSecond)
      : session_(std::move(session)),
        call_(session_, "cluster", "probe", monotonic_ns() + time_ns, cancel) {
    call_.set_http(std::move(http));
    table_.struct_size = sizeof(table_);
    table_.ctx = &call_;
    table_.deadline_ns = call_.deadline_ns();
    table_.is_cancelled = [](const muster_call_v1* call) {
      return Call::of(call).cancelled() ? 1 : 0;
    };
  }
  World() : World(Session::live(nullptr, std::make_shared<Secrets>())) {}

  const muster_call_v1* call() const { return &table_; }
  Call& inside() { return call_; }
  Session& session() { return *session_; }

  template <typename Table>
  static const Table* service(const char* id) {
    static const Host host("probe", "cluster", "{}", nullptr, nullptr, nullptr);
    return static_cast<const Table*>(host.table()->get_service(host.table(), id));
  }

  CancelToken cancel;

 private:
  std::shared_ptr<Session> session_;
  Call call_;
  muster_call_v1 table_{};
};

// What the fake transport saw, and what it says next.
struct Exchange {
  std::string method;
  std::string url;
  std::string body;
  std::map<std::string, std::string> headers;
  std::string proxy;
  std::string client_key;
  uint64_t flags = 0;
  uint64_t maximum = 0;
  int64_t at_ns = 0;
  int64_t time_ns = 0;                // until the deadline, when it began
  int64_t time_after_pieces_ns = -1;  // and when all pieces were handed over

  bool has(const std::string& name) const { return headers.count(name) > 0; }
};

struct Answer {
  int64_t status = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  int32_t code = MUSTER_OK;  // else an error with these
  std::string message;
  std::string phase;
  std::string sent = "1";
  std::string pieces;            // handed to on_body before the error
  std::function<void()> before;  // done first

  static Answer refused() {
    Answer answer;
    answer.code = MUSTER_E_UNAVAILABLE;
    answer.message = "connection refused";
    answer.phase = "connect";
    answer.sent = "0";
    return answer;
  }
  static Answer broken() {
    Answer answer;
    answer.code = MUSTER_E_UNAVAILABLE;
    answer.message = "the server closed the connection";
    answer.phase = "wait";
    return answer;
  }
  static Answer of(int64_t status, std::vector<std::pair<std::string, std::string>> headers = {},
                   std::string body = "") {
    Answer answer;
    answer.status = status;
    answer.headers = std::move(headers);
    answer.body = std::move(body);
    return answer;
  }
};

// A muster_transport_v1 that plays a script; the last answer is repeated. One at a time: the table has no context.
class FakeTransport {
 public:
  explicit FakeTransport(std::vector<Answer> script) : script_(std::move(script)) {
    current() = this;
  }
  ~FakeTransport() { current() = nullptr; }
  FakeTransport(const FakeTransport&) = delete;
  FakeTransport& operator=(const FakeTransport&) = delete;

  std::shared_ptr<HttpLibrary> library() const {
    static const muster_transport_v1 table = {
        sizeof(muster_transport_v1), 1, 0, exchange, release, nullptr};
    return make_http_library(&table);
  }

  std::vector<Exchange> seen;
  int living = 0;  // responses not yet released

 private:
  struct Kept {
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
    std::vector<muster_http_header_v1> table;
  };

  static FakeTransport*& current() {
    static FakeTransport* one = nullptr;
    return one;
  }

  static int32_t exchange(const muster_host_v1* host, const muster_call_v1* call,
                          const muster_http_request_v1* request, muster_http_response_v1* response,
                          muster_error* error) {
    FakeTransport& self = *current();
    Exchange seen;
    seen.method = request->method;
    seen.url.assign(request->url, request->url_size);
    if (request->body_size > 0) seen.body.assign(request->body, request->body_size);
    for (uint64_t i = 0; i < request->header_count; ++i) {
      seen.headers[request->headers[i].name] =
          std::string(request->headers[i].value, request->headers[i].value_size);
    }
    if (request->proxy_url != nullptr) seen.proxy = request->proxy_url;
    if (request->client_key_pem != nullptr)
      seen.client_key.assign(request->client_key_pem, request->client_key_pem_size);
    seen.flags = request->flags;
    seen.maximum = request->maximum_body_size;
    seen.at_ns = monotonic_ns();
    seen.time_ns = call->deadline_ns - seen.at_ns;
    self.seen.push_back(seen);

    const Answer answer = self.script_[std::min(self.seen.size(), self.script_.size()) - 1];
    if (answer.before) answer.before();
    const bool streamed =
        request->on_body != nullptr && (answer.code != MUSTER_OK || answer.status / 100 == 2);
    const std::string& pieces = answer.code != MUSTER_OK ? answer.pieces : answer.body;
    if (streamed) {
      for (size_t at = 0; at < pieces.size(); at += 4) {
        const std::string piece = pieces.substr(at, 4);
        const int32_t code = request->on_body(request->on_body_ctx, piece.data(), piece.size());
        if (code != MUSTER_OK)
          return host->set_error(error, code, "stopped", MUSTER_NUL_TERMINATED);
      }
      self.seen.back().time_after_pieces_ns = call->deadline_ns - monotonic_ns();
    }
    if (answer.code != MUSTER_OK) {
      host->set_error(error, answer.code, answer.message.data(), answer.message.size());
      host->add_detail(error, "phase", answer.phase.data(), answer.phase.size());
      host->add_detail(error, "endpoint", "api.test:443", MUSTER_NUL_TERMINATED);
      host->add_detail(error, "sent", answer.sent.data(), answer.sent.size());
      return answer.code;
    }
    auto* kept = new Kept{streamed ? "" : answer.body, answer.headers, {}};
    const size_t size = kept->body.size();
    kept->body.resize(size + 64, '\0');
    for (const auto& [name, value] : kept->headers)
      kept->table.push_back({name.c_str(), value.c_str(), value.size()});
    response->status = answer.status;
    response->body = kept->body.data();
    response->body_size = size;
    response->headers = kept->table.data();
    response->header_count = kept->table.size();
    response->ctx = kept;
    ++self.living;
    return MUSTER_OK;
  }
  static void release(muster_http_response_v1* response) {
    delete static_cast<Kept*>(response->ctx);
    if (current() != nullptr) --current()->living;
  }

  std::vector<Answer> script_;
};

// One request as a plugin makes it, and what came of it.
struct Get {
  explicit Get(const std::string& url, const std::string& method = "GET")
      : url_(url), method_(method) {
    request.struct_size = sizeof(request);
    request.method = method_.c_str();
    request.url = url_.data();
    request.url_size = url_.size();
  }
  Get& flags(uint64_t flags) {
    request.flags = flags;
    return *this;
  }
  Get& body(const std::string& text) {
    body_ = text;
    request.body = body_.data();
    request.body_size = body_.size();
    return *this;
  }
  Get& header(const std::string& name, const std::string& value) {
    texts_.push_back(std::make_unique<std::pair<std::string, std::string>>(name, value));
    table_.push_back({texts_.back()->first.c_str(), texts_.back()->second.c_str(), value.size()});
    request.headers = table_.data();
    request.header_count = table_.size();
    return *this;
  }
  // Collects a streamed body; after `stop_after` bytes it refuses with `stop_code`.
  Get& stream(size_t stop_after = SIZE_MAX, int32_t stop_code = MUSTER_E_DATA_LOSS) {
    stop_after_ = stop_after;
    stop_code_ = stop_code;
    request.on_body = [](void* ctx, const char* data, uint64_t size) -> int32_t {
      auto& self = *static_cast<Get*>(ctx);
      self.streamed.append(data, size);
      return self.streamed.size() >= self.stop_after_ ? self.stop_code_ : MUSTER_OK;
    };
    request.on_body_ctx = this;
    return *this;
  }
  int32_t send(World& world) {
    const auto* http = World::service<muster_http_v1>(MUSTER_HTTP_V1);
    response = {};
    response.struct_size = sizeof(response);
    error = {};
    code = http->send(world.call(), &request, &response, &error);
    return code;
  }
  std::string text() const {
    return response.body == nullptr ? "" : std::string(response.body, response.body_size);
  }

  muster_http_request_v1 request{};
  muster_http_response_v1 response{};
  muster_error error;
  int32_t code = -1;
  std::string streamed;

 private:
  std::string url_;
  std::string method_;
  std::string body_;
  std::vector<std::unique_ptr<std::pair<std::string, std::string>>> texts_;
  std::vector<muster_http_header_v1> table_;
  size_t stop_after_ = SIZE_MAX;
  int32_t stop_code_ = MUSTER_OK;
};

}  // namespace muster::testing

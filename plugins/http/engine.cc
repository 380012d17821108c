// One request and its response.
//
// cpp-httplib writes the request and drives the response; it sees a stream of ours. What it reads from
// that stream has been checked before, because cpp-httplib 0.11 is lenient where a resolver may not be:
// it decodes percent signs in header values, forgets the order of headers, skips lines that are no
// header, reads a Content-Length that is no number as 0, matches the status line with std::regex (whose
// recursion follows the line's length), takes a chunked body with a broken chunk, and a gzip that is cut
// off, as whole, and expects a body after 304. So the head it gets to see is one that we write from what
// we read, of an answer without a body; the body is taken off the wire here, straight to where it stays.
#include "plugins/http/engine.h"

// Without CPPHTTPLIB_OPENSSL_SUPPORT: TLS is ours, and the header's own start-up would load openssl.cnf.
#include <httplib.h>

#include <algorithm>

#include "plugins/http/wire.h"
#include "plugins/http/words.h"

namespace muster::http {

namespace {

class ExchangeStream final : public httplib::Stream {
 public:
  ExchangeStream(Connection &connection, const EngineRequest &request, const Patience &patience,
                 Body &body, EngineResult &result)
      : connection_(connection),
        request_(request),
        patience_(patience),
        body_(body),
        result_(result),
        wire_(connection, patience, request.method, request.secret) {}

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }

  // Gathers the head and a small body into one send.
  ssize_t write(const char *data, size_t size) override {
    constexpr size_t kGathered = 64 * 1024;
    if (result_.failed) return -1;
    if (pending_.size() + size > kGathered && !flush()) return -1;
    if (size > kGathered) return send({data, size}) ? static_cast<ssize_t>(size) : -1;
    pending_.append(data, size);
    return static_cast<ssize_t>(size);
  }

  ssize_t read(char *data, size_t size) override {
    if (result_.failed) return -1;
    if (!head_read_ && !read_head()) return -1;
    if (head_given_ < head_text_.size()) {
      const size_t count = std::min(size, head_text_.size() - head_given_);
      std::copy_n(head_text_.data() + head_given_, count, data);
      head_given_ += count;
      return static_cast<ssize_t>(count);
    }
    return 0;
  }

  void get_remote_ip_and_port(std::string &, int &) const override {}
  void get_local_ip_and_port(std::string &, int &) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }

  // After the exchange: the connection has nothing left of this response, nor anything behind it.
  bool is_whole() const { return wire_.finished(); }
  bool answered() const { return wire_.answered(); }

  Failed receive_body() {
    while (!wire_.whole()) {
      char *place = nullptr;
      size_t room = 0, got = 0;
      if (Failed failed = body_.place(place, room)) return failed;
      if (Failed failed = wire_.read_body(place, room, got)) return failed;
      if (got == 0) break;
      if (Failed failed = body_.came(got)) return failed;
    }
    return body_.close();
  }

 private:
  bool fail(Failed failed) {
    if (failed) result_.failed = std::move(failed);
    return result_.failed.has_value();
  }

  bool send(std::string_view data) {
    if (data.empty() || unsent_) return true;
    result_.sent = true;
    Failed failed = connection_.write(data, patience_);
    if (failed && connection_.broke()) {
      // A server may answer before it has read all (401, 413, a TLS alert) and close; that answer tells
      // more than the broken connection.
      unsent_ = std::move(failed);
      return true;
    }
    return !fail(std::move(failed));
  }

  bool flush() {
    const bool sent = send(pending_);
    pending_.clear();
    return sent;
  }

  bool read_head() {
    if (!flush()) return false;
    Failed failed = wire_.read_head(result_.head);
    if (failed && unsent_ && failed->phase != Phase::tls) failed = std::move(unsent_);
    if (fail(std::move(failed))) return false;
    if (unsent_) result_.head.keep_alive = false;
    head_read_ = true;
    const Head &head = result_.head;
    BodyOptions options;
    options.limit = request_.limit;
    options.gzip = head.gzip && head.framing != Framing::none;
    options.expected = head.framing == Framing::length ? head.length : 0;
    if (head.status / 100 == 2) {
      options.on_body = request_.on_body;
      options.on_body_ctx = request_.on_body_ctx;
    }
    if (options.expected > options.limit && !options.gzip) {
      return !fail(failure(MUSTER_E_RESOURCE_EXHAUSTED, Phase::wait,
                           "the body is " + std::to_string(head.length) +
                               " bytes long, more than the limit of " +
                               std::to_string(options.limit)));
    }
    if (fail(body_.open(options))) return false;
    head_text_ = "HTTP/1.1 " + std::to_string(head.status) + " -\r\nContent-Length: 0\r\n\r\n";
    return true;
  }

  Connection &connection_;
  const EngineRequest &request_;
  const Patience &patience_;
  Body &body_;
  EngineResult &result_;
  Wire wire_;
  std::string pending_;
  Failed unsent_;  // why the request could not be sent whole
  std::string head_text_;
  size_t head_given_ = 0;
  bool head_read_ = false;
};

// cpp-httplib's client, without the parts that make, keep and wait for connections.
class Client final : public httplib::ClientImpl {
 public:
  // The name is for a header Host that is not given; ours always is.
  Client() : ClientImpl("unused.invalid", 80) {
    set_url_encode(false);
    set_decompress(false);
  }

  bool process(httplib::Stream &stream, httplib::Request &request, httplib::Response &response) {
    auto error = httplib::Error::Success;
    return process_request(stream, request, response, false, error);
  }
};

}  // namespace

EngineResult run_exchange(Connection &connection, const EngineRequest &request,
                          const Patience &patience, Body &body) {
  EngineResult result;
  httplib::Request wanted;
  wanted.method = request.method;
  wanted.path = request.target;
  for (const auto &[name, value] : request.headers) wanted.headers.emplace(name, value);
  wanted.body.assign(request.body);

  Client client;
  ExchangeStream stream(connection, request, patience, body, result);
  httplib::Response response;
  const bool processed = client.process(stream, wanted, response);
  result.answered = stream.answered();
  if (!processed && !result.failed) {
    result.failed = failure(MUSTER_E_INTERNAL, Phase::receive,
                            "cpp-httplib stopped the exchange without a reason");
  }
  if (!result.failed) result.failed = stream.receive_body();
  result.reusable = !result.failed && result.head.keep_alive && stream.is_whole();
  return result;
}

}  // namespace muster::http

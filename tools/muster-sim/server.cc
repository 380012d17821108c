// From HTTP to calls and back. The only file that knows the HTTP library.
#include "server.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>
#include <openssl/ssl.h>

#include "connection.h"
#include "continue_token.h"
#include "gzip.h"

namespace muster::sim {
namespace {

constexpr std::size_t kGzipFrom = 128 * 1024;      // as the real server
constexpr std::size_t kWriteAtLeast = 256 * 1024;  // small slices are gathered up to this
constexpr int kBacklog = 1024;

// A thread for each connection, so that slow answers on purpose hold up nobody else.
class ThreadEach : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> work) override { std::thread(std::move(work)).detach(); }
  void shutdown() override {}
};

// Asks for a client certificate but takes none, or a foreign one, too: as with the real server,
// who that is gets decided with the request, by a 401.
bool set_up_tls(SSL_CTX& context, const TlsMaterial& material) {
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  if (SSL_CTX_use_certificate(&context, material.server.certificate.get()) != 1) return false;
  if (SSL_CTX_use_PrivateKey(&context, material.server.key.get()) != 1) return false;
  X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), material.authority.certificate.get());
  SSL_CTX_add_client_CA(&context, material.authority.certificate.get());
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
  static const unsigned char kSessions[] = "muster-sim";
  SSL_CTX_set_session_id_context(&context, kSessions, sizeof kSessions);
  return true;
}

// What the client's certificate says of it, if the authority signed it.
void read_certificate(const SSL* ssl, Call& call) {
  if (ssl == nullptr || SSL_get_verify_result(ssl) != X509_V_OK) return;
  const CertificatePtr certificate(SSL_get1_peer_certificate(ssl));
  if (certificate == nullptr) return;
  char name[256] = {};
  const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()),
                                             NID_commonName, name, sizeof name);
  if (size > 0) call.certificate_user = name;
  call.certificate = der_in_base64(certificate.get());
}

Call to_call(const httplib::Request& request) {
  Call call;
  call.method = request.method;
  call.path = request.path;
  call.parameters.insert(request.params.begin(), request.params.end());
  if (const auto mark = request.target.find('?'); mark != std::string::npos) {
    call.query = httplib::detail::decode_url(request.target.substr(mark + 1), true);
  }
  // Several Accept headers mean the same as one with commas.
  for (std::size_t i = 0; i < request.get_header_value_count("Accept"); ++i) {
    if (i > 0) call.accept += ',';
    call.accept += request.get_header_value("Accept", i);
  }
  call.accept_encoding = request.get_header_value("Accept-Encoding");
  call.authorization = request.get_header_value("Authorization");
  call.user_agent = request.get_header_value("User-Agent");
  call.content_type = request.get_header_value("Content-Type");
  call.metadata_flavor = request.get_header_value("Metadata-Flavor");
  call.forwarded = request.has_header("X-Forwarded-For");
  call.aws_token = request.get_header_value("X-aws-ec2-metadata-token");
  call.aws_token_life = request.get_header_value("X-aws-ec2-metadata-token-ttl-seconds");
  read_certificate(request.ssl, call);
  call.body = request.body;
  return call;
}

// The faults that concern the sending of one answer: it drips, or is cut off.
class Hindrance {
 public:
  Hindrance(const std::optional<Fault>& fault, const httplib::Request& request)
      : local_port_(request.local_port), remote_port_(request.remote_port) {
    if (!fault) return;
    drip_ = fault->drip;
    reset_ = fault->reset;
    if (fault->drop_after_bytes) left_before_cut_ = *fault->drop_after_bytes;
  }

  // Whether the connection is at its end; then it is cut.
  bool cuts() const {
    if (left_before_cut_ != 0) return false;
    cut_connection(local_port_, remote_port_, reset_);
    return true;
  }
  // How many bytes may be sent next at most; waits until they may.
  std::size_t most() {
    if (drip_ > 0 && started_) std::this_thread::sleep_for(std::chrono::seconds(1));
    started_ = true;
    std::size_t most = std::string_view::npos;
    if (left_before_cut_ > 0) most = static_cast<std::size_t>(left_before_cut_);
    if (drip_ > 0) most = std::min(most, static_cast<std::size_t>(drip_));
    return most;
  }
  void sent(std::size_t count) {
    if (left_before_cut_ > 0) left_before_cut_ -= static_cast<std::int64_t>(count);
  }

 private:
  int local_port_;
  int remote_port_;
  std::int64_t drip_ = 0;
  std::int64_t left_before_cut_ = -1;  // -1: no cut
  bool reset_ = false;
  bool started_ = false;
};

// Sends an answer piece by piece.
class Sender {
 public:
  Sender(Answer answer, Hindrance hindrance) : answer_(std::move(answer)), hindrance_(hindrance) {}

  // Called again and again until everything is sent; false ends the connection.
  bool send(httplib::DataSink& sink) {
    if (hindrance_.cuts()) return false;
    const auto piece = next_piece(hindrance_.most());
    hindrance_.sent(piece.size());
    return !piece.empty() && sink.write(piece.data(), piece.size());
  }

 private:
  // The next bytes: a large slice as it is, small ones gathered.
  std::string_view next_piece(std::size_t most) {
    gathered_.clear();
    while (at_ < answer_.slices.size()) {
      auto& slice = answer_.slices[at_];
      const bool alone =
          gathered_.empty() && (slice.size() >= kWriteAtLeast || slice.size() >= most);
      if (!alone && gathered_.size() + slice.size() > std::min(most, 2 * kWriteAtLeast)) break;
      const auto piece = slice.substr(0, most);
      slice.remove_prefix(piece.size());
      if (slice.empty()) ++at_;
      if (alone) return piece;
      gathered_ += piece;
    }
    return gathered_;
  }

  Answer answer_;
  Hindrance hindrance_;
  std::size_t at_ = 0;
  std::string gathered_;
};

// Sends a stream chunk by chunk. The chunks are framed here, because the library would compress
// them whenever the client takes gzip, which the real server never does to a watch.
class StreamSender {
 public:
  StreamSender(std::shared_ptr<BodyStream> stream, Hindrance hindrance)
      : stream_(std::move(stream)), hindrance_(hindrance) {}

  // Called again and again; false ends the connection.
  bool send(httplib::DataSink& sink) {
    if (hindrance_.cuts()) return false;
    if (waiting_.empty()) waiting_ = stream_->next(std::chrono::milliseconds(1000));
    if (waiting_.empty()) {
      if (!stream_->ended()) return true;
      constexpr std::string_view kLast = "0\r\n\r\n";
      const bool sent = sink.write(kLast.data(), kLast.size());
      sink.done();
      return sent;
    }
    const auto count = std::min(waiting_.size(), hindrance_.most());
    hindrance_.sent(count);
    const auto frame =
        fmt::format("{:x}\r\n{}\r\n", count, std::string_view(waiting_).substr(0, count));
    waiting_.erase(0, count);
    return sink.write(frame.data(), frame.size());
  }

 private:
  std::shared_ptr<BodyStream> stream_;
  Hindrance hindrance_;
  std::string waiting_;
};

void compress(Answer& answer) {
  auto packed = gzip(answer.slices);
  if (packed.empty()) return;
  answer.slices.clear();
  answer.append(std::move(packed));
  answer.headers.emplace_back("Content-Encoding", "gzip");
}

void put_answer(httplib::Response& response, Answer answer, const std::optional<Fault>& fault,
                const httplib::Request& request) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  response.set_header("Cache-Control", "no-cache, private");
  if (answer.stream != nullptr) {
    auto sender = std::make_shared<StreamSender>(answer.stream, Hindrance(fault, request));
    response.set_header("Transfer-Encoding", "chunked");
    response.set_content_provider(
        answer.content_type,
        [sender](std::size_t, httplib::DataSink& sink) { return sender->send(sink); });
    return;
  }
  const auto size = answer.size();
  if (size == 0) return;
  const auto type = answer.content_type;
  auto sender = std::make_shared<Sender>(std::move(answer), Hindrance(fault, request));
  response.set_content_provider(
      size, type,
      [sender](std::size_t, std::size_t, httplib::DataSink& sink) { return sender->send(sink); });
}

void answer_cloud(Cloud& cloud, RequestLog& log, const httplib::Request& request,
                  httplib::Response& response) {
  const Call call = to_call(request);
  auto served = cloud.serve(call);
  const auto& fault = served.fault;

  const bool wants_gzip = call.accept_encoding.find("gzip") != std::string::npos;
  if (served.may_compress && wants_gzip && served.answer.size() > kGzipFrom)
    compress(served.answer);

  LoggedRequest entry;
  entry.time_ms = now_ms();
  entry.method = call.method;
  entry.path = call.path;
  entry.query = call.query;
  entry.user_agent = request.get_header_value("User-Agent");
  entry.accept = call.accept;
  entry.connection = request.remote_port;
  entry.status = fault && fault->drop ? 0 : served.answer.status;
  entry.bytes = static_cast<std::int64_t>(served.answer.size());
  entry.authorised = served.answer.authorised;
  entry.fault = fault.has_value();
  log.add(std::move(entry));

  if (fault && fault->delay_ms > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(fault->delay_ms));
  if (fault && fault->drop) {
    cut_connection(request.local_port, request.remote_port, fault->reset);
    response.status = 500;  // never arrives
    response.set_header("Connection", "close");
    return;
  }
  put_answer(response, std::move(served.answer), fault, request);
}

// The doors for tests: what was asked, and another world.
void answer_control(Cloud& cloud, RequestLog& log, const httplib::Request& request,
                    httplib::Response& response) {
  if (request.path == "/_sim/requests" && request.method == "GET") {
    response.set_content(log.json() + "\n", "application/json");
  } else if (request.path == "/_sim/reset" && request.method == "POST") {
    log.clear();
    cloud.reset_faults();
    response.set_content("{}\n", "application/json");
  } else if (request.path == "/_sim/scenario" && request.method == "PUT") {
    const auto problems = cloud.replace(request.body);
    response.status = problems.empty() ? 200 : 400;
    response.set_content(problems.empty() ? "{}\n" : problems + "\n",
                         problems.empty() ? "application/json" : "text/plain");
  } else {
    response.status = 404;
    response.set_content(
        "muster-sim knows: GET /_sim/requests, POST /_sim/reset, PUT /_sim/scenario\n",
        "text/plain");
  }
}

// The library's server with its listening queue within reach.
template <typename Base>
class Listener : public Base {
 public:
  using Base::Base;
  // The library asks for a queue of 5; a burst of clients needs more.
  void widen_queue() { ::listen(Base::svr_sock_, kBacklog); }
};

}  // namespace

struct Server::Parts {
  std::unique_ptr<httplib::Server> server;
  std::function<void()> widen_queue;
  std::thread listening;
};

Server::Server(const TlsMaterial* material) : parts_(std::make_unique<Parts>()) {
  if (material == nullptr) {
    auto server = std::make_unique<Listener<httplib::Server>>();
    parts_->widen_queue = [plain = server.get()] { plain->widen_queue(); };
    parts_->server = std::move(server);
  } else {
    auto server = std::make_unique<Listener<httplib::SSLServer>>(
        [material](SSL_CTX& context) { return set_up_tls(context, *material); });
    parts_->widen_queue = [tls = server.get()] { tls->widen_queue(); };
    parts_->server = std::move(server);
  }
}

Server::~Server() {
  parts_->server->stop();
  if (parts_->listening.joinable()) parts_->listening.join();
}

Result<int> Server::bind(const std::string& address, int port) {
  auto& server = *parts_->server;
  if (!server.is_valid()) return Failure{"OpenSSL refused the server's certificate"};
  // The library would share the port with anybody; two simulators on one port must not happen.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(1000000);
  server.set_keep_alive_timeout(60);
  server.set_write_timeout(60);
  server.set_payload_max_length(64 * 1024 * 1024);
  server.new_task_queue = [] { return new ThreadEach; };
  const int bound = port == 0                            ? server.bind_to_any_port(address)
                    : server.bind_to_port(address, port) ? port
                                                         : -1;
  if (bound <= 0)
    return Failure{fmt::format("cannot listen on address '{}', port {}", address, port)};
  parts_->widen_queue();
  return bound;
}

void Server::start(Cloud& cloud, RequestLog& log) {
  auto& server = *parts_->server;
  const auto handle = [&cloud, &log](const httplib::Request& request, httplib::Response& response) {
    if (request.path.starts_with("/_sim/")) {
      answer_control(cloud, log, request, response);
    } else {
      answer_cloud(cloud, log, request, response);
    }
  };
  // Requests without a body are answered before the library looks at its patterns; for the
  // others it must read the body first.
  server.set_pre_routing_handler(
      [handle](const httplib::Request& request, httplib::Response& response) {
        if (request.method != "GET" && request.method != "HEAD")
          return httplib::Server::HandlerResponse::Unhandled;
        handle(request, response);
        return httplib::Server::HandlerResponse::Handled;
      });
  server.Post(".*", handle);
  server.Put(".*", handle);
  server.Patch(".*", handle);
  server.Delete(".*", handle);
  server.Options(".*", handle);
  parts_->listening = std::thread([&server] { server.listen_after_bind(); });
}

}  // namespace muster::sim

// One exchange.
#include "plugins/http/exchange.h"

#include "plugins/http/connection.h"
#include "plugins/http/dial.h"
#include "plugins/http/engine.h"
#include "plugins/http/pool.h"
#include "plugins/http/resolver.h"
#include "plugins/http/socks.h"
#include "plugins/http/wire.h"
#include "plugins/http/words.h"

namespace muster::http {

namespace {

// Asks the proxy at the other end of `connection` for a way to the server (RFC 9110, 9.3.6).
Failed open_tunnel(Connection &connection, const Request &request, const Patience &patience) {
  const std::string server = request.url.endpoint.text();
  const std::string proxy = quote(request.proxy.endpoint.text());
  std::string text = "CONNECT " + server + " HTTP/1.1\r\nHost: " + server + "\r\n";
  const std::string authorization = request.proxy.authorization();
  if (!authorization.empty()) text += "Proxy-Authorization: " + authorization + "\r\n";
  text += "\r\n";

  const auto told = [&](Failure failed) {
    failed.phase = Phase::proxy;
    failed.message =
        "the proxy " + proxy + ", asked for a way to " + quote(server) + ": " + failed.message;
    return failed;
  };
  if (Failed failed = connection.write(text, patience)) return told(std::move(*failed));
  Head head;
  Wire wire(connection, patience, "CONNECT");
  if (Failed failed = wire.read_head(head)) return told(std::move(*failed));
  if (head.status / 100 == 2) {
    if (wire.finished()) return {};
    return told(failure(MUSTER_E_DATA_LOSS, Phase::proxy,
                        "it sent bytes of its own before those of the server"));
  }
  std::string why = "it answered " + std::to_string(head.status);
  std::string hint;
  int32_t code = MUSTER_E_FAILED_PRECONDITION;
  if (head.status == 407) {
    why += authorization.empty() ? " (it wants a user and a password)"
                                 : " (it does not accept the user and password of the proxy's URL)";
    hint = "give the proxy's user and password in its URL (http://USER:PASSWORD@HOST:PORT)";
  } else if (head.status == 403) {
    why += " (it does not allow this server)";
  } else if (head.status >= 500) {
    why += " (it does not reach the server)";
    code = MUSTER_E_UNAVAILABLE;
  }
  return told(failure(code, Phase::proxy, std::move(why), std::move(hint)));
}

// As Go's net/http does it: the proxy too is verified by the request's authorities. It does not learn who we are to the server.
Failed start_tls_to_proxy(const Request &request, const Patience &patience,
                          Connection &connection) {
  TlsMaterial material;
  material.ca_pem = request.tls.ca_pem;
  material.insecure = request.tls.insecure;
  std::shared_ptr<TlsIdentity> identity;
  if (Failed failed = TlsIdentity::get(material, identity)) return failed;
  const Endpoint &proxy = request.proxy.endpoint;
  return connection.start_tls(std::move(identity), proxy.plain_host(), proxy.text(), patience);
}

// A new connection for `request`, with its tunnel and TLS.
Failed connect(const Request &request, std::shared_ptr<TlsIdentity> identity,
               const Patience &patience, std::unique_ptr<Connection> &connection) {
  const Endpoint &endpoint = request.through_proxy ? request.proxy.endpoint : request.url.endpoint;
  const auto told = [&](Failure failed) {
    if (request.through_proxy) failed.message = "the proxy: " + failed.message;
    return failed;
  };
  std::vector<Address> addresses;
  if (Failed failed = resolve(endpoint, request.name_servers, patience, addresses))
    return told(std::move(*failed));
  int fd = -1;
  if (Failed failed = dial(addresses, endpoint.text(), patience, fd))
    return told(std::move(*failed));
  connection = std::make_unique<Connection>(fd, endpoint.text());
  const bool socks = request.through_proxy && request.proxy.kind == Proxy::Kind::socks5;
  if (request.through_proxy && request.proxy.kind == Proxy::Kind::https) {
    if (Failed failed = start_tls_to_proxy(request, patience, *connection))
      return told(std::move(*failed));
  }
  if (socks) {
    if (Failed failed = open_socks(*connection, request.proxy, request.url.endpoint, patience))
      return failed;
  } else if (request.through_proxy && request.url.https) {
    if (Failed failed = open_tunnel(*connection, request, patience)) return failed;
  }
  if (!request.url.https) return {};
  const std::string name = request.tls.server_name.empty() ? request.url.endpoint.plain_host()
                                                           : std::string(request.tls.server_name);
  return connection->start_tls(std::move(identity), name, request.url.endpoint.text(), patience);
}

std::string pool_key(const Request &request) {
  std::string key = (request.url.https ? "https " : "http ") + request.url.endpoint.text();
  if (request.through_proxy) {
    key += " by " + std::to_string(static_cast<int>(request.proxy.kind)) + ' ' +
           request.proxy.endpoint.text() + ' ' + request.proxy.authorization();
    if (request.proxy.kind == Proxy::Kind::https) key += " as " + request.tls.hash();
  }
  if (request.url.https) key += " as " + request.tls.hash();
  return key;
}

EngineRequest engine_request(const Request &request) {
  EngineRequest result;
  result.method = request.method;
  result.target = request.url.target;
  result.headers = request.headers;
  if (request.through_proxy && !request.url.https && request.proxy.kind != Proxy::Kind::socks5) {
    result.target = "http://" + request.url.host_header() + request.url.target;
    if (std::string authorization = request.proxy.authorization(); !authorization.empty())
      result.headers.emplace_back("Proxy-Authorization", std::move(authorization));
  }
  result.body = request.body;
  result.secret = (request.flags & MUSTER_HTTP_SECRET_BODY) != 0;
  result.limit = request.limit;
  result.on_body = request.on_body;
  result.on_body_ctx = request.on_body_ctx;
  return result;
}

}  // namespace

Outcome exchange(const Request &request, const muster_call_v1 *call, Body &body) {
  const Patience patience(call);
  Outcome outcome;
  outcome.endpoint = request.url.endpoint.text();
  const auto fail = [&](Failure failed) {
    outcome.failed = std::move(failed);
    return std::move(outcome);
  };
  if (const Patience::Woke over = patience.check(); over != Patience::Woke::ready) {
    return fail(patience.ended(over, Phase::none, "nothing yet: the exchange had not begun"));
  }

  std::shared_ptr<TlsIdentity> identity;
  if (request.url.https) {
    if (Failed failed = TlsIdentity::get(request.tls, identity)) return fail(std::move(*failed));
  }
  const std::string key = pool_key(request);
  const EngineRequest wanted = engine_request(request);

  // A kept connection may have died unnoticed: what is safe to send again is, once, on a new one. What
  // is not safe never rides on a kept connection.
  std::unique_ptr<Connection> connection;
  if (request.is_safe()) connection = take_kept(key);
  for (;;) {
    const bool reused = connection != nullptr;
    if (!reused) {
      if (Failed failed = connect(request, identity, patience, connection))
        return fail(std::move(*failed));
    }
    EngineResult result = run_exchange(*connection, wanted, patience, body);
    outcome.sent |= result.sent;
    outcome.head = std::move(result.head);
    if (!result.failed) {
      if (result.reusable) keep(key, std::move(connection));
      return outcome;
    }
    const bool died =
        !result.answered && (connection->broke() || result.failed->code == MUSTER_E_UNAVAILABLE);
    connection.reset();
    if (!reused || !died) return fail(std::move(*result.failed));
  }
}

}  // namespace muster::http

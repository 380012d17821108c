// SOCKS 5: a way to a server through a proxy that knows nothing of what goes over it (RFC 1928, RFC 1929).
#pragma once

#include "plugins/http/connection.h"
#include "plugins/http/url.h"

namespace muster::http {

// Asks the proxy at the other end of `connection` for a way to `server`, whose name the proxy looks up. After it the
// connection is one to the server. UNAVAILABLE: the proxy does not reach it; FAILED_PRECONDITION: it does not want to.
Failed open_socks(Connection &connection, const Proxy &proxy, const Endpoint &server,
                  const Patience &patience);

}  // namespace muster::http

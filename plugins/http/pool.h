// Connections kept for the next request.
#pragma once

#include <memory>
#include <string>

#include "plugins/http/connection.h"

namespace muster::http {

// All [thread-safe]. `key` tells connections apart that may not stand in for each other: scheme, host,
// port, proxy, TLS material.

// A kept connection that is still fit for use, or NULL. Closes those kept for more than 30 s on the way.
std::unique_ptr<Connection> take_kept(const std::string &key);

// Keeps a connection whose response is whole; at most 8 per key and 64 in all.
void keep(const std::string &key, std::unique_ptr<Connection> connection);

// Closes all that are kept.
void close_kept();

}  // namespace muster::http

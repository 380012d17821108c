#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::sim {

// The fixed documents a client reads to learn what a server offers: /version, /api, /apis and
// /api/v1. Nothing for any other path.
//
// Clients ask for aggregated discovery first; this server answers with the plain documents, as
// servers before 1.26 do, and every client takes those.
std::optional<std::string> discovery_document(std::string_view path, const std::string& version,
                                              const std::string& server_address);

}  // namespace muster::sim

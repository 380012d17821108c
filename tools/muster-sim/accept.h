#pragma once

#include <optional>
#include <string_view>

namespace muster::sim {

// The forms an object can be asked for.
enum class Form { kJson, kTable, kMetadataOnly, kProtobuf };

// The first form of an Accept header this server can give; nothing if there is none (406).
// Order counts, weights do not, as with the real server.
//
// tables    whether tables and metadata-only objects are possible (not for discovery)
// protobuf  whether protobuf is (lists of pods alone, which the real server knows of every object)
std::optional<Form> choose_form(std::string_view accept, bool tables, bool protobuf = false);

}  // namespace muster::sim

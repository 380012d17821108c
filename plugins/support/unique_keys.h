// A JSON document in which a key stands twice has two meanings, and each reader has its own idea of which of them is right.
#pragma once

#include <simdjson.h>

#include <string>

namespace muster::support {

// Where a key stands twice in one of the document's maps: its path, "credential_source.headers.Authorization". "" when there is
// no such key. No value is in it.
std::string repeated_key(simdjson::dom::element document);

}  // namespace muster::support

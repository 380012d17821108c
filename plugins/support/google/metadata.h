// The metadata server of a Google Cloud VM or pod.
#pragma once

#include <optional>
#include <string>

#include <muster/plugin.hpp>

#include "plugins/support/quote_answer.h"

namespace muster::support::google {

class Metadata {
 public:
  // Whether there is evidence of a metadata server: GCE_METADATA_HOST, or a machine whose firmware says Google. Asks nobody.
  static bool expected(const sdk::Call& call);
  // host[:port]: GCE_METADATA_HOST, GCE_METADATA_ROOT, else its usual name.
  static std::string host(const sdk::Call& call);

  // The request for a path below computeMetadata/v1/, which never goes through a proxy.
  static sdk::Request request(const std::string& path, const char* purpose, const sdk::Call& call);
  // Whether a response is the metadata server's own: an answer without Metadata-Flavor is not believed.
  static bool told(const sdk::Response& response);
  // Whether a text can be known to be whole: one that has no length, and is not in chunks, may be cut where its connection ends.
  static bool whole(const sdk::Response& response);

  // The text at a path below computeMetadata/v1/; nothing where the server says that there is none. Where no server is expected it
  // gets a second, without another try. UNAVAILABLE: there is no such server; others are those of code_of_status. Of what is
  // asked for as a credential nothing is quoted.
  static sdk::Result<std::optional<std::string>> get(const std::string& path, const char* purpose,
                                                     const sdk::Call& call,
                                                     AskedFor asked = AskedFor::kData);
};

}  // namespace muster::support::google

// Url: an absolute http or https URL, taken apart once.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/spec/address.h"

namespace muster {

class Url {
 public:
  // Fails with kInvalidArgument: not absolute, not http or https, user info (which is not quoted), a fragment, a byte that has to be
  // percent-encoded, a wrong host or port.
  static Result<Url> parse(std::string_view text);

  // RFC 3986 5.2: what a Location header of this URL's answer means. A fragment is dropped. Fails as parse does.
  Result<Url> resolve(std::string_view reference) const;

  bool https() const { return https_; }
  const Address& address() const {
    return address_;
  }                                                  // with the scheme's port where none was given
  const std::string& path() const { return path_; }  // begins with '/'
  const std::string& text() const { return text_; }  // the whole, as it was given
  std::string endpoint() const { return address_.to_string(); }
  std::string host_and_path() const;         // for a person: no scheme, no usual port, no query
  std::string origin() const;                // "https://host:port"
  bool same_origin(const Url& other) const;  // scheme, host and port (RFC 6454)

 private:
  bool https_ = false;
  Address address_;
  std::string path_;
  std::string query_;  // with its '?', or empty
  std::string text_;
};

}  // namespace muster

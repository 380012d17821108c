// Url: an absolute http or https URL, taken apart once.
#include "core/service/url.h"

#include <cctype>

#include <fmt/format.h>

#include "core/service/text.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

constexpr int64_t kHttpPort = 80;
constexpr int64_t kHttpsPort = 443;

Error refuse(const std::string& reason) {
  return Error{Code::kInvalidArgument, reason, {}}.with(
      "hint", "write an absolute URL: 'https://host:port/path'");
}

// The text of a URL up to its query, which may be secret.
std::string shown(std::string_view text) { return quote(text.substr(0, text.find_first_of("?#"))); }

bool may_stand(char c) {
  return c > ' ' && c < 0x7f && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
}

// RFC 3986 5.2.4, of a path that begins with '/'.
std::string without_dots(std::string_view path) {
  std::string done;
  while (!path.empty()) {
    const size_t end = path.find('/', 1);
    const std::string_view segment = path.substr(0, end);
    const bool last = end == std::string_view::npos;
    if (segment == "/..") {
      const size_t parent = done.rfind('/');
      done.erase(parent == std::string::npos ? 0 : parent);
      if (last) done += '/';
    } else if (segment == "/.") {
      if (last) done += '/';
    } else {
      done.append(segment);
    }
    path = last ? std::string_view() : path.substr(end);
  }
  return done.empty() ? "/" : done;
}

// "scheme:" at the start: the part before the colon, or empty (RFC 3986 4.2).
std::string_view scheme_of(std::string_view text) {
  size_t length = 0;
  while (length < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[length])) != 0 || text[length] == '+' ||
          text[length] == '-' || text[length] == '.')) {
    ++length;
  }
  return length > 0 && length < text.size() && text[length] == ':' ? text.substr(0, length)
                                                                   : std::string_view();
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  Url url;
  std::string_view rest = text;
  const std::string_view scheme = scheme_of(text);
  if (equal_without_case(scheme, "https")) {
    url.https_ = true;
  } else if (!equal_without_case(scheme, "http")) {
    return refuse(fmt::format("{} is not an absolute URL of http or https", shown(text)));
  }
  rest.remove_prefix(scheme.size() + 1);
  if (rest.substr(0, 2) != "//")
    return refuse(fmt::format("{} has no '//' after its scheme", shown(text)));
  rest.remove_prefix(2);

  const size_t authority_end = rest.find_first_of("/?#");
  const std::string_view authority = rest.substr(0, authority_end);
  if (authority.find('@') != std::string_view::npos) {
    return refuse(fmt::format(
        "the URL '{}://...@...' has a user or password in it; use the header Authorization",
        scheme));
  }
  rest = authority_end == std::string_view::npos ? std::string_view() : rest.substr(authority_end);
  if (rest.find('#') != std::string_view::npos)
    return refuse(fmt::format("the URL {} has a fragment ('#')", shown(text)));
  for (const char c : rest) {
    if (!may_stand(c)) {
      return refuse(fmt::format("the URL {} has a byte in it that must be percent-encoded: %{:02X}",
                                shown(text), static_cast<unsigned>(static_cast<unsigned char>(c))));
    }
  }

  // With a port, or without; Address knows which colon means what. When it is neither, the first reason is the better one.
  Result<Address> address = Address::parse(authority);
  if (!address) {
    Result<Address> without_port =
        Address::from_host(authority, url.https_ ? kHttpsPort : kHttpPort);
    if (!without_port || (without_port->is_ipv6() && authority.front() != '[')) {
      return refuse(fmt::format("the URL {} has a wrong host or port: {}", shown(text),
                                address.error().message));
    }
    address = std::move(without_port);
  }
  url.address_ = std::move(address).value();

  const size_t query = rest.find('?');
  url.path_ = rest.substr(0, query);
  if (url.path_.empty()) url.path_ = "/";
  if (query != std::string_view::npos) url.query_ = rest.substr(query);
  url.text_ = text;
  return url;
}

Result<Url> Url::resolve(std::string_view reference) const {
  reference = reference.substr(0, reference.find('#'));
  if (!scheme_of(reference).empty()) return parse(reference);
  if (reference.substr(0, 2) == "//")
    return parse(fmt::format("{}:{}", https_ ? "https" : "http", reference));
  const size_t query = reference.find('?');
  const std::string_view path = reference.substr(0, query);
  const std::string_view tail =
      query == std::string_view::npos ? std::string_view() : reference.substr(query);
  if (reference.empty()) return parse(fmt::format("{}{}{}", origin(), path_, query_));
  if (path.empty()) return parse(fmt::format("{}{}{}", origin(), path_, tail));
  if (path.front() == '/') return parse(fmt::format("{}{}{}", origin(), without_dots(path), tail));
  const std::string folder = path_.substr(0, path_.rfind('/') + 1);
  return parse(
      fmt::format("{}{}{}", origin(), without_dots(fmt::format("{}{}", folder, path)), tail));
}

std::string Url::origin() const {
  return fmt::format("{}://{}", https_ ? "https" : "http", address_.to_string());
}

std::string Url::host_and_path() const {
  const bool usual = address_.port() == (https_ ? kHttpsPort : kHttpPort);
  const std::string host =
      address_.is_ipv6() ? fmt::format("[{}]", address_.host()) : std::string(address_.host());
  return (usual ? host : address_.to_string()) + path_;
}

bool Url::same_origin(const Url& other) const {
  return https_ == other.https_ && address_.port() == other.address_.port() &&
         equal_without_case(address_.host(), other.address_.host());
}

}  // namespace muster

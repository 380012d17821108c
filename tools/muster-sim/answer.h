#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::sim {

// What a module of the cloud is asked; no library's type, so that modules depend on none.
struct Call {
  std::string method;
  std::string path;
  std::string query;  // decoded, for the log and for matching only
  std::multimap<std::string, std::string> parameters;
  std::string accept;
  std::string accept_encoding;
  std::string authorization;
  std::string user_agent;
  std::string content_type;
  std::string metadata_flavor;            // of Google's metadata server
  std::string aws_token, aws_token_life;  // of AWS's metadata service
  bool forwarded = false;                 // it came through a proxy
  std::string certificate_user;           // CN of the verified client certificate, or empty
  std::string certificate;                // its DER in base64
  std::string body;

  // The first value of a parameter, or empty.
  std::string parameter(const std::string& name) const {
    const auto found = parameters.find(name);
    return found == parameters.end() ? std::string() : found->second;
  }
};

// A body that comes bit by bit, as that of a watch.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  // What there is to send; waits for it, but no longer than most. Empty if nothing came.
  virtual std::string next(std::chrono::milliseconds most) = 0;
  // Whether nothing more will come.
  virtual bool ended() const = 0;
};

// What is sent back. The body is a row of slices, so that large stored texts are never copied.
struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string_view> slices;
  std::vector<std::shared_ptr<const void>> owners;  // keep what the slices look at
  std::shared_ptr<BodyStream> stream;               // instead of the slices, if there is one
  bool authorised = true;                           // for the log

  void append(std::string text) {
    const auto owned = std::make_shared<const std::string>(std::move(text));
    slices.emplace_back(*owned);
    owners.push_back(owned);
  }
  // The caller puts what the text belongs to into owners.
  void append_view(std::string_view text) { slices.push_back(text); }

  std::size_t size() const {
    std::size_t total = 0;
    for (const auto& slice : slices) total += slice.size();
    return total;
  }
};

}  // namespace muster::sim

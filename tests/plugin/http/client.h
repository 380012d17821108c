// The other side of libmuster-http.so in a test: a host, a call, and one exchange in a line.
#pragma once

#include <muster/transport.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace muster::test {

// The table of the built libmuster-http.so, loaded once as the core loads it.
const muster_transport_v1 &transport();

// What a test asks for. Everything but the URL may stay as it is.
struct Ask {
  std::string url;
  std::string method = "GET";
  uint64_t flags = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  uint64_t limit = 0;
  std::string ca, certificate, key, server_name, proxy;
  std::function<int32_t(const char *, uint64_t)> on_body;
  std::chrono::milliseconds timeout{4000};
  std::chrono::milliseconds cancel_after{0};  // 0: never
  std::string name_servers;                   // instead of this machine's
};

struct Answer {
  int32_t code = -1;
  std::string message;
  std::map<std::string, std::string> details;
  int64_t status = 0;
  std::string body;
  bool zeros_behind = false;
  std::vector<std::pair<std::string, std::string>> headers;
  std::chrono::milliseconds took{0};

  bool says(const std::string &text) const { return message.find(text) != std::string::npos; }
  std::string header(const std::string &name) const;
};

Answer ask(const Ask &wanted);
Answer get(const std::string &url);

}  // namespace muster::test

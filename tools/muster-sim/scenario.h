#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fault.h"
#include "google.h"
#include "object.h"
#include "pod.h"
#include "result.h"

namespace muster::sim {

struct TlsOptions {
  bool on = false;
  // Subject alternative names of the server's certificate.
  std::vector<std::string> names = {"127.0.0.1", "::1", "localhost"};
  bool expired = false;  // the server's certificate ended yesterday
};

struct User {
  std::string name;
  std::string token;  // empty: drawn at random when the server starts
};

// What a user may not do. An empty list means "any".
struct ForbidRule {
  std::vector<std::string> verbs;
  std::vector<std::string> resources;
  std::vector<std::string> namespaces;
  std::vector<std::string> users;
  std::string scope;  // "cluster", "namespace" or empty for both
};

enum class Anonymous { kDeny, kForbid, kAllow };

struct Kubernetes {
  std::string version = "v1.32.4";
  std::string path_prefix;  // "/k8s/clusters/c-1", or empty
  std::vector<std::string> namespaces;
  std::vector<Pod> pods;
  std::vector<Object> objects;         // of other kinds
  std::int64_t page_size = 0;          // most items a page, whatever limit says; 0: no such bound
  std::int64_t page_life_ms = 300000;  // a continue token is 410 after that
  bool gzip = true;
  bool protobuf = true;
  bool streaming_lists = true;       // false: sendInitialEvents is 422, as with servers without it
  std::int64_t bookmark_ms = 60000;  // between the bookmarks of a watch
  std::optional<Anonymous> anonymous;  // unset: deny with TLS, allow without
  std::vector<User> users;             // the first is the one of the kubeconfig; never empty
  std::string certificate_user = "muster-client";
  std::vector<ForbidRule> forbid;
  std::vector<Fault> faults;
};

// A world, as a scenario file tells it. The README has the grammar.
struct Scenario {
  TlsOptions tls;
  Kubernetes kubernetes;
  Google google;
};

// Reads a scenario. Fails with every problem of the file, one a line, each with line and column.
// file: how messages call it.
Result<Scenario> read_scenario(const std::string& text, const std::string& file);

}  // namespace muster::sim

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "answer.h"
#include "scenario.h"
#include "store.h"

namespace muster::sim {

// The Kubernetes part of the cloud: who asks, what they may do, pods and namespaces.
// One unchanging set of rules over the history of the pods; safe to call from many threads.
class KubernetesApi {
 public:
  // with_tls: whether the server speaks TLS, which decides about anonymous requests.
  // server_address: host:port, told in discovery.
  KubernetesApi(Kubernetes world, std::shared_ptr<const History> pods, bool with_tls,
                std::string server_address);

  Answer handle(const Call& call) const;

 private:
  Answer route(const Call& call, std::string_view path, const std::string& user) const;
  // What 'objects' has at this path; nothing when it has none of that kind.
  std::optional<Answer> objects(const Call& call, std::string_view path,
                                const std::string& user) const;
  Answer pods(const Call& call, const std::string& name_space, const std::string& name) const;
  Answer watch_pods(const Call& call, const std::string& name_space) const;
  Answer namespaces(const Call& call, const std::string& name) const;

  Kubernetes world_;
  std::shared_ptr<const History> pods_;
  bool with_tls_;
  std::string server_address_;
};

}  // namespace muster::sim

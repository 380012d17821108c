#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "answer.h"
#include "fault.h"
#include "kubernetes_api.h"
#include "scenario.h"

namespace muster::sim {

// The present rules of the simulated world: which module answers, and which faults strike.
// Later modules (GCE, TPU) take their place beside the Kubernetes one here.
class Cloud {
 public:
  // scenario: its users must have their tokens.
  Cloud(Scenario scenario, bool with_tls, std::string server_address);

  struct Served {
    Answer answer;
    std::optional<Fault>
        fault;  // struck; the part the sender must do (delay, drip, cuts) is left to it
    bool may_compress = true;
  };
  Served serve(const Call& call);

  // Replaces the world by another scenario. TLS stays as it is, tokens of known users too.
  // Returns the problems of the text, or empty.
  std::string replace(const std::string& scenario_text);

  // Faults start counting anew.
  void reset_faults();

 private:
  // One set of rules; requests under way keep the one they began with.
  struct Rules {
    KubernetesApi kubernetes;
    FaultPlan faults;
    std::vector<User> users;
    bool gzip;
  };
  std::shared_ptr<Rules> rules() const;
  std::shared_ptr<Rules> make_rules(Kubernetes world) const;

  bool with_tls_;
  std::string server_address_;
  std::shared_ptr<History> pods_;
  mutable std::mutex mutex_;
  std::shared_ptr<Rules> rules_;  // guarded by mutex_
};

// Gives every user without a token one: known's token for the same name, else a random one.
void give_tokens(std::vector<User>& users, const std::vector<User>& known);

}  // namespace muster::sim

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "answer.h"
#include "compute_api.h"
#include "fault.h"
#include "kubernetes_api.h"
#include "scenario.h"

namespace muster::sim {

// The present rules of the simulated world: which module answers, and which faults strike.
class Cloud {
 public:
  // scenario: its users must have their tokens.
  // key: of Google's service account; null makes one where the scenario has Google in it.
  Cloud(Scenario scenario, bool with_tls, std::string server_address,
        std::shared_ptr<const GoogleKey> key = nullptr);

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
    std::unique_ptr<ComputeApi> google;  // null: this cloud has none
    FaultPlan faults, google_faults;
    std::vector<User> users;
    bool gzip, google_gzip;
  };
  std::shared_ptr<Rules> rules() const;
  // Google's answer, held back as long as its caller wants to wait for another.
  Answer answer_google(const Call& call, std::shared_ptr<Rules> now);
  std::shared_ptr<Rules> make_rules(Kubernetes world, Google google);

  bool with_tls_;
  std::string server_address_;
  std::shared_ptr<const GoogleKey> key_;
  std::shared_ptr<GoogleTokens> tokens_;  // null until there is a key
  std::shared_ptr<History> pods_;
  mutable std::mutex mutex_;
  std::shared_ptr<Rules> rules_;  // guarded by mutex_
  std::condition_variable replaced_;
};

// Gives every user without a token one: known's token for the same name, else a random one.
void give_tokens(std::vector<User>& users, const std::vector<User>& known);

}  // namespace muster::sim

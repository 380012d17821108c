// The world behind the server.
#include "cloud.h"

#include "continue_token.h"
#include "google_error.h"
#include "google_list.h"
#include "metadata_api.h"
#include "status.h"
#include "tls_material.h"

namespace muster::sim {
namespace {

// The page a request asks for, and the fresh token a 410 for it carries.
struct Paging {
  std::int64_t page = 1;
  std::string fresh;
};

Paging paging_of(const Call& call) {
  Paging out;
  const auto text = call.parameter("continue");
  if (text.empty()) return out;
  auto token = ContinueToken::decode(text);
  if (!token) return out;
  out.page = token->page;
  token->version = -1;
  token->issued_ms = now_ms();
  out.fresh = token->encode();
  return out;
}

Answer faulty_answer(const Fault& fault, const Paging& paging, bool google, bool tpu) {
  Answer answer;
  if (fault.body) {
    answer.status = fault.status == 0 ? 200 : fault.status;
    answer.content_type = fault.content_type;
    answer.append(*fault.body);
    if (fault.retry_after)
      answer.headers.emplace_back("Retry-After", std::to_string(*fault.retry_after));
  } else if (google) {
    answer = tpu ? plain_api_error(fault.status, fault.message)
                 : plain_google_error(fault.status, fault.message);
    if (fault.retry_after)
      answer.headers.emplace_back("Retry-After", std::to_string(*fault.retry_after));
  } else {
    answer = plain_status(fault.status, fault.message, fault.retry_after,
                          fault.status == 410 ? paging.fresh : "");
  }
  return answer;
}

}  // namespace

void give_tokens(std::vector<User>& users, const std::vector<User>& known) {
  for (auto& user : users) {
    for (const auto& old : known) {
      if (user.token.empty() && old.name == user.name) user.token = old.token;
    }
    if (user.token.empty()) user.token = random_token();
  }
}

Cloud::Cloud(Scenario scenario, bool with_tls, std::string server_address,
             std::shared_ptr<const GoogleKey> key)
    : with_tls_(with_tls),
      server_address_(std::move(server_address)),
      key_(std::move(key)),
      pods_(std::make_shared<History>(std::move(scenario.kubernetes.pods),
                                      std::move(scenario.kubernetes.objects))) {
  rules_ = make_rules(std::move(scenario.kubernetes), std::move(scenario.google));
}

std::shared_ptr<Cloud::Rules> Cloud::make_rules(Kubernetes world, Google google) {
  std::unique_ptr<ComputeApi> compute;
  auto google_faults = google.faults;
  const bool google_gzip = google.gzip;
  if (google.on) {
    if (key_ == nullptr) {
      if (auto made = make_google_key()) key_ = std::make_shared<const GoogleKey>(std::move(*made));
    }
    if (tokens_ == nullptr) tokens_ = std::make_shared<GoogleTokens>(key_);
    // Whoever is known to the API server has a token here too.
    for (const auto& user : world.users) tokens_->accept(user.token);
    compute = std::make_unique<ComputeApi>(std::move(google), tokens_, server_address_);
  }
  auto faults = world.faults;
  auto users = world.users;
  const bool gzip = world.gzip;
  world.pods.clear();  // they live in the history
  world.objects.clear();
  return std::shared_ptr<Rules>(
      new Rules{KubernetesApi(std::move(world), pods_, with_tls_, server_address_),
                std::move(compute), FaultPlan(std::move(faults)),
                FaultPlan(std::move(google_faults)), std::move(users), gzip, google_gzip});
}

std::shared_ptr<Cloud::Rules> Cloud::rules() const {
  const std::lock_guard lock(mutex_);
  return rules_;
}

Answer Cloud::answer_google(const Call& call, std::shared_ptr<Rules> now) {
  Answer answer = now->google->handle(call);
  const AwaitedChange awaited = awaited_change(call, answer);
  const auto until = std::chrono::steady_clock::now() + awaited.most;
  while (awaited.most.count() > 0 && etag_of(answer) == awaited.known) {
    {
      std::unique_lock lock(mutex_);
      if (!replaced_.wait_until(lock, until, [&] { return rules_ != now; })) break;
      now = rules_;
    }
    if (now->google == nullptr) break;
    answer = now->google->handle(call);
  }
  return answer;
}

Cloud::Served Cloud::serve(const Call& call) {
  const auto now = rules();
  const bool google = now->google != nullptr && ComputeApi::serves(call.path);
  const auto paging =
      google ? Paging{page_of_token(call.parameter("pageToken")), ""} : paging_of(call);
  Served out;
  // Google's front end compresses for those alone who say that they are able to, twice.
  out.may_compress =
      google ? now->google_gzip && call.user_agent.find("gzip") != std::string::npos : now->gzip;
  out.fault = (google ? now->google_faults : now->faults)
                  .strike(call.method, call.path, call.query, paging.page);
  if (out.fault && (out.fault->status != 0 || out.fault->body)) {
    out.answer = faulty_answer(*out.fault, paging, google, TpuApi::serves(call.path));
  } else {
    out.answer = google ? answer_google(call, now) : now->kubernetes.handle(call);
    if (out.fault && out.fault->retry_after) {
      out.answer.headers.emplace_back("Retry-After", std::to_string(*out.fault->retry_after));
    }
  }
  if (out.fault) {
    for (const auto& header : out.fault->headers) out.answer.headers.push_back(header);
  }
  return out;
}

std::string Cloud::replace(const std::string& scenario_text) {
  auto scenario = read_scenario(scenario_text, "scenario");
  if (!scenario) return scenario.error();
  auto& world = scenario->kubernetes;
  auto known = rules()->users;
  // The kubeconfig's user stays the same person, whatever the new scenario calls them.
  if (world.users.front().token.empty()) world.users.front().token = known.front().token;
  give_tokens(world.users, known);
  pods_->replace(std::move(world.pods), std::move(world.objects));
  auto fresh = make_rules(std::move(world), std::move(scenario->google));
  const std::lock_guard lock(mutex_);
  rules_ = std::move(fresh);
  replaced_.notify_all();
  return {};
}

void Cloud::reset_faults() {
  const auto now = rules();
  now->faults.reset();
  now->google_faults.reset();
}

}  // namespace muster::sim

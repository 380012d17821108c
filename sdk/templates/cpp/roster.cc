// Backend "roster": the members of one job from a list over HTTP.
//
//   # name address, or name - and why it has none
//   node-1 10.0.0.1:8470
//   node-2 [fd00::2]:8470
//   node-3 - powered off since Monday
//
// The core ranks the members by natural order of their names. A member without an address keeps its rank.
#include <memory>
#include <muster/plugin.hpp>
#include <string>

#include "list.h"

namespace {

namespace sdk = muster::sdk;

// What is known without running any of this. The options arrive checked against their schema.
// clang-format off
MUSTER_DESCRIPTOR({
  "name": "roster",
  "version": "1.0.0",
  "abi": {"major": 1, "minor": 0},
  "description": "The members of one job from a list over HTTP: a line 'name address' for each.",
  "license": "Apache-2.0",
  "services": ["muster.options/1", "muster.http/1", "muster.environment/1", "muster.address/1", "muster.clock/1"],
  "extensions": ["muster.watch/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "required": ["url"],
    "properties": {
      "url": {"type": "string", "pattern": "^https?://", "description": "Where the list is."},
      "job": {"type": "string", "minLength": 1, "default": "worker", "description": "The job of the members."},
      "port": {"type": "integer", "minimum": 1, "maximum": 65535, "description": "The port of members whose address has none."},
      "token": {"type": "string", "minLength": 1, "writeOnly": true, "description": "Sent as 'Authorization: Bearer'."},
      "identity_variable": {"type": "string", "minLength": 1, "description": "The environment variable that has the name of this process's own member; without it, that is the host's name."}
    }
  }
})
// clang-format on

constexpr int64_t kSecond = 1'000'000'000;

class Backend {
 public:
  // Takes the options; nothing is read or asked here (MP-19).
  static sdk::Result<std::unique_ptr<Backend>> create(const sdk::Host& host, std::string_view) {
    auto backend = std::make_unique<Backend>();
    backend->url_ = host.text_option("/url").value_or("");
    backend->job_ = host.text_option("/job").value_or("worker");
    backend->port_ = host.integer_option("/port").value_or(0);
    backend->identity_variable_ = host.text_option("/identity_variable").value_or("");
    if (const auto token = host.text_option("/token"))
      backend->authorization_ = "Bearer " + std::string(*token);
    return backend;
  }

  sdk::Status resolve(sdk::Call& call) {
    auto response = ask(call, "");
    if (!response) return std::move(response).failure();
    return push(call, response->body());
  }

  // Commits the list, and again whenever its ETag has changed, for which it is asked as often as the user wants. Without ETags the
  // core had better ask resolve.
  sdk::Status watch(sdk::Call& call) {
    std::string etag;
    for (;;) {
      auto response = ask(call, etag);
      if (!response) return std::move(response).failure();
      if (response->status() == 200) {
        etag = response->header("ETag").value_or("");
        if (etag.empty())
          return sdk::Failure{MUSTER_E_UNIMPLEMENTED, "the list has no ETag to watch it by", {}};
        if (auto status = push(call, response->body()); !status) return status;
        call.commit();
      }
      if (call.refused()) return {};
      if (auto slept = call.sleep(call.interval_ns()); !slept) return slept;
    }
  }

 private:
  // The list, or (status 304) that it still is the one of this ETag.
  sdk::Result<sdk::Response> ask(sdk::Call& call, const std::string& etag) const {
    sdk::Request request;
    request.url = url_;
    request.purpose = "the list of members";
    request.timeout_ns = 30 * kSecond;  // a watch has no other deadline
    if (!authorization_.empty()) request.headers.emplace_back("Authorization", authorization_);
    if (!etag.empty()) request.headers.emplace_back("If-None-Match", etag);
    auto response = call.send(request);
    if (!response) return response;
    if (response->status() == 200 || (response->status() == 304 && !etag.empty())) return response;
    return failure_of(response->status());
  }

  sdk::Failure failure_of(int64_t status) const {
    int32_t code = MUSTER_E_FAILED_PRECONDITION;
    std::string hint;
    if (status == 401) code = MUSTER_E_UNAUTHENTICATED, hint = "give or renew the option 'token'";
    if (status == 403) code = MUSTER_E_PERMISSION_DENIED, hint = "the token may not read this list";
    if (status == 404 || status == 410)
      code = MUSTER_E_NOT_FOUND, hint = "look at the option 'url'";
    if (status == 429) code = MUSTER_E_RESOURCE_EXHAUSTED, hint = "ask less often";
    if (status == 408 || status >= 500) code = MUSTER_E_UNAVAILABLE;
    sdk::Failure failure{code, url_ + " answered with status " + std::to_string(status), {}};
    failure.details.emplace_back("http_status", std::to_string(status));
    if (!hint.empty()) failure.details.emplace_back("hint", hint);
    return failure;
  }

  sdk::Status push(sdk::Call& call, std::string_view text) const {
    const auto fail = [&](int number, const std::string& why) {
      return sdk::Failure{MUSTER_E_DATA_LOSS,
                          url_ + ":" + std::to_string(number) + ": " + why + "; " + members::kLine,
                          {}};
    };
    // What this process is called. The core is asked, so that a recorded resolve can be replayed (MP-14).
    const auto said =
        identity_variable_.empty() ? call.hostname() : call.variable(identity_variable_.c_str());
    const std::string own_name(said.value_or(""));
    const std::string source = identity_variable_.empty() ? "the host's name" : identity_variable_;
    call.add_job(job_);  // it may have no member
    members::List list(text);
    while (auto member = list.next()) {
      if (call.refused()) return {};
      if (call.cancelled())
        return sdk::Failure{MUSTER_E_CANCELLED, "cancelled while reading the list", {}};
      if (!member->problem.empty()) return fail(member->line, member->problem);
      if (member->address.empty()) {
        call.add_missing(job_, MUSTER_UNRANKED, member->name, member->reason);
      } else {
        // An address has its port, or gets the option's. Which of the two, the core knows; nobody looks for a colon.
        int64_t port = 0;
        if (auto why = call.host().address_problem(member->address)) {
          port = port_;
          if (port != 0) why = call.host().address_problem(member->address, port);
          if (why) return fail(member->line, *why);
        }
        call.add_task({job_, MUSTER_UNRANKED, member->name, member->address, port});
      }
      if (!own_name.empty() && member->name == own_name)
        call.set_identity(job_, MUSTER_UNRANKED, member->name, source + " is '" + own_name + "'");
    }
    return {};
  }

  std::string url_, job_, identity_variable_, authorization_;
  int64_t port_ = 0;
};

}  // namespace

MUSTER_PLUGIN(Backend, "roster", "1.0.0")

// A core made of memory, for tests that ask one plugin one question.
#pragma once

#include <muster/http.h>
#include <muster/plugin.h>
#include <muster/process.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fake {

// A request as a plugin made it.
struct Request {
  std::string method;
  std::string url;
  std::map<std::string, std::string> headers;
  std::string ca_pem, certificate_pem, key_pem;
  std::string server_name, proxy_url, purpose;
  uint64_t flags = 0;
  int64_t timeout_ns = 0;
  std::string body;
};

// What comes back: a response, or (status 0) a failure of the exchange.
struct Response {
  int64_t status = 200;
  std::string body;
  std::map<std::string, std::string> headers;
  int32_t code = MUSTER_OK;
  std::string message;
  bool broken = false;    // the failure came after the body
  double takes_s = 0;     // until it begins to be answered, where a Watched owns the time
  bool unframed = false;  // no Content-Length, so the connection's end is the body's
};

// A program as a plugin ran it.
struct Program {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  uint64_t flags = 0;
  int64_t timeout_ns = 0;
};

// What comes of it: an end, or (code) a failure to run it.
struct Run {
  int64_t exit_status = 0;
  std::string output;
  std::string error_output;
  int32_t code = MUSTER_OK;
  std::string message;
};

struct Watched;  // of fake_watch.h

// The world as the plugin sees it.
struct World {
  Watched* watched = nullptr;  // it is a watch, whose time this owns
  std::map<std::string, std::string> variables;
  std::string hostname;                           // empty: it has none
  std::map<std::string, std::string> files;       // by absolute path; "~/" is /home/user/
  std::map<std::string, int32_t> unreadable;      // path -> code that read_file fails with
  std::function<Response(const Request&)> serve;  // null: nothing can be reached
  std::function<void(World&)> rotate;             // what changes after the first request
  std::function<Run(const Program&)> run;         // null: there is no program
  bool terminal = false;
  bool keep = true;                             // what a call learns may serve others: it is live
  int64_t time_s = 1769860800;                  // of day: 2026-01-31T12:00:00Z
  int64_t refused_push = -1;                    // the n-th push (from 0) is refused
  int64_t time_left_ns = INT64_C(30000000000);  // until the deadline
  std::function<bool()> begins;          // of those asked beside one another: when this one is
  int64_t cancelled_after = -1;          // is_cancelled says 1 from this many requests on
  std::function<bool()> cancelled_when;  // asked on the thread of the call
};

struct Task {
  std::string job;
  int64_t index;
  std::string name;
  std::string address;  // with its port, IPv6 in brackets
  std::map<std::string, std::string> attributes;
};
struct Missing {
  std::string job;
  int64_t index;
  std::string name;
  std::string reason;
};
struct Identity {
  std::string job;
  int64_t index;
  std::string name;
  std::string evidence;
};

struct Permission {
  std::string principal_kind, principal, scope, rule;
};

struct Planned {
  std::string api, request;
  int64_t least, most;
  std::string reason;
};

// All that one call did.
struct Answer {
  int32_t code = MUSTER_OK;
  std::string message;                         // of the error
  std::map<std::string, std::string> details;  // of the error
  bool created = false;                        // create went well; otherwise the error is its
  std::vector<std::string> jobs;
  std::vector<Task> tasks;
  std::vector<Missing> missing;
  std::vector<Identity> identities;
  std::map<std::string, int64_t> expected;
  std::map<std::string, std::string> attributes;  // of the cluster
  std::vector<std::string> warnings;
  std::vector<Permission> permissions;
  std::string grant_command, grant;
  std::vector<Planned> planned;
  std::vector<std::string> secrets;
  std::vector<std::string> log;  // of create too
  std::vector<Request> requests;
  std::vector<Program> programs;
  int64_t took_ns = 0;  // by ask_beside

  // "worker:0=10.0.0.1:8470 worker:1=..."; unranked tasks as "worker:name=..."
  std::string cluster() const;
  // "worker:1 worker-1 (Pending: ...)", one a line
  std::string missing_text() const;
  // Everything that a person could read of this call, to look for what must not be there.
  std::string everything_said() const;
};

// Creates a resolver of the plugin with these options, asks it once, destroys it. Fails the test on what breaks the
// interface: a push with an empty job, an error without words, OK after a refusal.
Answer ask(const std::string& plugin, const std::string& options, const World& world = {});

// The same, asked by muster.permissions/1 what it needs to be allowed; `watch`: for a watch too.
Answer ask_permissions(const std::string& plugin, const std::string& options,
                       const World& world = {}, const std::string& principal = "",
                       bool watch = false);

// The same, asked by muster.plan/1 how many requests it makes.
Answer ask_plan(const std::string& plugin, const std::string& options, int64_t members,
                const World& world = {});

// The same with one resolver asked once in each of these worlds.
std::vector<Answer> ask_in_turn(const std::string& plugin, const std::string& options,
                                const std::vector<World>& worlds);

// The same with a resolver for each of these worlds; all are there before they are asked at the same time, each on a thread of its own.
std::vector<Answer> ask_beside(const std::string& plugin, const std::string& options,
                               const std::vector<World>& worlds);

}  // namespace fake

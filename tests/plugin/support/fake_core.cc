#include "tests/plugin/support/fake_core.h"

#include <dlfcn.h>
#include <time.h>

#include <doctest/doctest.h>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <thread>
#include <utility>

#include "core/spec/address.h"
#include "tests/plugin/support/fake_watch.h"

// The opaque error of the interface is ours here.
struct muster_error {
  int32_t code = MUSTER_OK;
  std::string message;
  std::map<std::string, std::string> details;
};

namespace fake {
namespace {

std::string text(const char* data, uint64_t size) {
  return size == MUSTER_NUL_TERMINATED ? std::string(data) : std::string(data, size);
}

// One resolver with its one call. Everything the tables point at.
struct Core {
  World world;
  Answer answer;
  muster_host_v1 host = {};
  muster_call_v1 call = {};
  std::deque<std::string> kept;
  std::map<std::string, std::string> response_headers;
  std::vector<muster_http_header_v1> header_table;
  int64_t pushes = 0;
  bool refused = false;

  explicit Core(const World& w);

  const std::string& keep(std::string value) {
    const size_t size = value.size();
    value.append(64, '\0');
    kept.push_back(std::move(value));
    kept.back().resize(size + 64);
    return kept.back();
  }
  int32_t push() {
    if (pushes++ == world.refused_push) {
      refused = true;
      return MUSTER_E_INTERNAL;
    }
    return MUSTER_OK;
  }
};

Core& of(const muster_host_v1* host) { return *static_cast<Core*>(host->ctx); }
Core& of(const muster_call_v1* call) { return *static_cast<Core*>(call->ctx); }

void log(const muster_host_v1* host, int32_t, const char* data, uint64_t size) {
  of(host).answer.log.push_back(text(data, size));
}
int32_t set_error(muster_error* error, int32_t code, const char* message, uint64_t size) {
  if (error != nullptr) *error = {code, text(message, size), {}};
  return code;
}
void add_detail(muster_error* error, const char* key, const char* value, uint64_t size) {
  if (error != nullptr) error->details[key] = text(value, size);
}

int32_t is_cancelled(const muster_call_v1* call) {
  const Core& core = of(call);
  if (core.world.watched != nullptr) return core.world.watched->over() ? 1 : 0;
  if (core.world.cancelled_when && core.world.cancelled_when()) return 1;
  return core.world.cancelled_after >= 0 &&
         static_cast<int64_t>(core.answer.requests.size()) >= core.world.cancelled_after;
}
void set_progress(const muster_call_v1* call, const char* data, uint64_t size) {
  if (Watched* watched = of(call).world.watched) watched->tell("progress", text(data, size));
}
int32_t add_job(const muster_call_v1* call, const char* job, uint64_t size) {
  Core& core = of(call);
  const std::string name = text(job, size);
  CHECK_FALSE(name.empty());
  for (const auto& known : core.answer.jobs)
    if (known == name) return core.push();
  core.answer.jobs.push_back(name);
  return core.push();
}
int32_t add_task(const muster_call_v1* call, const muster_task_v1* task) {
  Core& core = of(call);
  CHECK(task->struct_size == sizeof *task);
  Task kept{text(task->job, task->job_size),
            task->index,
            text(task->name, task->name_size),
            text(task->address, task->address_size),
            {}};
  CHECK_FALSE(kept.job.empty());
  if (task->index == MUSTER_UNRANKED) CHECK_FALSE(kept.name.empty());
  if (task->port != 0) {
    const bool bare_v6 = kept.address.find(':') != std::string::npos && kept.address[0] != '[';
    kept.address =
        (bare_v6 ? "[" + kept.address + "]" : kept.address) + ":" + std::to_string(task->port);
  }
  if (core.answer.jobs.empty() || core.answer.jobs.back() != kept.job) {
    bool known = false;
    for (const auto& job : core.answer.jobs) known = known || job == kept.job;
    if (!known) core.answer.jobs.push_back(kept.job);
  }
  core.answer.tasks.push_back(std::move(kept));
  return core.push();
}
int32_t set_attribute(const muster_call_v1* call, const char* key, uint64_t key_size,
                      const char* value, uint64_t value_size) {
  Core& core = of(call);
  auto& attributes =
      core.answer.tasks.empty() ? core.answer.attributes : core.answer.tasks.back().attributes;
  attributes[text(key, key_size)] = text(value, value_size);
  return core.push();
}
int32_t add_missing(const muster_call_v1* call, const muster_missing_v1* m) {
  Core& core = of(call);
  CHECK(m->struct_size == sizeof *m);
  core.answer.missing.push_back({text(m->job, m->job_size), m->index, text(m->name, m->name_size),
                                 text(m->reason, m->reason_size)});
  CHECK_FALSE(core.answer.missing.back().job.empty());
  CHECK_FALSE(core.answer.missing.back().reason.empty());
  return core.push();
}
int32_t set_expected(const muster_call_v1* call, const char* job, uint64_t size, int64_t count) {
  of(call).answer.expected[text(job, size)] = count;
  return of(call).push();
}
int32_t set_identity(const muster_call_v1* call, const muster_identity_v1* i) {
  Core& core = of(call);
  CHECK(i->struct_size == sizeof *i);
  core.answer.identities.push_back({text(i->job, i->job_size), i->index,
                                    text(i->name, i->name_size),
                                    text(i->evidence, i->evidence_size)});
  CHECK_FALSE(core.answer.identities.back().evidence.empty());
  return core.push();
}
int32_t add_warning(const muster_call_v1* call, const char* data, uint64_t size) {
  of(call).answer.warnings.push_back(text(data, size));
  return of(call).push();
}
int32_t commit(const muster_call_v1* call) {
  Core& core = of(call);
  if (core.world.watched == nullptr) return MUSTER_E_FAILED_PRECONDITION;
  core.world.watched->tell("answer", core.answer.cluster());
  core.answer.jobs.clear();
  core.answer.tasks.clear();
  core.answer.missing.clear();
  core.answer.identities.clear();
  core.answer.warnings.clear();
  return MUSTER_OK;
}
int32_t add_permission(const muster_call_v1* call, const muster_permission_v1* p) {
  Core& core = of(call);
  CHECK(p->struct_size == sizeof *p);
  core.answer.permissions.push_back({text(p->principal_kind, p->principal_kind_size),
                                     text(p->principal, p->principal_size),
                                     text(p->scope, p->scope_size), text(p->rule, p->rule_size)});
  return core.push();
}
int32_t set_grant(const muster_call_v1* call, const char* command, uint64_t command_size,
                  const char* data, uint64_t size) {
  of(call).answer.grant_command = text(command, command_size);
  of(call).answer.grant = text(data, size);
  return of(call).push();
}
int32_t add_planned(const muster_call_v1* call, const muster_planned_v1* p) {
  Core& core = of(call);
  CHECK(p->struct_size == sizeof *p);
  core.answer.planned.push_back({text(p->api, p->api_size), text(p->request, p->request_size),
                                 p->least, p->most, text(p->reason, p->reason_size)});
  return core.push();
}
void mark_secret(const muster_call_v1* call, const char* data, uint64_t size) {
  of(call).answer.secrets.push_back(text(data, size));
}

int32_t get_variable(const muster_call_v1* call, const char* name, const char** value,
                     uint64_t* size) {
  Core& core = of(call);
  const auto found = core.world.variables.find(name);
  if (found == core.world.variables.end()) return MUSTER_E_NOT_FOUND;
  *value = core.keep(found->second).data();
  *size = found->second.size();
  return MUSTER_OK;
}
int32_t get_hostname(const muster_call_v1* call, const char** name, uint64_t* size) {
  Core& core = of(call);
  if (core.world.hostname.empty()) return MUSTER_E_NOT_FOUND;
  *name = core.keep(core.world.hostname).data();
  *size = core.world.hostname.size();
  return MUSTER_OK;
}
int32_t read_file(const muster_call_v1* call, const char* path, uint64_t maximum, uint64_t,
                  const char** content, uint64_t* size, muster_error* error) {
  Core& core = of(call);
  std::string name = path;
  if (name.rfind("~/", 0) == 0) name = "/home/user/" + name.substr(2);
  if (const auto failing = core.world.unreadable.find(name);
      failing != core.world.unreadable.end()) {
    const std::string message = "file '" + name + "' cannot be read";
    return set_error(error, failing->second, message.data(), message.size());
  }
  const auto found = core.world.files.find(name);
  if (found == core.world.files.end()) {
    const std::string message = "file '" + name + "' does not exist";
    return set_error(error, MUSTER_E_NOT_FOUND, message.data(), message.size());
  }
  if (found->second.size() > maximum) {
    const std::string message = "file '" + name + "' is too long";
    return set_error(error, MUSTER_E_RESOURCE_EXHAUSTED, message.data(), message.size());
  }
  *content = core.keep(found->second).data();
  *size = found->second.size();
  return MUSTER_OK;
}

Request request_of(const muster_http_request_v1* r) {
  CHECK(r->struct_size == sizeof *r);
  const auto optional = [](const char* value) {
    return value ? std::string(value) : std::string();
  };
  Request request;
  request.method = r->method;
  request.url = text(r->url, r->url_size);
  request.flags = r->flags;
  for (uint64_t n = 0; n < r->header_count; ++n)
    request.headers[r->headers[n].name] = text(r->headers[n].value, r->headers[n].value_size);
  const auto sized = [](const char* data, uint64_t size) {
    return data ? text(data, size) : std::string();
  };
  request.ca_pem = sized(r->ca_pem, r->ca_pem_size);
  request.certificate_pem = sized(r->client_certificate_pem, r->client_certificate_pem_size);
  request.key_pem = sized(r->client_key_pem, r->client_key_pem_size);
  request.server_name = optional(r->tls_server_name);
  request.proxy_url = optional(r->proxy_url);
  request.purpose = optional(r->purpose);
  request.timeout_ns = r->timeout_ns;
  request.body = sized(r->body, r->body_size);
  return request;
}

int32_t send(const muster_call_v1* call, const muster_http_request_v1* r,
             muster_http_response_v1* response, muster_error* error) {
  Core& core = of(call);
  CHECK(response->struct_size == sizeof *response);
  const Request request = request_of(r);
  if (core.world.watched == nullptr) core.answer.requests.push_back(request);
  Response served;
  if (core.world.serve) {
    served = core.world.serve(request);
  } else {
    served.code = MUSTER_E_UNAVAILABLE;
    served.message = "connection refused by " + request.url;
  }
  if (core.world.rotate && core.answer.requests.size() == 1) core.world.rotate(core.world);
  if (core.world.watched != nullptr) core.world.watched->serve(request, served);
  if (served.broken && r->on_body != nullptr)
    r->on_body(r->on_body_ctx, served.body.data(), served.body.size());
  if (served.code != MUSTER_OK)
    return set_error(error, served.code, served.message.data(), served.message.size());
  response->status = served.status;
  const size_t size = served.body.size();
  if (r->on_body != nullptr && served.status / 100 == 2) {
    // Pieces of an awkward size.
    for (size_t at = 0; at < size; at += 1000) {
      const int32_t code =
          r->on_body(r->on_body_ctx, served.body.data() + at, std::min<size_t>(1000, size - at));
      if (code != MUSTER_OK) return code;
    }
    response->body = core.keep("").data();
    response->body_size = 0;
  } else {
    response->body = core.keep(served.body).data();
    response->body_size = size;
  }
  core.response_headers = served.headers;
  if (!served.unframed)
    core.response_headers["Content-Length"] = std::to_string(served.body.size());
  response->ctx = &core;
  return MUSTER_OK;
}
int32_t get_header(const muster_http_response_v1* response, const char* name, const char** value,
                   uint64_t* size) {
  Core& core = *static_cast<Core*>(response->ctx);
  for (const auto& [key, content] : core.response_headers)
    if (strcasecmp(key.c_str(), name) == 0) {
      *value = content.data();
      *size = content.size();
      return MUSTER_OK;
    }
  return MUSTER_E_NOT_FOUND;
}
void release(const muster_call_v1*, muster_http_response_v1* response) {
  if (response == nullptr) return;
  const uint64_t size = response->struct_size;
  std::memset(response, 0, sizeof *response);
  response->struct_size = size;
}

int64_t monotonic_ns(const muster_call_v1* call) {
  if (call != nullptr && of(call).world.watched != nullptr) return of(call).world.watched->now_ns;
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
int64_t realtime_ns(const muster_call_v1* call) { return of(call).world.time_s * 1000000000; }
int32_t sleep_ns(const muster_call_v1* call, int64_t duration) {
  if (Watched* watched = of(call).world.watched) watched->now_ns += duration;
  return MUSTER_OK;
}

int32_t begin_stream(const muster_call_v1* call, const muster_http_request_v1* r, uint64_t* number,
                     muster_error*) {
  *number = of(call).world.watched->begin(request_of(r), *r);
  return MUSTER_OK;
}
int32_t next_of_streams(const muster_call_v1* call, int64_t timeout_ns, uint64_t* number,
                        muster_http_response_v1* response, const char** words, muster_error*) {
  Core& core = of(call);
  Watched::Next next = core.world.watched->next(timeout_ns);
  *number = next.ended;
  if (next.ended == 0 || next.code != MUSTER_OK) {
    if (words != nullptr) *words = core.keep(next.response.message).c_str();
    return next.code;
  }
  response->status = next.response.status;
  response->body = core.keep(next.response.body).data();
  response->body_size = next.response.body.size();
  core.response_headers = next.response.headers;
  response->ctx = &core;
  return MUSTER_OK;
}
void end_stream(const muster_call_v1* call, uint64_t number) {
  of(call).world.watched->end(number);
}

int32_t has_terminal(const muster_call_v1* call) { return of(call).world.terminal ? 1 : 0; }
int32_t run(const muster_call_v1* call, const muster_process_request_v1* r,
            muster_process_result_v1* result, muster_error* error) {
  Core& core = of(call);
  CHECK(r->struct_size == sizeof *r);
  CHECK(result->struct_size == sizeof *result);
  Program program;
  for (uint64_t n = 0; n < r->argument_count; ++n) program.arguments.push_back(r->arguments[n]);
  for (uint64_t n = 0; n < r->environment_count; ++n) {
    const std::string entry = r->environment[n];
    program.environment[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
  }
  program.flags = r->flags;
  program.timeout_ns = r->timeout_ns;
  core.answer.programs.push_back(program);
  Run ran;
  if (core.world.run) {
    ran = core.world.run(program);
  } else {
    ran.code = MUSTER_E_NOT_FOUND;
    ran.message = "there is no program " + program.arguments.at(0);
  }
  if (ran.code != MUSTER_OK)
    return set_error(error, ran.code, ran.message.data(), ran.message.size());
  result->exit_status = ran.exit_status;
  result->output = core.keep(ran.output).data();
  result->output_size = ran.output.size();
  result->error_output = core.keep(ran.error_output).data();
  result->error_output_size = ran.error_output.size();
  result->keep = core.world.keep ? 1 : 0;
  return MUSTER_OK;
}

int32_t check_address(const char* address, uint64_t size, int64_t port, char* reason,
                      uint64_t reason_size) {
  const auto parsed = port == 0 ? muster::Address::parse(text(address, size))
                                : muster::Address::from_host(text(address, size), port);
  if (parsed) return MUSTER_OK;
  REQUIRE(parsed.error().message.size() < reason_size);
  std::strcpy(reason, parsed.error().message.c_str());
  return MUSTER_E_INVALID_ARGUMENT;
}

const muster_address_v1 kAddress = {sizeof(muster_address_v1), check_address};
const muster_environment_v1 kEnvironment = {sizeof(muster_environment_v1), get_variable, read_file,
                                            get_hostname};
const muster_http_v1 kHttp = {sizeof(muster_http_v1), send, get_header, release};
const muster_process_v1 kProcess = {sizeof(muster_process_v1), has_terminal, run};
const muster_http_streams_v1 kStreams = {sizeof(muster_http_streams_v1), begin_stream,
                                         next_of_streams, end_stream};
const muster_clock_v1 kClock = {sizeof(muster_clock_v1), monotonic_ns, realtime_ns, sleep_ns};

const void* get_service(const muster_host_v1* host, const char* id) {
  if (std::strcmp(id, MUSTER_HTTP_STREAMS_V1) == 0)
    return of(host).world.watched != nullptr ? &kStreams : nullptr;
  if (std::strcmp(id, MUSTER_ENVIRONMENT_V1) == 0) return &kEnvironment;
  if (std::strcmp(id, MUSTER_ADDRESS_V1) == 0) return &kAddress;
  if (std::strcmp(id, MUSTER_HTTP_V1) == 0) return &kHttp;
  if (std::strcmp(id, MUSTER_PROCESS_V1) == 0) return &kProcess;
  if (std::strcmp(id, MUSTER_CLOCK_V1) == 0) return &kClock;
  return nullptr;
}

Core::Core(const World& w) : world(w) {
  host = {sizeof host,
          MUSTER_PLUGIN_ABI_MAJOR,
          MUSTER_PLUGIN_ABI_MINOR,
          this,
          log,
          set_error,
          add_detail,
          get_service};
  call = {sizeof call,
          this,
          monotonic_ns(nullptr) + INT64_C(30000000000),
          is_cancelled,
          set_progress,
          add_job,
          add_task,
          set_attribute,
          add_missing,
          set_expected,
          set_identity,
          add_warning,
          mark_secret,
          commit,
          add_permission,
          set_grant,
          add_planned,
          0,
          0};
}

const muster_plugin_v1* load(const std::string& name, const muster_host_v1* host) {
  const char* folder = std::getenv("MUSTER_TEST_PLUGINS");
  REQUIRE_MESSAGE(folder != nullptr, "MUSTER_TEST_PLUGINS names no folder");
  const std::string path = std::string(folder) + "/libmuster-" + name + ".so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(library != nullptr, dlerror());
  using Entry = const muster_plugin_v1* (*)(const muster_host_v1*);
  const auto entry = reinterpret_cast<Entry>(dlsym(library, MUSTER_PLUGIN_ENTRY_V1));
  const bool has_entry = entry != nullptr;
  REQUIRE(has_entry);
  const muster_plugin_v1* plugin = entry(host);
  const bool runs_here = plugin != nullptr;
  REQUIRE(runs_here);
  CHECK(std::string(plugin->name) == name);
  return plugin;
}

}  // namespace

namespace {

using Function = std::function<int32_t(muster_resolver*, const muster_call_v1*, muster_error*)>;

// The function of the plugin that is asked, once in each of the worlds.
std::vector<Answer> ask_by(const std::string& name, const std::string& options,
                           const std::vector<World>& worlds,
                           const std::function<Function(const muster_plugin_v1&)>& function) {
  Core core(worlds.at(0));
  const muster_plugin_v1* plugin = load(name, &core.host);
  muster_error error;
  muster_resolver* resolver = nullptr;
  // A copy without anything behind it: a plugin may not read past the size.
  const std::vector<char> exact(options.begin(), options.end());
  int32_t code = plugin->create(&core.host, exact.data(), exact.size(), &resolver, &error);
  const bool created = code == MUSTER_OK;
  std::vector<Answer> answers;
  for (const World& world : worlds) {
    core.answer.created = created;
    if (created) {
      REQUIRE(resolver != nullptr);
      core.world = world;
      core.call.flags = world.keep ? MUSTER_CALL_LIVE : 0;
      error = {};
      code = function(*plugin)(resolver, &core.call, &error);
      if (core.refused) CHECK(code == MUSTER_E_INTERNAL);
    } else {
      CHECK(resolver == nullptr);
    }
    if (code == MUSTER_OK) CHECK_MESSAGE(error.code == MUSTER_OK, error.message);
    if (code != MUSTER_OK && !core.refused) {
      CHECK(error.code == code);
      CHECK_FALSE(error.message.empty());
    }
    core.answer.code = code;
    core.answer.message = error.message;
    core.answer.details = error.details;
    answers.push_back(std::exchange(core.answer, {}));
  }
  if (resolver != nullptr) plugin->destroy(resolver);
  return answers;
}

}  // namespace

Answer ask(const std::string& name, const std::string& options, const World& world) {
  return ask_in_turn(name, options, {world}).at(0);
}

Answer ask_permissions(const std::string& name, const std::string& options, const World& world,
                       const std::string& principal, bool watch) {
  muster_permissions_request_v1 request = {};
  request.struct_size = sizeof request;
  request.flags = watch ? MUSTER_PERMISSIONS_WATCH : 0;
  request.principal = principal.c_str();
  request.principal_size = principal.size();
  return ask_by(name, options, {world},
                [&](const muster_plugin_v1& plugin) -> Function {
                  const auto* table = static_cast<const muster_permissions_v1*>(
                      plugin.get_extension(MUSTER_PERMISSIONS_V1));
                  REQUIRE(table != nullptr);
                  return [&request, table](auto* resolver, auto* call, auto* error) {
                    return table->permissions(resolver, &request, call, error);
                  };
                })
      .at(0);
}

Answer ask_plan(const std::string& name, const std::string& options, int64_t members,
                const World& world) {
  const muster_plan_request_v1 request = {sizeof request, members};
  return ask_by(name, options, {world},
                [&](const muster_plugin_v1& plugin) -> Function {
                  const auto* table =
                      static_cast<const muster_plan_v1*>(plugin.get_extension(MUSTER_PLAN_V1));
                  REQUIRE(table != nullptr);
                  return [&request, table](auto* resolver, auto* call, auto* error) {
                    return table->plan(resolver, &request, call, error);
                  };
                })
      .at(0);
}

void ask_watch(const std::string& name, const std::string& options, Watched& watched, World world) {
  world.watched = &watched;
  Core core(world);
  core.call.deadline_ns = MUSTER_NO_DEADLINE;
  core.call.flags = MUSTER_CALL_LIVE;
  const muster_plugin_v1* plugin = load(name, &core.host);
  const auto* table = static_cast<const muster_watch_v1*>(plugin->get_extension(MUSTER_WATCH_V1));
  REQUIRE(table != nullptr);
  muster_resolver* resolver = nullptr;
  muster_error error;
  REQUIRE(plugin->create(&core.host, options.data(), options.size(), &resolver, &error) ==
          MUSTER_OK);
  while (!watched.over()) {
    error = {};
    const int32_t code = table->watch(resolver, &core.call, &error);
    core.kept.clear();
    CHECK(code == error.code);
    if (watched.over()) break;
    CHECK_FALSE(error.message.empty());
    watched.failed(code, error.message);
  }
  plugin->destroy(resolver);
}

std::vector<Answer> ask_in_turn(const std::string& name, const std::string& options,
                                const std::vector<World>& worlds) {
  return ask_by(name, options, worlds,
                [](const muster_plugin_v1& plugin) -> Function { return plugin.resolve; });
}

std::string Answer::cluster() const {
  std::string out;
  for (const Task& task : tasks)
    out += (out.empty() ? "" : " ") + task.job + ":" +
           (task.index == MUSTER_UNRANKED ? task.name : std::to_string(task.index)) + "=" +
           task.address;
  return out;
}

std::string Answer::missing_text() const {
  std::string out;
  for (const Missing& m : missing)
    out += (out.empty() ? "" : "\n") + m.job + (m.index < 0 ? "" : ":" + std::to_string(m.index)) +
           " " + m.name + " (" + m.reason + ")";
  return out;
}

std::string Answer::everything_said() const {
  std::string out = message;
  for (const auto& [key, value] : details) out += "\n" + key + "=" + value;
  for (const auto& line : log) out += "\n" + line;
  for (const auto& line : warnings) out += "\n" + line;
  for (const auto& task : tasks)
    for (const auto& [key, value] : task.attributes) out += "\n" + key + "=" + value;
  for (const auto& [key, value] : attributes) out += "\n" + key + "=" + value;
  for (const auto& identity : identities) out += "\n" + identity.evidence;
  out += "\n" + missing_text();
  for (const auto& request : requests) out += "\n" + request.url + " " + request.purpose;
  return out;
}

std::vector<Answer> ask_beside(const std::string& name, const std::string& options,
                               const std::vector<World>& worlds) {
  const muster_plugin_v1* plugin = nullptr;
  std::deque<Core> cores;
  std::deque<muster_error> errors(worlds.size());
  std::vector<muster_resolver*> resolvers;
  for (const World& world : worlds) {
    Core& core = cores.emplace_back(world);
    core.call.flags = world.keep ? MUSTER_CALL_LIVE : 0;
    plugin = load(name, &core.host);
    muster_resolver* resolver = nullptr;
    const int32_t code =
        plugin->create(&core.host, options.data(), options.size(), &resolver, &errors[0]);
    REQUIRE(code == MUSTER_OK);
    resolvers.push_back(resolver);
  }
  std::vector<std::thread> threads;
  for (size_t n = 0; n < worlds.size(); ++n)
    threads.emplace_back([&, n] {
      while (worlds[n].begins && !worlds[n].begins())
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const int64_t begun = monotonic_ns(nullptr);
      cores[n].call.deadline_ns = begun + worlds[n].time_left_ns;
      cores[n].answer.code = plugin->resolve(resolvers[n], &cores[n].call, &errors[n]);
      cores[n].answer.took_ns = monotonic_ns(nullptr) - begun;
    });
  std::vector<Answer> answers;
  for (size_t n = 0; n < worlds.size(); ++n) {
    threads[n].join();
    cores[n].answer.message = errors[n].message;
    cores[n].answer.details = errors[n].details;
    answers.push_back(std::move(cores[n].answer));
  }
  for (muster_resolver* resolver : resolvers) plugin->destroy(resolver);
  return answers;
}

}  // namespace fake

// SPDX-License-Identifier: Apache-2.0
/**
 * C++17 for backends: <muster/plugin.h>, <muster/http.h> and <muster/process.h> with types, lifetimes and one place for failures.
 *
 *   class Roster {
 *    public:
 *     static muster::sdk::Result<std::unique_ptr<Roster>> create(const muster::sdk::Host& host,
 *                                                                std::string_view options);
 *     muster::sdk::Status resolve(muster::sdk::Call& call) {
 *       auto text = call.file("/etc/roster");
 *       if (!text) return std::move(text).failure();
 *       call.add_task({"worker", 0, "w0", "10.0.0.1:8470"});
 *       return {};
 *     }
 *   };
 *   MUSTER_DESCRIPTOR({"name": "roster", "version": "1.0.0", "abi": {"major": 1, "minor": 0}})
 *   MUSTER_PLUGIN(Roster, "roster", "1.0.0")
 *
 * Header only and without an ABI of its own: what crosses is the C interface, whose rules and numbered
 * duties hold. An exception that leaves a function of the class becomes INTERNAL with its text (MP-13).
 * A refused push is remembered by Call, which ignores later pushes, and is what resolve returns then
 * (MP-10): a backend need not look at each push, only call refused() in long loops.
 */
#ifndef MUSTER_PLUGIN_HPP
#define MUSTER_PLUGIN_HPP

#include <muster/http.h>
#include <muster/plugin.h>
#include <muster/process.h>
#include <muster/plugin_result.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {
namespace sdk {

/** What the core lends for as long as the resolver lives. A copy is the same host. [thread-safe] */
class Host {
 public:
  explicit Host(const muster_host_v1* host) : host_(host) {}

  const muster_host_v1* get() const { return host_; }
  /** One line of log at a MUSTER_LOG_* level; never a secret (MP-17). */
  void log(int32_t level, std::string_view text) const {
    host_->log(host_, level, text.data() ? text.data() : "", text.size());
  }
  /** The table of a service, or NULL: service<muster_clock_v1>(MUSTER_CLOCK_V1). */
  template <typename Table>
  const Table* service(const char* id) const {
    return static_cast<const Table*>(host_->get_service(host_, id));
  }
  /**
   * Why add_task would not take this address (MP-7), in words: "'a' is not an address: it has no port". Nothing when it
   * would, or when this core cannot say (then add_task will).
   */
  std::optional<std::string> address_problem(std::string_view address, int64_t port = 0) const {
    const auto* table = service<muster_address_v1>(MUSTER_ADDRESS_V1);
    char reason[512];
    if (table == nullptr || table->check(address.data() ? address.data() : "", address.size(), port,
                                         reason, sizeof reason) == MUSTER_OK)
      return std::nullopt;
    return std::string(reason);
  }
  /**
   * Options by JSON pointer, for a class that would rather not parse their JSON: nothing where none is given, or one of another
   * type. Texts live until destroy.
   */
  std::optional<std::string_view> text_option(const char* pointer) const {
    const auto* options = service<muster_options_v1>(MUSTER_OPTIONS_V1);
    const char* value = nullptr;
    uint64_t size = 0;
    if (options == nullptr || options->get_text(host_, pointer, &value, &size) != MUSTER_OK)
      return std::nullopt;
    return std::string_view(value, size);
  }
  std::optional<int64_t> integer_option(const char* pointer) const {
    const auto* options = service<muster_options_v1>(MUSTER_OPTIONS_V1);
    int64_t value = 0;
    if (options == nullptr || options->get_integer(host_, pointer, &value) != MUSTER_OK)
      return std::nullopt;
    return value;
  }
  std::optional<bool> boolean_option(const char* pointer) const {
    const auto* options = service<muster_options_v1>(MUSTER_OPTIONS_V1);
    int32_t value = 0;
    if (options == nullptr || options->get_boolean(host_, pointer, &value) != MUSTER_OK)
      return std::nullopt;
    return value != 0;
  }
  /** Tells the core of a failure and returns its code; what the entry functions below end with. */
  int32_t fail(muster_error* error, const Failure& failure) const {
    const int32_t code = failure.code == MUSTER_OK ? MUSTER_E_INTERNAL : failure.code;
    if (!failure.message.empty())
      host_->set_error(error, code, failure.message.data(), failure.message.size());
    for (const auto& detail : failure.details)
      host_->add_detail(error, detail.first.c_str(), detail.second.data(), detail.second.size());
    return code;
  }

 private:
  const muster_host_v1* host_;
};

/** A member that is there; as muster_task_v1. */
struct Task {
  std::string_view job;
  int64_t index = MUSTER_UNRANKED;
  std::string_view name;
  std::string_view address;
  int64_t port = 0;  // 0: the port is in `address`
};

/** What must be allowed; as muster_permission_v1. */
struct Permission {
  std::string_view principal_kind;
  std::string_view principal;
  std::string_view scope;
  std::string_view rule;
};

/** Requests of one kind; as muster_planned_v1. */
struct Planned {
  std::string_view api;
  std::string_view request;
  int64_t least = 0;
  int64_t most = 0;
  std::string_view reason = {};
  std::string_view quota = {};  // empty: there is none
  int64_t quota_per_minute = 0;
};

/** For whom and for what; as muster_permissions_request_v1. Lives until the call ends. */
struct PermissionsRequest {
  std::string_view principal;
  bool watch = false;
};

/** What most requests need of muster_http_request_v1, whose zeroes mean the same. */
struct Request {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string purpose;  // in a few words, for `muster explain`
  uint64_t flags = 0;
  uint64_t maximum_body_size = 0;
  int64_t timeout_ns = 0;

  /** The same for the C interface; borrows from this and from `table_headers`, which it fills. */
  muster_http_request_v1 table(std::vector<muster_http_header_v1>& table_headers) const {
    table_headers.clear();
    for (const auto& [name, value] : headers)
      table_headers.push_back({name.c_str(), value.data(), value.size()});
    muster_http_request_v1 out = {};
    out.struct_size = sizeof out;
    out.flags = flags;
    out.method = method.c_str();
    out.url = url.data();
    out.url_size = url.size();
    out.headers = table_headers.data();
    out.header_count = table_headers.size();
    out.body = body.data();
    out.body_size = body.size();
    out.maximum_body_size = maximum_body_size;
    out.purpose = purpose.empty() ? nullptr : purpose.c_str();
    out.timeout_ns = timeout_ns;
    return out;
  }
};

/** A response; frees what it holds when it goes, which is before the call ends. */
class Response {
 public:
  Response(const muster_http_v1* http, const muster_call_v1* call) : http_(http), call_(call) {
    response_.struct_size = sizeof response_;
  }
  Response(Response&& other) noexcept
      : http_(other.http_), call_(other.call_), response_(other.response_) {
    other.http_ = nullptr;
  }
  Response& operator=(Response&& other) noexcept {
    std::swap(http_, other.http_);
    std::swap(call_, other.call_);
    std::swap(response_, other.response_);
    return *this;
  }
  Response(const Response&) = delete;
  Response& operator=(const Response&) = delete;
  ~Response() {
    if (http_ != nullptr) http_->release(call_, &response_);
  }

  int64_t status() const { return response_.status; }
  /** Followed by 64 readable zero bytes. */
  std::string_view body() const { return {response_.body, response_.body_size}; }
  std::optional<std::string_view> header(const char* name) const {
    const char* value = nullptr;
    uint64_t size = 0;
    if (http_->get_header(&response_, name, &value, &size) != MUSTER_OK) return std::nullopt;
    return std::string_view(value, size);
  }
  muster_http_response_v1* get() { return &response_; }

 private:
  const muster_http_v1* http_;
  const muster_call_v1* call_;
  muster_http_response_v1 response_ = {};
};

/** A program to run; as muster_process_request_v1. */
struct Program {
  std::vector<std::string> arguments;    // the first is its path or name
  std::vector<std::string> environment;  // "NAME=value"
  uint64_t flags = 0;
  uint64_t maximum_output_size = 0;  // 0: the core's
  int64_t timeout_ns = 0;            // 0: the call's deadline alone
};

/** What a program that ended said; the texts live until the call ends. */
struct Run {
  int64_t exit_status = 0;
  std::string_view output;  // followed by 64 readable zero bytes
  std::string_view error_output;
  bool keep = false;  // the output may serve later calls too
};

/** One running call: the sink, and the services that are asked during a call. [call] */
class Call {
 public:
  Call(const Host& host, const muster_call_v1* call, muster_error* error)
      : host_(host), call_(call), error_(error) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Host& host() const { return host_; }
  const muster_call_v1* get() const { return call_; }
  /** What a service of the C interface is to tell its failure to, when it is this call's own. */
  muster_error* error() const { return error_; }
  bool cancelled() const { return call_->is_cancelled(call_) != 0; }
  void progress(std::string_view text) const {
    call_->set_progress(call_, data(text), text.size());
  }
  /** The core refused a push: what follows does not count, so a long loop may end. */
  bool refused() const { return refusal_ != MUSTER_OK; }
  int32_t refusal() const { return refusal_; }

  void add_job(std::string_view job) {
    if (!refused()) refusal_ = call_->add_job(call_, data(job), job.size());
  }
  void add_task(const Task& task) {
    if (refused()) return;
    muster_task_v1 t = {};
    t.struct_size = sizeof t;
    t.job = data(task.job);
    t.job_size = task.job.size();
    t.index = task.index;
    t.name = data(task.name);
    t.name_size = task.name.size();
    t.address = data(task.address);
    t.address_size = task.address.size();
    t.port = task.port;
    refusal_ = call_->add_task(call_, &t);
  }
  void set_attribute(std::string_view key, std::string_view value) {
    if (!refused())
      refusal_ = call_->set_attribute(call_, data(key), key.size(), data(value), value.size());
  }
  void add_missing(std::string_view job, int64_t index, std::string_view name,
                   std::string_view reason) {
    if (refused()) return;
    muster_missing_v1 m = {};
    m.struct_size = sizeof m;
    m.job = data(job);
    m.job_size = job.size();
    m.index = index;
    m.name = data(name);
    m.name_size = name.size();
    m.reason = data(reason);
    m.reason_size = reason.size();
    refusal_ = call_->add_missing(call_, &m);
  }
  void set_expected(std::string_view job, int64_t count) {
    if (!refused()) refusal_ = call_->set_expected(call_, data(job), job.size(), count);
  }
  void set_identity(std::string_view job, int64_t index, std::string_view name,
                    std::string_view evidence) {
    if (refused()) return;
    muster_identity_v1 i = {};
    i.struct_size = sizeof i;
    i.job = data(job);
    i.job_size = job.size();
    i.index = index;
    i.name = data(name);
    i.name_size = name.size();
    i.evidence = data(evidence);
    i.evidence_size = evidence.size();
    refusal_ = call_->set_identity(call_, &i);
  }
  void add_warning(std::string_view text) {
    if (!refused()) refusal_ = call_->add_warning(call_, data(text), text.size());
  }
  /** In watch: what was added since the last commit is a whole snapshot. */
  void commit() {
    if (!refused()) refusal_ = call_->commit(call_);
  }
  /** In permissions alone; a core that asks for them has both. */
  void add_permission(const Permission& permission) {
    if (refused()) return;
    muster_permission_v1 p = {};
    p.struct_size = sizeof p;
    p.principal_kind = data(permission.principal_kind);
    p.principal_kind_size = permission.principal_kind.size();
    p.principal = data(permission.principal);
    p.principal_size = permission.principal.size();
    p.scope = data(permission.scope);
    p.scope_size = permission.scope.size();
    p.rule = data(permission.rule);
    p.rule_size = permission.rule.size();
    refusal_ = call_->add_permission(call_, &p);
  }
  void set_grant(std::string_view command, std::string_view text) {
    if (!refused())
      refusal_ = call_->set_grant(call_, data(command), command.size(), data(text), text.size());
  }
  /** In plan alone; a core that asks for one has it. */
  void add_planned(const Planned& planned) {
    if (refused()) return;
    muster_planned_v1 p = {};
    p.struct_size = sizeof p;
    p.api = data(planned.api);
    p.api_size = planned.api.size();
    p.request = data(planned.request);
    p.request_size = planned.request.size();
    p.reason = data(planned.reason);
    p.reason_size = planned.reason.size();
    p.least = planned.least;
    p.most = planned.most;
    p.quota = data(planned.quota);
    p.quota_size = planned.quota.size();
    p.quota_per_minute = planned.quota_per_minute;
    refusal_ = call_->add_planned(call_, &p);
  }
  /** Whether what this call learns may serve other calls of the process: not in a recording or replay. */
  bool live() const { return (call_->flags & MUSTER_CALL_LIVE) != 0; }
  /** In a watch: how long its user lets pass between two questions to a source that has to be asked again and again. */
  int64_t interval_ns() const { return call_->interval_ns; }
  void mark_secret(std::string_view text) const {
    call_->mark_secret(call_, data(text), text.size());
  }

  /** An environment variable; nothing when it is unset, an empty text when it is blank. Lives until the call ends. */
  std::optional<std::string_view> variable(const char* name) const {
    const auto* environment = host_.service<muster_environment_v1>(MUSTER_ENVIRONMENT_V1);
    const char* value = nullptr;
    uint64_t size = 0;
    if (environment == nullptr ||
        environment->get_variable(call_, name, &value, &size) != MUSTER_OK)
      return std::nullopt;
    return std::string_view(value, size);
  }
  /** The name of the machine; nothing when it has none. Lives until the call ends. */
  std::optional<std::string_view> hostname() const {
    const auto* environment = host_.service<muster_environment_v1>(MUSTER_ENVIRONMENT_V1);
    const char* name = nullptr;
    uint64_t size = 0;
    if (environment == nullptr || environment->get_hostname(call_, &name, &size) != MUSTER_OK)
      return std::nullopt;
    return std::string_view(name, size);
  }
  /**
   * A whole file, with 64 readable zero bytes behind it; lives until the call ends. The failure has a code
   * and no message: the core has been told. `quietly` does not tell it, for files that may be absent.
   */
  Result<std::string_view> file(const std::string& path, uint64_t maximum_size = uint64_t{64} << 20,
                                uint64_t flags = 0, bool quietly = false) const {
    const auto* environment = host_.service<muster_environment_v1>(MUSTER_ENVIRONMENT_V1);
    if (environment == nullptr) return missing_service(MUSTER_ENVIRONMENT_V1);
    const char* content = nullptr;
    uint64_t size = 0;
    const int32_t code = environment->read_file(call_, path.c_str(), maximum_size, flags, &content,
                                                &size, quietly ? nullptr : error_);
    if (code != MUSTER_OK) return Failure{code, "", {}};
    return std::string_view(content, size);
  }
  /** One HTTP exchange with its retries; the failure has a code and no message: the core has been told. */
  Result<Response> send(const muster_http_request_v1& request) const {
    const auto* http = host_.service<muster_http_v1>(MUSTER_HTTP_V1);
    if (http == nullptr) return missing_service(MUSTER_HTTP_V1);
    Response response(http, call_);
    const int32_t code = http->send(call_, &request, response.get(), error_);
    if (code != MUSTER_OK) return Failure{code, "", {}};
    return response;
  }
  Result<Response> send(const Request& request) const {
    std::vector<muster_http_header_v1> headers;
    return send(request.table(headers));
  }
  /** Waits; fails with CANCELLED or DEADLINE_EXCEEDED as soon as the call ends earlier. */
  Status sleep(int64_t duration_ns) const {
    const auto* clock = host_.service<muster_clock_v1>(MUSTER_CLOCK_V1);
    if (clock == nullptr) return missing_service(MUSTER_CLOCK_V1);
    const int32_t code = clock->sleep_ns(call_, duration_ns);
    if (code == MUSTER_OK) return {};
    return Failure{code, "the call ended while it waited", {}};
  }
  /** Whether a program may be given the launcher's terminal. */
  bool has_terminal() const {
    const auto* process = host_.service<muster_process_v1>(MUSTER_PROCESS_V1);
    return process != nullptr && process->has_terminal(call_) != 0;
  }
  /** Runs a program to its end; the failure has a code and no message: the core has been told. */
  Result<Run> run(const Program& program) const {
    const auto* process = host_.service<muster_process_v1>(MUSTER_PROCESS_V1);
    if (process == nullptr) return missing_service(MUSTER_PROCESS_V1);
    const auto pointers = [](const std::vector<std::string>& texts) {
      std::vector<const char*> out;
      out.reserve(texts.size());
      for (const std::string& text : texts) out.push_back(text.c_str());
      return out;
    };
    const std::vector<const char*> arguments = pointers(program.arguments);
    const std::vector<const char*> environment = pointers(program.environment);
    muster_process_request_v1 request = {};
    request.struct_size = sizeof request;
    request.flags = program.flags;
    request.arguments = arguments.data();
    request.argument_count = arguments.size();
    request.environment = environment.data();
    request.environment_count = environment.size();
    request.maximum_output_size = program.maximum_output_size;
    request.timeout_ns = program.timeout_ns;
    muster_process_result_v1 result = {};
    result.struct_size = sizeof result;
    const int32_t code = process->run(call_, &request, &result, error_);
    if (code != MUSTER_OK) return Failure{code, "", {}};
    Run out;
    out.exit_status = result.exit_status;
    out.output = std::string_view(result.output, result.output_size);
    out.error_output = std::string_view(result.error_output, result.error_output_size);
    out.keep = result.keep != 0;
    return out;
  }

 private:
  static const char* data(std::string_view text) { return text.data() ? text.data() : ""; }
  static Failure missing_service(const char* id) {
    return Failure{
        MUSTER_E_UNIMPLEMENTED,
        std::string("this core does not lend the service '") + id + "'; a newer one does",
        {}};
  }

  Host host_;
  const muster_call_v1* call_;
  muster_error* error_;
  int32_t refusal_ = MUSTER_OK;
};

}  // namespace sdk
}  // namespace muster

#include <muster/plugin_table.hpp>

#endif /* MUSTER_PLUGIN_HPP */

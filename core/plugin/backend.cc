#include "core/plugin/backend.h"

#include <fmt/format.h>
#include <muster/plugin.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "core/plugin/guard.h"
#include "core/plugin/library.h"
#include "core/plugin/sink.h"
#include "core/thread.h"

namespace muster {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kGrace_ns = 500 * kMillisecond;  // MP-12
constexpr int64_t kPoll_ns = 20 * kMillisecond;    // a cancel is seen after this long

// A configured resolver of a plugin, with the host it was given. Shared by the backend and by every thread that is inside the plugin, so
// destroy runs when the last of them is out: never during a call, and never when one never returns.
class Instance {
 public:
  Instance(std::shared_ptr<const PluginLibrary> library, const ResolverConfig& config,
           std::shared_ptr<const Log> log, std::shared_ptr<Secrets> secrets,
           std::shared_ptr<HttpLibrary> http)
      : library_(std::move(library)),
        path_(config.path),
        log_(std::move(log)),
        secrets_(std::move(secrets)),
        http_(std::move(http)),
        host_(library_->name(), config.path, config.options_json, log_, secrets_, http_) {}
  ~Instance() {
    if (resolver_ == nullptr) return;
    const auto thrown = catch_exception([&] { table().destroy(resolver_); });
    if (thrown)
      log_->write(MUSTER_LOG_ERROR,
                  fmt::format("plugin '{}' ({}) misbehaved: destroy failed: {} (MP-13)", name(),
                              path_, *thrown),
                  *secrets_);
  }
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const muster_plugin_v1& table() const { return library_->table(); }
  const PluginLibrary& library() const { return *library_; }
  const std::string& name() const { return library_->name(); }
  const std::string& path() const { return path_; }
  const Log& log() const { return *log_; }
  const Secrets& secrets() const { return *secrets_; }
  const std::shared_ptr<HttpLibrary>& http() const { return http_; }
  const muster_host_v1* host() const { return host_.table(); }
  muster_resolver* resolver() const { return resolver_; }
  void set_resolver(muster_resolver* resolver) { resolver_ = resolver; }

 private:
  std::shared_ptr<const PluginLibrary> library_;
  std::string path_;
  std::shared_ptr<const Log> log_;
  std::shared_ptr<Secrets> secrets_;
  std::shared_ptr<HttpLibrary> http_;
  Host host_;
  muster_resolver* resolver_ = nullptr;
};

// Whose turn it is. Lives as long as anybody who may still end a call.
struct Turns {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0;  // threads inside the plugin: its resolve, and perhaps an interrupt
  std::optional<int64_t>
      stuck_since_ns;  // the deadline or cancel that the running call did not obey
  std::shared_ptr<const SinkCall> running;
};

// The function of the plugin that a call runs.
using PluginFunction =
    std::function<int32_t(muster_resolver*, const muster_call_v1*, muster_error*)>;

// One call on its way: filled in by the thread that runs it, while the waiting one may have given up.
struct Running {
  std::shared_ptr<Instance> instance;
  std::shared_ptr<Turns> turns;
  std::shared_ptr<SinkCall> call;
  PluginFunction function;
  Error no_memory;  // made beforehand: there may be none for it when it is needed
  std::optional<Result<BackendAnswer>> answer;  // under turns->mutex
};

// Says that one thread is out of the plugin. What it held of the resolver is let go before the others may go on.
void leave(const std::shared_ptr<Turns>& turns, std::shared_ptr<Instance> instance) {
  instance.reset();
  const std::lock_guard lock(turns->mutex);
  if (--turns->inside == 0) {
    turns->running.reset();
    turns->stuck_since_ns.reset();
  }
  turns->changed.notify_all();
}

// One thread's being counted as inside, until it is passed on to the thread that will leave.
class Entered {
 public:
  explicit Entered(std::shared_ptr<Turns> turns) : turns_(std::move(turns)) {}
  ~Entered() {
    if (turns_ != nullptr) leave(turns_, nullptr);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  void pass_on() { turns_.reset(); }

 private:
  std::shared_ptr<Turns> turns_;
};

Result<BackendAnswer> ask_plugin(Running& running) {
  SinkCall& call = *running.call;
  call.begin();
  muster_error error;
  int32_t code = MUSTER_E_INTERNAL;
  const auto thrown = catch_exception(
      [&] { code = running.function(running.instance->resolver(), call.table(), &error); });
  call.end_streams();
  return thrown ? Result<BackendAnswer>(call.thrown(*thrown))
                : call.finish(code, std::move(error.error));
}

// The body of the thread of one call. What is thrown here is thrown by the core, where memory ends.
void run_call(const std::shared_ptr<Running>& running) {
  std::optional<Result<BackendAnswer>> answer;
  try {
    answer.emplace(ask_plugin(*running));
  } catch (...) {
    running->call->end_streams();
    answer.emplace(std::move(running->no_memory));
  }
  {
    const std::lock_guard lock(running->turns->mutex);
    running->answer = std::move(answer);
  }
  leave(running->turns, std::move(running->instance));
}

class PluginBackend : public Backend {
 public:
  PluginBackend(std::shared_ptr<Instance> instance, std::string where)
      : instance_(std::move(instance)),
        turns_(std::make_shared<Turns>()),
        where_(std::move(where)) {}

  std::string where() const override { return where_; }

  BackendOutcome resolve(std::shared_ptr<Session> session, int64_t deadline_ns,
                         const CancelToken& cancel) override {
    const CancelToken own = cancel.child();
    return run(make_call(std::move(session), deadline_ns, own), instance_->table().resolve, cancel,
               own);
  }

  bool can_watch() const override {
    return instance_->library().watch().watch != nullptr && offers(MUSTER_WATCH_V1);
  }
  BackendOutcome watch(std::shared_ptr<Session> session, int64_t interval_ns,
                       const CancelToken& cancel,
                       std::function<void(BackendOutcome)> committed) override {
    const CancelToken own = cancel.child();
    const auto call = make_call(std::move(session), MUSTER_NO_DEADLINE, own);
    call->watch(
        [raw = call.get(), give = std::move(committed)](BackendAnswer answer) {
          give({std::move(answer), raw->take_requests()});
        },
        interval_ns);
    return run(call, instance_->library().watch().watch, cancel, own);
  }

  bool can_say_needs() const override {
    return instance_->library().permissions().permissions != nullptr &&
           offers(MUSTER_PERMISSIONS_V1);
  }
  Result<Needs> needs(std::shared_ptr<Session> session, int64_t deadline_ns,
                      const CancelToken& cancel, NeedsRequest request) override {
    const CancelToken own = cancel.child();
    const auto call = make_call(std::move(session), deadline_ns, own);
    call->ask_needs();
    // The plugin may hold it for longer than this function does.
    const auto function =
        [ask = instance_->library().permissions().permissions, kept = std::move(request)](
            muster_resolver* resolver, const muster_call_v1* table, muster_error* error) {
          muster_permissions_request_v1 asked = {};
          asked.struct_size = sizeof asked;
          asked.flags = kept.watch ? MUSTER_PERMISSIONS_WATCH : 0;
          asked.principal = kept.principal.c_str();
          asked.principal_size = kept.principal.size();
          return ask(resolver, &asked, table, error);
        };
    BackendOutcome outcome = run(call, function, cancel, own);
    if (!outcome.answer) return std::move(outcome.answer).error();
    return call->take_needs();
  }

  bool can_plan() const override {
    return instance_->library().plan().plan != nullptr && offers(MUSTER_PLAN_V1);
  }
  Result<RequestPlan> plan(std::shared_ptr<Session> session, int64_t deadline_ns,
                           const CancelToken& cancel, int64_t members) override {
    const CancelToken own = cancel.child();
    const auto call = make_call(std::move(session), deadline_ns, own);
    call->ask_plan();
    const auto function = [ask = instance_->library().plan().plan, members](
                              muster_resolver* resolver, const muster_call_v1* table,
                              muster_error* error) {
      const muster_plan_request_v1 asked = {sizeof asked, members};
      return ask(resolver, &asked, table, error);
    };
    BackendOutcome outcome = run(call, function, cancel, own);
    if (!outcome.answer) return std::move(outcome.answer).error();
    return call->take_plan();
  }

  std::string progress() const override {
    const std::lock_guard lock(turns_->mutex);
    return turns_->running == nullptr ? std::string() : turns_->running->progress();
  }

 private:
  bool offers(const char* extension) const {
    return instance_->library().offers(instance_->resolver(), extension);
  }
  // `own` is a child token: giving up tells the services of this call, and no other, to stop.
  std::shared_ptr<SinkCall> make_call(std::shared_ptr<Session> session, int64_t deadline_ns,
                                      const CancelToken& own) const {
    auto call = std::make_shared<SinkCall>(std::move(session), instance_->path(), instance_->name(),
                                           deadline_ns, own);
    call->set_http(instance_->http());
    return call;
  }
  BackendOutcome run(const std::shared_ptr<SinkCall>& call, PluginFunction function,
                     const CancelToken& cancel, const CancelToken& own);
  Error error(Code code, const char* duty, std::string message) const;
  Status take_turn(const std::shared_ptr<SinkCall>& call, int64_t deadline_ns,
                   const CancelToken& cancel);
  Error stuck(int64_t now_ns) const;
  Error give_up(const SinkCall& call, bool cancelled) const;
  Result<std::thread> interrupt() const;

  std::shared_ptr<Instance> instance_;
  std::shared_ptr<Turns> turns_;
  std::string where_;
};

Error PluginBackend::error(Code code, const char* duty, std::string message) const {
  Error error{
      code, std::move(message), {{"plugin", instance_->name()}, {"path", instance_->path()}}};
  return *duty == '\0' ? error : std::move(error).with("duty", duty);
}

// Under the lock of the turns.
Error PluginBackend::stuck(int64_t now_ns) const {
  const std::string progress = turns_->running == nullptr ? "" : turns_->running->progress();
  return error(Code::kUnavailable, "MP-12",
               fmt::format("plugin '{}' ({}) is stuck: it should have returned {} ms ago from an "
                           "earlier call and has not{} (MP-12)",
                           instance_->name(), instance_->path(),
                           (now_ns - *turns_->stuck_since_ns) / kMillisecond,
                           progress.empty() ? "" : "; it said it was waiting for: " + progress));
}

Status PluginBackend::take_turn(const std::shared_ptr<SinkCall>& call, int64_t deadline_ns,
                                const CancelToken& cancel) {
  std::unique_lock lock(turns_->mutex);
  for (;;) {
    const int64_t now = monotonic_ns();
    const bool free = turns_->inside == 0;
    if (!free && turns_->stuck_since_ns) return stuck(now);
    const char* why = free ? "could be asked" : "had returned from an earlier call";
    if (cancel.cancelled())
      return error(Code::kCancelled, "",
                   fmt::format("cancelled before plugin '{}' ({}) {}", instance_->name(),
                               instance_->path(), why));
    if (now >= deadline_ns)
      return error(Code::kDeadlineExceeded, "",
                   fmt::format("the deadline came before plugin '{}' ({}) {}", instance_->name(),
                               instance_->path(), why));
    if (free) break;
    turns_->changed.wait_for(lock, std::chrono::nanoseconds(std::min(kPoll_ns, deadline_ns - now)));
  }
  turns_->inside = 1;
  turns_->running = call;
  return {};
}

// On a thread of its own: nothing says that interrupt returns.
Result<std::thread> PluginBackend::interrupt() const {
  if (!instance_->library().can_interrupt()) return std::thread();
  {
    const std::lock_guard lock(turns_->mutex);
    if (turns_->inside == 0) return std::thread();  // it has returned by itself meanwhile
    ++turns_->inside;
  }
  Entered entered(turns_);
  const auto body = [instance = instance_, turns = turns_]() mutable {
    const auto thrown = catch_exception([&] { instance->table().interrupt(instance->resolver()); });
    if (thrown) {
      instance->log().write(MUSTER_LOG_ERROR,
                            fmt::format("plugin '{}' ({}) misbehaved: interrupt failed: {} (MP-13)",
                                        instance->name(), instance->path(), *thrown),
                            instance->secrets());
    }
    leave(turns, std::move(instance));
  };
  Result<std::thread> started = start_thread("interrupt", body);
  if (started) entered.pass_on();
  return started;
}

Error PluginBackend::give_up(const SinkCall& call, bool cancelled) const {
  const std::string progress = call.progress();
  return error(
      cancelled ? Code::kCancelled : Code::kDeadlineExceeded, "MP-12",
      fmt::format(
          "plugin '{}' ({}) has not returned {} ms after {}{}; its answer will be dropped (MP-12)",
          instance_->name(), instance_->path(), kGrace_ns / kMillisecond,
          cancelled ? "being cancelled" : "its deadline",
          progress.empty() ? "" : ", while waiting for: " + progress));
}

BackendOutcome PluginBackend::run(const std::shared_ptr<SinkCall>& call, PluginFunction function,
                                  const CancelToken& cancel, const CancelToken& own) {
  const int64_t deadline_ns = call->deadline_ns();
  const auto running = std::make_shared<Running>(
      Running{instance_, turns_, call, std::move(function),
              no_memory(fmt::format("out of memory while plugin '{}' ({}) was asked",
                                    instance_->name(), instance_->path())),
              std::nullopt});
  if (Status turn = take_turn(call, deadline_ns, cancel); !turn)
    return {std::move(turn).error(), {}};
  Entered entered(turns_);
  Result<std::thread> started = start_thread(instance_->name(), [running] { run_call(running); });
  if (!started)
    return {std::move(started)
                .error()
                .with("plugin", instance_->name())
                .with("path", instance_->path()),
            {}};
  entered.pass_on();
  // One that is out of the plugin is waited for, so that no code of ours runs when the launcher goes on; one that is not is
  // let go.
  LetGo runner(*std::move(started)), interrupter;

  std::unique_lock lock(turns_->mutex);
  std::optional<int64_t> ended_ns;  // when the plugin was told to stop
  bool cancelled = false;
  // An interrupt that has not returned keeps the call open: the next one must not be hit by it.
  while (!running->answer || turns_->inside != 0) {
    const int64_t now = monotonic_ns();
    if (!ended_ns) {
      cancelled = cancel.cancelled();
      if (cancelled || now >= deadline_ns) {
        ended_ns = cancelled ? now : std::max(deadline_ns, now - kGrace_ns / 2);
        lock.unlock();
        // Without a thread for that it has to see the deadline by itself.
        if (Result<std::thread> interrupting = interrupt(); interrupting)
          interrupter = *std::move(interrupting);
        lock.lock();
        continue;
      }
    } else if (now - *ended_ns >= kGrace_ns) {
      break;
    }
    const int64_t until = ended_ns ? *ended_ns + kGrace_ns : std::min(deadline_ns, now + kPoll_ns);
    turns_->changed.wait_for(
        lock, std::chrono::nanoseconds(std::max<int64_t>(until - now, kMillisecond / 10)));
  }
  const bool out = turns_->inside == 0;
  const bool answered = running->answer.has_value();
  if (!out) turns_->stuck_since_ns = *ended_ns;  // the call, or its interrupt alone
  lock.unlock();
  if (answered) runner.join();
  if (out) interrupter.join();
  if (!answered) {
    own.cancel();
    Error gone = give_up(*call, cancelled);
    instance_->log().write(MUSTER_LOG_ERROR, gone.message, instance_->secrets());
    return {std::move(gone), call->requests()};
  }
  BackendOutcome outcome{std::move(*running->answer), call->requests()};
  // is_cancelled says "stop" at the deadline too; what is told then is which of the two it was.
  if (!outcome.answer && outcome.answer.error().code == Code::kCancelled && !cancel.cancelled() &&
      monotonic_ns() >= deadline_ns) {
    outcome.answer.error().code = Code::kDeadlineExceeded;
  }
  return outcome;
}

}  // namespace

Result<std::shared_ptr<Backend>> Backend::create(std::shared_ptr<const PluginLibrary> library,
                                                 const ResolverConfig& config,
                                                 std::shared_ptr<const Log> log,
                                                 std::shared_ptr<Secrets> secrets,
                                                 std::shared_ptr<HttpLibrary> http,
                                                 std::string where) {
  for (const std::string& secret : config.secrets) secrets->add(secret);
  const auto instance = std::make_shared<Instance>(std::move(library), config, std::move(log),
                                                   std::move(secrets), std::move(http));
  const std::string& name = instance->name();
  const auto misbehaved = [&](const char* duty, const std::string& what) {
    return Error{Code::kInternal,
                 instance->secrets().redact(fmt::format("plugin '{}' ({}) misbehaved: {} ({})",
                                                        name, config.path, what, duty)),
                 {{"plugin", name}, {"path", config.path}, {"duty", duty}}};
  };

  muster_resolver* resolver = nullptr;
  muster_error error;
  int32_t code = MUSTER_E_INTERNAL;
  const auto thrown = catch_exception([&] {
    code = instance->library().create(config.path, instance->host(), config.options_json.c_str(),
                                      config.options_json.size(), &resolver, &error);
  });
  if (thrown) return misbehaved("MP-13", "create failed: " + *thrown);
  Error said = std::move(error.error);
  said.message = instance->secrets().redact(said.message);
  for (Detail& detail : said.details) detail.value = instance->secrets().redact(detail.value);
  if (code == MUSTER_OK) {
    if (resolver == nullptr) return misbehaved("MP-22", "create returned OK and made no resolver");
    instance->set_resolver(resolver);  // from here on it is destroyed, whatever happens
    if (!said.message.empty() || !said.details.empty()) {
      return misbehaved("MP-10", fmt::format("create returned OK after it had set an error: {}: {}",
                                             code_name(said.code), said.message));
    }
    return std::shared_ptr<Backend>(std::make_shared<PluginBackend>(instance, std::move(where)));
  }
  if (code < MUSTER_OK || code > MUSTER_E_UNAUTHENTICATED) {
    return misbehaved("MP-11", fmt::format("create returned {}, which is no code{}", code,
                                           said.message.empty() ? "" : ": " + said.message));
  }
  said.code = static_cast<Code>(code);
  if (said.message.empty()) {
    said.message = fmt::format("plugin '{}' failed with {} and did not say why (MP-11)", name,
                               code_name(said.code));
    said.details.push_back({"duty", "MP-11"});
  }
  return std::move(said).with("plugin", name).with("path", config.path);
}

}  // namespace muster

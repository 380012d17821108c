#include "sdk/muster-check/resolver.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/cancel.h"
#include "core/plugin/guard.h"
#include "core/service/host.h"
#include "sdk/muster-check/process_state.h"

namespace muster::check {
namespace {

int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

// How often this thread gave its core up by itself.
int64_t waits() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

const char* name_of(Function function) {
  switch (function) {
    case Function::kResolve: return "resolve";
    case Function::kWatch: return "watch";
    case Function::kPermissions: return "permissions";
    case Function::kPlan: return "plan";
  }
  return "";
}

void run_within(Trial& trial, const char* duty, const std::string& what, int64_t time_ns,
                const std::function<void()>& body) {
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  trial.report.step(duty, what);
  std::thread runner([&] {
    const ProcessState before = thread_state();
    body();
    for (const std::string& difference : differences(before, thread_state()))
      trial.report.broke("MP-16", fmt::format("{} changed {}", what, difference));
    const std::lock_guard lock(mutex);
    over = true;
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, std::chrono::nanoseconds(time_ns), [&] { return over; })) {
      trial.report.broke(
          duty, fmt::format("{} had not returned after {} ms", what, time_ns / kMillisecond));
      trial.report.end();
    }
  }
  runner.join();
}

Resolver::Resolver(Trial& trial, World& world, const Subject& subject, const ResolverConfig& config)
    : trial_(trial),
      world_(world),
      subject_(subject),
      config_(config),
      host_(world, subject.name(), config, subject.core()) {
  for (const std::string& secret : config.secrets) world.secrets()->add(secret);
}

void Resolver::take_error(const Error& error) {
  if (!trial_.isolated()) return;
  world_.said().add("an error", error.message);
  for (const auto& detail : error.details) world_.said().add("a detail of an error", detail.value);
}

void Resolver::check_outcome(const char* function, const Outcome& outcome,
                             const InstrumentedCall* call) {
  Reporter& report = trial_.report;
  for (const std::string& leak : world_.said().take_leaks()) report.broke("MP-17", leak);
  for (const std::string& complaint : world_.said().take_complaints())
    report.note(fmt::format("it says that the core misbehaves: {}", complaint));
  if (call != nullptr && !call->wrong_size().empty()) report.broke("MP-3", call->wrong_size());
  // A core would have kept a message of its own for the push that it refused.
  if (call != nullptr && call->has_refused()) return;
  if (outcome.answer && !outcome.answer->ok()) {
    const Error& error = outcome.answer->error();
    const std::string duty = error.detail("duty");
    if (!duty.empty() && !outcome.ended)
      report.broke(duty, fmt::format("{}: {}", function, error.message));
  }
}

Outcome Resolver::create() {
  Outcome outcome;
  muster_error error;
  std::optional<std::string> thrown;
  muster_resolver* const untouched = nullptr;
  muster_resolver* resolver = untouched;
  // The core itself gives a process 5 seconds to begin, and 5 for its create.
  const int64_t limit = (trial_.isolated() ? 15 : 5) * kSecond;
  run_within(trial_, "MP-19", "create", limit, [&] {
    const int64_t before = monotonic_ns();
    const int64_t before_cpu = thread_cpu_ns();
    const int64_t before_waits = waits();
    thrown = catch_exception(
        [&] { outcome.code = subject_.create(config_, host_.table(), &resolver, &error); });
    if (waits() > before_waits)
      outcome.waited_ns = (monotonic_ns() - before) - (thread_cpu_ns() - before_cpu);
  });
  const auto wrong = [&](const char* duty, std::string text) {
    outcome.answer.emplace(Error{Code::kInternal, std::move(text), {{"duty", duty}}});
  };
  const Error& said = error.error;
  take_error(said);
  if (thrown) {
    outcome.code = MUSTER_E_INTERNAL;
    wrong("MP-13", *thrown);
  } else if (outcome.code == MUSTER_OK) {
    resolver_ = resolver;
    if (resolver == nullptr) {
      wrong("MP-22", "returned OK and made no resolver");
    } else if (!said.message.empty() || !said.details.empty()) {
      wrong("MP-10", fmt::format("returned OK after it had set an error: {}", told(said)));
    }
  } else if (outcome.code < MUSTER_OK || outcome.code > MUSTER_E_UNAUTHENTICATED) {
    wrong("MP-11", fmt::format("returned {}, which is no code", outcome.code));
  } else if (said.message.empty()) {
    wrong("MP-11", fmt::format("failed with {} and did not say why",
                               code_name(static_cast<Code>(outcome.code))));
  } else {
    outcome.answer.emplace(said);
    outcome.answer->error().code = static_cast<Code>(outcome.code);
  }
  check_outcome("create", outcome, nullptr);
  return outcome;
}

bool Resolver::has(Function function) const {
  switch (function) {
    case Function::kResolve: return true;
    case Function::kWatch:
      return subject_.watch().watch != nullptr && subject_.offers(resolver_, MUSTER_WATCH_V1);
    case Function::kPermissions:
      return subject_.permissions().permissions != nullptr &&
             subject_.offers(resolver_, MUSTER_PERMISSIONS_V1);
    case Function::kPlan:
      return subject_.plan().plan != nullptr && subject_.offers(resolver_, MUSTER_PLAN_V1);
  }
  return false;
}

int32_t Resolver::run(const Ask& ask, const muster_call_v1* call, muster_error* error) const {
  switch (ask.function) {
    case Function::kResolve: return subject_.table().resolve(resolver_, call, error);
    case Function::kWatch: return subject_.watch().watch(resolver_, call, error);
    case Function::kPermissions: {
      muster_permissions_request_v1 request{};
      request.struct_size = sizeof request;
      request.flags = ask.for_watch ? MUSTER_PERMISSIONS_WATCH : 0;
      request.principal = "";
      return subject_.permissions().permissions(resolver_, &request, call, error);
    }
    case Function::kPlan: {
      const muster_plan_request_v1 request{sizeof request, ask.members};
      return subject_.plan().plan(resolver_, &request, call, error);
    }
  }
  return MUSTER_E_INTERNAL;
}

Outcome Resolver::ask(const Ask& ask) {
  Outcome outcome;
  const CancelToken cancel;
  const int64_t start_ns = monotonic_ns();
  const bool watches = ask.function == Function::kWatch;
  const int64_t deadline_ns = watches ? MUSTER_NO_DEADLINE : start_ns + ask.time_ns;
  InstrumentedCall call(world_, subject_.name(), config_.path, deadline_ns, cancel,
                        subject_.core());
  call.refuse(ask.refused_push);
  constexpr int64_t kInterval_ns = 1'000'000'000;
  if (watches) call.watch([&](const BackendAnswer&) { ++outcome.commits; }, kInterval_ns);
  if (ask.function == Function::kPermissions) call.ask_needs();
  if (ask.function == Function::kPlan) call.ask_plan();
  const char* function = name_of(ask.function);
  muster_error error;

  // As the core does: at the deadline or cancel, interrupt beside the call.
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  const int64_t until = ask.cancel_ns ? monotonic_ns() + *ask.cancel_ns : deadline_ns;
  std::thread stopper([&] {
    std::unique_lock lock(mutex);
    while (!over && monotonic_ns() < until)
      changed.wait_for(lock, std::chrono::nanoseconds(std::min<int64_t>(until - monotonic_ns() + 1,
                                                                        100 * kMillisecond)));
    if (over) return;
    if (ask.cancel_ns) cancel.cancel();
    lock.unlock();
    if (subject_.table().interrupt != nullptr) subject_.table().interrupt(resolver_);
  });
  const int64_t limit =
      std::max<int64_t>(until - monotonic_ns(), 0) + (ask.may_be_late ? 3 * kSecond : 10 * kSecond);
  run_within(trial_, "MP-12", function, limit, [&] {
    call.begin();
    const auto thrown =
        catch_exception([&] { outcome.code = run(ask, call.instrumented(), &error); });
    outcome.late_ns = monotonic_ns() - std::max(until, start_ns);
    call.end_streams();
    take_error(error.error);
    if (thrown) outcome.code = MUSTER_E_INTERNAL;
    outcome.answer.emplace(thrown ? Result<BackendAnswer>(call.thrown(*thrown))
                                  : call.finish(outcome.code, error.error));
    if (outcome.good() && ask.function == Function::kPermissions) outcome.needs = call.take_needs();
    if (outcome.good() && ask.function == Function::kPlan) outcome.plan = call.take_plan();
    {
      const std::lock_guard lock(mutex);
      over = true;
    }
    changed.notify_all();
  });
  stopper.join();
  outcome.ended = ask.may_be_late && trial_.isolated() && !outcome.answer->ok() &&
                  outcome.error().detail("duty") == "MP-12";
  outcome.pushes = call.pushes();
  outcome.pushes_after = call.pushes_after();
  check_outcome(function, outcome, &call);
  return outcome;
}

void Resolver::destroy() {
  if (resolver_ == nullptr) return;
  muster_resolver* const resolver = resolver_;
  resolver_ = nullptr;
  run_within(trial_, "MP-18", "destroy", 5 * kSecond, [&] {
    const auto thrown = catch_exception([&] { subject_.table().destroy(resolver); });
    if (thrown) trial_.report.broke("MP-13", "destroy failed: " + *thrown);
  });
}

bool make_or_skip(Trial& trial, Resolver& resolver) {
  const Outcome made = resolver.create();
  if (!resolver.made() && made.answer)
    trial.report.skip(
        fmt::format("with these options create says {}; give --options", told(made.error())));
  return resolver.made();
}

std::optional<Outcome> ask_once(Trial& trial, World& world, const Subject& subject,
                                const ResolverConfig& config, const Ask& ask) {
  Resolver resolver(trial, world, subject, config);
  if (!make_or_skip(trial, resolver)) return std::nullopt;
  return resolver.ask(ask);
}

std::string summary_of(const BackendAnswer& answer) {
  std::string text = fmt::format("{} tasks, {}", answer.spec.task_count(), digest(answer.spec));
  for (const JobStatus& job : answer.jobs) {
    if (job.expected) text += fmt::format(", {} expects {}", job.name, *job.expected);
    for (const MissingTask& missing : job.missing)
      text += fmt::format(", {} misses {} '{}'", job.name, missing.index, missing.name);
  }
  return text;
}

bool is_incomplete(const BackendAnswer& answer) {
  return std::any_of(answer.jobs.begin(), answer.jobs.end(), [&](const JobStatus& job) {
    const Job* found = answer.spec.find(job.name);
    const auto count = found == nullptr ? 0 : static_cast<int64_t>(found->tasks.size());
    return !job.missing.empty() || (job.expected && *job.expected > count);
  });
}

std::string told(const Error& error) {
  return fmt::format("{}: {}", code_name(error.code), error.message);
}

}  // namespace muster::check

// An executable behind a core that does what it may at any moment, and what it may not.
#include <fmt/format.h>
#include <muster/plugin.h>
#include <sys/wait.h>

#include <algorithm>
#include <vector>

#include "core/cancel.h"
#include "sdk/muster-check/frames_double.h"
#include "sdk/muster-check/resolver.h"

namespace muster::check {
namespace {

using frames::v1::Frame;

constexpr int kMostMoments = 12;
constexpr int kTries = 3;                     // the best counts: the machine may have other work
constexpr int64_t kRefused_ns = 1 * kSecond;  // that a core gives a call after Refused
constexpr int64_t kLeave_ns = 2 * kSecond;    // to exit, on a machine that may have other work

std::string where(int moment) {
  return moment == 0 ? "just behind Run" : fmt::format("while its request {} waits", moment);
}

// The first ones and the last.
std::vector<int> moments(int requests) {
  std::vector<int> out;
  for (int n = 0; n <= requests; ++n) {
    if (n < kMostMoments - 1 || n == requests) out.push_back(n);
  }
  return out;
}

// A process with its resolver, and what it answers when nothing happens.
std::unique_ptr<FramesDouble> begin(Trial& trial, Called& usual) {
  auto program = FramesDouble::start(trial);
  if (program == nullptr || !program->greet() || !program->create()) return nullptr;
  usual = program->resolve();
  if (usual.answer) return program;
  program->break_off("MP-29", "its resolve has not been answered");
  return nullptr;
}

// What was for one call is over with it.
bool still_answers(Trial& trial, FramesDouble& program, const Called& usual, const char* after) {
  if (program.resolve().same(usual)) return true;
  trial.report.broke("MP-29",
                     fmt::format("{} the next resolve was not answered as the one before", after));
  return false;
}

void cancel(Trial& trial) {
  Called usual;
  auto program = begin(trial, usual);
  if (program == nullptr) return;
  Frame cancel;
  cancel.mutable_cancel();
  const auto act = [&] { program->write(cancel); };
  program->write(cancel);  // it has crossed the answer
  if (!still_answers(trial, *program, usual, "after a Cancel between two calls")) return;
  for (const int moment : moments(usual.requests)) {
    trial.report.with("a Cancel " + where(moment));
    trial.report.step("MP-12", "resolve");
    int64_t least = INT64_MAX;
    for (int i = 0; i < kTries && least > kGrace_ns; ++i) {
      const Called called = program->resolve({moment, act, true, 4 * kGrace_ns});
      if (!called.answer)
        return trial.report.broke("MP-12", fmt::format("Run was not answered {} ms after it",
                                                       called.took_ns / kMillisecond));
      least = std::min(least, called.took_ns);
      // Who asks nothing may have answered before.
      const int32_t code = called.answer->code();
      if (moment > 0 && code != MUSTER_E_CANCELLED && code != MUSTER_E_DEADLINE_EXCEEDED)
        return trial.report.broke(
            "MP-28", fmt::format("Run was answered {}, not CANCELLED or DEADLINE_EXCEEDED",
                                 code_name(static_cast<Code>(code))));
    }
    if (least > kGrace_ns)
      trial.report.broke("MP-12", fmt::format("Run was answered {} ms after it: 500 are allowed",
                                              least / kMillisecond));
    if (!still_answers(trial, *program, usual, "after it")) return;
  }
}

void refused(Trial& trial) {
  Called usual;
  auto program = begin(trial, usual);
  if (program == nullptr) return;
  Frame refused;
  refused.mutable_refused()->set_code(kRefusal);
  const auto act = [&] { program->write(refused); };
  if (usual.first_push < 0 || usual.first_push >= usual.requests)
    trial.report.note("it asks nothing after it has pushed: when it reads a Refused is not known");
  for (const int moment : moments(usual.requests)) {
    if (usual.first_push < 0 || moment <= usual.first_push) continue;
    trial.report.with("a Refused " + where(moment));
    trial.report.step("MP-10", "resolve");
    const Called called = program->resolve({moment, act, false, 2 * kRefused_ns});
    if (!called.answer || called.took_ns > kRefused_ns)
      return trial.report.broke("MP-10", "Run was not answered 1 second after it");
    if (called.answer->code() != kRefusal)
      return trial.report.broke("MP-10",
                                fmt::format("Run was answered {}, not with the code of the refusal",
                                            code_name(static_cast<Code>(called.answer->code()))));
    if (!still_answers(trial, *program, usual, "after it")) return;
  }
}

void newer_minor(Trial& trial) {
  Called usual;
  if (begin(trial, usual) == nullptr) return;
  trial.report.with(fmt::format("a core of frames {}.{}", kFramesMajor, kFramesMinor + 1));
  auto program = FramesDouble::start(trial, kFramesMajor, kFramesMinor + 1);
  if (program == nullptr || !program->greet()) return;
  program->write_unknown();
  if (!program->create()) return;
  const auto act = [&] { program->write_unknown(); };
  for (const int moment : moments(usual.requests)) {
    trial.report.step("MP-29", "resolve, and frames of later " + where(moment));
    const Called called = program->resolve({moment, act, false, 10 * kSecond});
    if (!called.same(usual))
      return trial.report.broke(
          "MP-29", fmt::format("frames that it cannot know came {}, and resolve was not answered "
                               "as it is else",
                               where(moment)));
  }
  if (program->unanswered() > 0)
    trial.report.broke("MP-29", fmt::format("{} requests of a kind that it cannot know were not "
                                            "answered",
                                            program->unanswered()));
}

// It has to exit by itself.
void exits(Trial& trial, FramesDouble& program, const std::string& after) {
  const int64_t begin = monotonic_ns();
  const auto ended = program.ended(kLeave_ns);
  const int64_t took = monotonic_ns() - begin;
  if (!ended) {
    trial.report.broke(
        "MP-29", fmt::format("{}: it had not exited {} ms later", after, kLeave_ns / kMillisecond));
  } else if (ended->kind != isolate::Ended::kWait || !WIFEXITED(ended->value)) {
    trial.report.broke("MP-29", fmt::format("{}: {}", after, words_of(*ended)));
  } else if (took > isolate::kGrace_ns) {
    trial.report.note(fmt::format("{}: it had exited after {} ms; a core gives it 300", after,
                                  took / kMillisecond));
  }
}

void other_major(Trial& trial) {
  const auto program = FramesDouble::start(trial, kFramesMajor + 1, 0);
  if (program == nullptr) return;
  trial.report.step("MP-29", "meeting a core of another major version");
  exits(trial, *program, "a core of frames 2.0 greeted it");
  const std::string said = program->output();
  if (said.find("2.0") == std::string::npos || said.find("1.") == std::string::npos)
    trial.report.broke(
        "MP-29", fmt::format("a core of frames 2.0 greeted it, and it did not say both versions: "
                             "'{}'",
                             said.substr(0, 200)));
}

void unreadable(Trial& trial) {
  Frame hello;
  hello.mutable_hello()->set_major(kFramesMajor);
  std::string of_no_kind, second_hello;
  append_frame(unknown_frame(), of_no_kind);
  append_frame(hello, second_hello);
  const std::pair<const char*, std::string> cases[] = {
      {"a frame without a byte", std::string(4, '\0')},
      {"a frame of 4 GiB", std::string(8, '\xff')},
      {"a frame that is none", std::string("\x02\0\0\0\xff\xff", 6)},
      {"a frame of no kind that its version knows", of_no_kind},
      {"a second Hello", second_hello}};
  for (const auto& [what, bytes] : cases) {
    const auto program = FramesDouble::start(trial);
    if (program == nullptr || !program->greet()) return;
    trial.report.step("MP-29", what);
    program->write_bytes(bytes);
    exits(trial, *program, fmt::format("the core wrote {}", what));
  }
}

// Ends the conversation at a moment of a life; -3: once it has greeted, -2: behind Create, -1: between two calls.
void shut_down_at(Trial& trial, int moment) {
  const std::string what = moment == -3   ? "before Create"
                           : moment == -2 ? "just behind Create"
                           : moment == -1 ? "after a resolve"
                                          : where(moment);
  trial.report.step("MP-29", "the end of the conversation " + what);
  const auto program = FramesDouble::start(trial);
  if (program == nullptr || !program->greet()) return;
  if (moment == -2) program->write_create();
  if (moment >= -1 && !program->create()) return;
  const auto act = [&] { program->shut_down(); };
  if (moment == -1) program->resolve();
  if (moment >= 0) {
    program->resolve({moment, act, false, 0});  // nothing of it is awaited any more
  } else {
    act();
  }
  exits(trial, *program, "the conversation ended " + what);
}

void shutdown(Trial& trial) {
  Called usual;
  if (begin(trial, usual) == nullptr) return;
  for (const int moment : {-3, -2, -1}) shut_down_at(trial, moment);
  for (const int moment : moments(std::min(usual.requests, kMostMoments / 2)))
    shut_down_at(trial, moment);
}

}  // namespace

std::vector<Test> frames_tests() {
  return {
      {"frames.cancel", "a Cancel at any moment ends the call, and that call alone", 120, true,
       cancel, Scope::kProgram},
      {"frames.refused", "a Refused ends the call with its code, and that call alone", 60, true,
       refused, Scope::kProgram},
      {"frames.newer_minor", "passes over what a core of the next minor says besides", 60, true,
       newer_minor, Scope::kProgram},
      {"frames.other_major", "exits when a core of another major greets it, and says why", 30, true,
       other_major, Scope::kProgram},
      {"frames.unreadable", "exits when the core breaks the protocol", 60, true, unreadable,
       Scope::kProgram},
      {"frames.shutdown", "exits when the conversation ends, wherever it is", 120, true, shutdown,
       Scope::kProgram},
  };
}

}  // namespace muster::check

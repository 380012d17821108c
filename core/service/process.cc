// muster.process/1: programs that a replay does not start.
#include <muster/process.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/service/call.h"
#include "core/service/child.h"
#include "core/service/recording.h"
#include "core/service/services.h"
#include "core/service/text.h"

namespace muster {
namespace {

constexpr uint64_t kOutputMaximum = uint64_t{1} << 20;
constexpr uint64_t kMostTexts = 65536;

// Texts that a plugin passed in; false when one of them is NULL or no text.
bool read_texts(const char* const* texts, uint64_t count, std::vector<std::string>& out) {
  if (count > kMostTexts || (texts == nullptr && count > 0)) return false;
  for (uint64_t n = 0; n < count; ++n) {
    if (texts[n] == nullptr || !is_utf8(texts[n])) return false;
    out.emplace_back(texts[n]);
  }
  return true;
}

struct ProgramRequest {
  ChildRequest child;
  int64_t timeout_ns = 0;  // 0: none
};

Result<ProgramRequest> read_request(const muster_process_request_v1* theirs) {
  const auto wrong = [](const char* why) {
    return Error{Code::kInvalidArgument, fmt::format("a program cannot be run: {}", why), {}};
  };
  // What came after the first version may be absent.
  if (theirs == nullptr || theirs->struct_size < offsetof(muster_process_request_v1, timeout_ns))
    return wrong("the request is NULL or its struct_size is not set");
  muster_process_request_v1 request = {};
  std::memcpy(&request, theirs, std::min<uint64_t>(theirs->struct_size, sizeof request));
  if (request.timeout_ns < 0) return wrong("its timeout is negative");
  ProgramRequest read;
  read.timeout_ns = request.timeout_ns;
  ChildRequest& out = read.child;
  if (!read_texts(request.arguments, request.argument_count, out.arguments))
    return wrong("an argument is no text");
  if (out.arguments.empty() || out.arguments[0].empty()) return wrong("it has no name");
  if (!read_texts(request.environment, request.environment_count, out.environment))
    return wrong("a variable of its environment is no text");
  for (const std::string& entry : out.environment) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0)
      return wrong("a variable of its environment is not 'NAME=value'");
  }
  out.terminal = (request.flags & MUSTER_PROCESS_TERMINAL) != 0;
  out.maximum_output =
      request.maximum_output_size == 0 ? kOutputMaximum : request.maximum_output_size;
  return read;
}

// Says in the log and in the answer what was run, and for how long.
void tell(Call& call, const RecordedRun& run) {
  const std::string outcome =
      run.error ? fmt::format("{} {}", code_name(run.error->code), run.error->message)
                : fmt::format("exit status {}", run.exit_status);
  call.session().log().write(
      MUSTER_LOG_INFO,
      fmt::format("{} ({}): ran '{}': {}, {} ms", call.backend(), call.path(),
                  fmt::join(run.arguments, " "), outcome, run.milliseconds),
      call.session().secrets());
  const Secrets& secrets = call.session().secrets();
  RequestRecord record;
  record.url = secrets.redact(fmt::format("{}", fmt::join(run.arguments, " ")));
  if (run.error) record.error = secrets.redact(run.error->message);
  record.status = run.exit_status;
  record.milliseconds = run.milliseconds;
  call.add_request(std::move(record));
}

RecordedRun run_live(Call& call, const ProgramRequest& request) {
  RecordedRun run;
  run.arguments = request.child.arguments;
  const int64_t start = monotonic_ns();
  const char* end = "";
  Result<ChildResult> result = run_child(request.child, [&] {
    if (call.cancelled()) {
      end = "cancelled";
      return Code::kCancelled;
    }
    if (call.now_ns() >= call.deadline_ns()) {
      end = "still running at the deadline";
      return Code::kDeadlineExceeded;
    }
    if (request.timeout_ns == 0 || monotonic_ns() - start < request.timeout_ns) return Code::kOk;
    end = "still running when its time was over";
    return Code::kDeadlineExceeded;
  });
  run.milliseconds = (monotonic_ns() - start) / 1'000'000;
  if (!result) {
    run.error = std::move(result).error();
    if (run.error->message.empty())
      run.error->message = fmt::format("the program '{}' was {}, after {} ms",
                                       request.child.arguments[0], end, run.milliseconds);
    return run;
  }
  run.exit_status = result->exit_status;
  run.output = std::move(result->output);
  run.error_output = clean_text(result->error_output, true);
  return run;
}

int32_t process_run(const muster_call_v1* call, const muster_process_request_v1* request,
                    muster_process_result_v1* result, muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr)
      return fail(error, {Code::kInvalidArgument, "run was called without a call", {}});
    if (result == nullptr || result->struct_size < sizeof(muster_process_result_v1))
      return fail(error,
                  {Code::kInvalidArgument, "the result is NULL or its struct_size is not set", {}});
    Result<ProgramRequest> wanted = read_request(request);
    if (!wanted) return fail(error, std::move(wanted).error());
    std::vector<std::string>& arguments = wanted->child.arguments;

    Session& session = known->session();
    RecordedRun run;
    if (session.mode() == Session::Mode::kReplay) {
      for (std::string& argument : arguments) argument = session.secrets().redact(argument);
      Result<RecordedRun> recorded = session.recording()->run(known->path(), arguments);
      if (!recorded && !session.replays_exchanges())
        return fail(error,
                    {Code::kNotFound, fmt::format("there is no program '{}'", arguments[0]), {}});
      if (!recorded) return fail(error, std::move(recorded).error());
      run = *std::move(recorded);
      known->skip(run.milliseconds * 1'000'000);
    } else if (wanted->child.terminal && !has_terminal()) {
      return fail(error, {Code::kFailedPrecondition,
                          "standard input is no terminal, or another program has it",
                          {}});
    } else {
      const std::string before = known->progress();
      known->set_progress(fmt::format("the program {}", session.secrets().redact(arguments[0])));
      run = run_live(*known, *wanted);
      known->set_progress(before);
      if (session.mode() == Session::Mode::kRecord)
        session.recording()->add_run(known->path(), run);
    }
    tell(*known, run);
    if (run.error) {
      run.error->message = session.secrets().redact(run.error->message);
      return fail(error, *std::move(run.error));
    }

    const std::string& output = known->keep(std::move(run.output));
    const std::string& said = known->keep(session.secrets().redact(run.error_output));
    result->exit_status = run.exit_status;
    result->output = output.c_str();
    result->output_size = output.size();
    result->error_output = said.c_str();
    result->error_output_size = said.size();
    result->keep = session.mode() == Session::Mode::kLive ? 1 : 0;
    return MUSTER_OK;
  });
}

int32_t process_has_terminal(const muster_call_v1* call) {
  int32_t answer = 0;
  guarded(nullptr, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    Session& session = known->session();
    const bool there = session.mode() == Session::Mode::kReplay
                           ? session.recording()->terminal(known->path())
                           : has_terminal();
    if (session.mode() == Session::Mode::kRecord)
      session.recording()->set_terminal(known->path(), there);
    answer = there ? 1 : 0;
    return MUSTER_OK;
  });
  return answer;
}

}  // namespace

const muster_process_v1* process_table() {
  static const muster_process_v1 table = {sizeof(muster_process_v1), process_has_terminal,
                                          process_run};
  return &table;
}

}  // namespace muster

// muster.clock/1, muster.environment/1 and muster.process/1 over the frames.
#include <muster/process.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/cancel.h"
#include "core/isolate/child/remote_host.h"
#include "core/service/services.h"
#include "core/service/text.h"

namespace muster::isolate {
namespace {

using frames::v1::Answer;
using frames::v1::Frame;

int64_t get_time(bool monotonic) {
  int64_t now = monotonic_ns();
  guarded(nullptr, [&]() -> int32_t {
    Frame frame;
    frame.mutable_get_time()->set_monotonic(monotonic);
    const Answer answer = RemoteHost::the().link().ask(frame);
    if (answer.code() == MUSTER_OK) now = answer.number();
    return MUSTER_OK;
  });
  return now;
}

int64_t clock_monotonic(const muster_call_v1*) { return get_time(true); }
int64_t clock_realtime(const muster_call_v1*) { return get_time(false); }

int32_t clock_sleep(const muster_call_v1*, int64_t duration_ns) {
  return guarded(nullptr, [&]() -> int32_t {
    Frame frame;
    frame.mutable_sleep()->set_duration_ns(duration_ns);
    return RemoteHost::the().link().ask(frame).code();
  });
}

void hand_content(Answer& answer, const char** content, uint64_t* content_size) {
  const std::string& kept = RemoteHost::the().keep(std::move(*answer.mutable_content()));
  *content = kept.c_str();
  if (content_size != nullptr) *content_size = kept.size();
}

int32_t get_variable(const muster_call_v1* call, const char* name, const char** value,
                     uint64_t* value_size) {
  return guarded(nullptr, [&]() -> int32_t {
    if (call == nullptr || name == nullptr || value == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    if (!is_utf8(name)) return MUSTER_E_NOT_FOUND;
    Frame frame;
    frame.mutable_get_variable()->set_name(name);
    Answer answer = RemoteHost::the().link().ask(frame);
    if (answer.code() == MUSTER_OK) hand_content(answer, value, value_size);
    return answer.code();
  });
}

int32_t get_hostname(const muster_call_v1* call, const char** name, uint64_t* name_size) {
  return guarded(nullptr, [&]() -> int32_t {
    if (call == nullptr || name == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    Frame frame;
    frame.mutable_get_hostname();
    Answer answer = RemoteHost::the().link().ask(frame);
    if (answer.code() == MUSTER_OK) hand_content(answer, name, name_size);
    return answer.code();
  });
}

int32_t read_file(const muster_call_v1* call, const char* path, uint64_t maximum_size,
                  uint64_t flags, const char** content, uint64_t* content_size,
                  muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    if (call == nullptr || path == nullptr || content == nullptr) {
      return fail(error, {Code::kInvalidArgument,
                          "read_file was called with NULL for the call, the path or the content",
                          {}});
    }
    if (!is_utf8(path))
      return fail(error, {Code::kInvalidArgument,
                          "a path that is not UTF-8 cannot be read by an isolated backend",
                          {}});
    Frame frame;
    frame.mutable_read_file()->set_path(path);
    frame.mutable_read_file()->set_maximum_size(maximum_size);
    frame.mutable_read_file()->set_flags(flags);
    Answer answer = RemoteHost::the().link().ask(frame);
    if (answer.code() == MUSTER_OK) hand_content(answer, content, content_size);
    return give_answer(answer, error);
  });
}

int32_t has_terminal(const muster_call_v1*) {
  int32_t there = 0;
  guarded(nullptr, [&]() -> int32_t {
    Frame frame;
    frame.mutable_has_terminal();
    there = RemoteHost::the().link().ask(frame).number() != 0 ? 1 : 0;
    return MUSTER_OK;
  });
  return there;
}

// False when one of them is NULL or no text.
template <typename Texts>
bool put_texts(const char* const* texts, uint64_t count, Texts* out) {
  if (texts == nullptr && count > 0) return false;
  for (uint64_t n = 0; n < count; ++n) {
    if (texts[n] == nullptr || !is_utf8(texts[n])) return false;
    out->Add(texts[n]);
  }
  return true;
}

int32_t run_program(const muster_call_v1* call, const muster_process_request_v1* theirs,
                    muster_process_result_v1* result, muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    const auto wrong = [&](const char* why) {
      return fail(error, {Code::kInvalidArgument, why, {}});
    };
    if (call == nullptr) return wrong("run was called without a call");
    if (result == nullptr || result->struct_size < sizeof(muster_process_result_v1))
      return wrong("the result is NULL or its struct_size is not set");
    if (theirs == nullptr || theirs->struct_size < offsetof(muster_process_request_v1, timeout_ns))
      return wrong("a program cannot be run: the request is NULL or its struct_size is not set");
    muster_process_request_v1 request = {};
    std::memcpy(&request, theirs, std::min<uint64_t>(theirs->struct_size, sizeof request));

    Frame frame;
    frames::v1::RunProgram& out = *frame.mutable_run_program();
    out.set_flags(request.flags);
    out.set_maximum_output_size(request.maximum_output_size);
    out.set_timeout_ns(request.timeout_ns);
    if (!put_texts(request.arguments, request.argument_count, out.mutable_arguments()))
      return wrong("a program cannot be run: an argument is no text");
    if (!put_texts(request.environment, request.environment_count, out.mutable_environment()))
      return wrong("a program cannot be run: a variable of its environment is no text");

    Answer answer = RemoteHost::the().link().ask(frame);
    if (answer.code() != MUSTER_OK) return give_answer(answer, error);
    hand_content(answer, &result->output, &result->output_size);
    const std::string& said =
        RemoteHost::the().keep(std::move(*answer.mutable_program()->mutable_error_output()));
    result->exit_status = answer.program().exit_status();
    result->error_output = said.c_str();
    result->error_output_size = said.size();
    result->keep = answer.program().keep() ? 1 : 0;
    return MUSTER_OK;
  });
}

}  // namespace

const muster_clock_v1* remote_clock_table() {
  static const muster_clock_v1 table = {sizeof table, clock_monotonic, clock_realtime, clock_sleep};
  return &table;
}

const muster_environment_v1* remote_environment_table() {
  static const muster_environment_v1 table = {sizeof table, get_variable, read_file, get_hostname};
  return &table;
}

const muster_process_v1* remote_process_table() {
  static const muster_process_v1 table = {sizeof table, has_terminal, run_program};
  return &table;
}

}  // namespace muster::isolate

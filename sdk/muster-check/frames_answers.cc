// What a FramesDouble answers: the recording, as a replay would.
#include <fmt/format.h>
#include <muster/plugin.h>

#include "core/cancel.h"
#include "core/service/services.h"
#include "sdk/muster-check/frames_double.h"

namespace muster::check {
namespace {

using frames::v1::Answer;
using frames::v1::Frame;

Answer failure(const Error& error) {
  Answer answer;
  answer.set_code(static_cast<int32_t>(error.code));
  answer.set_message(error.message);
  return answer;
}

Answer content(const std::optional<std::string>& text) {
  Answer answer;
  if (text) answer.set_content(*text);
  if (!text) answer.set_code(MUSTER_E_NOT_FOUND);
  return answer;
}

Answer number(int64_t value) {
  Answer answer;
  answer.set_number(value);
  return answer;
}

Answer check_address(const frames::v1::CheckAddress& asked) {
  char reason[512];
  Answer answer;
  answer.set_code(address_table()->check(asked.address().data(), asked.address().size(),
                                         asked.port(), reason, sizeof reason));
  if (answer.code() != MUSTER_OK) answer.set_message(reason);
  return answer;
}

}  // namespace

Answer FramesDouble::exchange(const frames::v1::HttpRequest& request, uint64_t asked_by,
                              uint64_t stream) {
  const Result<RecordedExchange> found = recording_->exchange(
      trial_.target.config.path, request.method(), request.url(), request.body());
  if (!found) return failure({Code::kUnavailable, found.error().message, {}});
  if (found->error) return failure(*found->error);
  Answer answer;
  answer.mutable_http()->set_status(found->status);
  for (const auto& [name, value] : found->response_headers) {
    frames::v1::Header& header = *answer.mutable_http()->add_headers();
    header.set_name(name);
    header.set_value(value);
  }
  if (!request.streamed() || found->status / 100 != 2) {
    answer.set_content(found->response_body);
    return answer;
  }
  Frame piece;
  piece.set_id(++last_id_);
  const uint64_t id = last_id_;
  if (stream != 0) piece.mutable_piece()->set_stream(stream);
  if (stream == 0) piece.mutable_piece()->set_request(asked_by);
  piece.mutable_piece()->set_data(found->response_body);
  write(std::move(piece));
  while (const auto frame = read(until_ns_)) {
    if (frame->has_answer() && frame->id() == id) {
      if (frame->answer().code() != MUSTER_OK) return frame->answer();
      break;
    }
    if (frame->id() != 0) this->answer(*frame, false);
  }
  return answer;
}

void FramesDouble::answer(const Frame& request, bool cancelled) {
  const std::string& path = trial_.target.config.path;
  Answer out;
  if (cancelled) out.set_code(MUSTER_E_CANCELLED);
  switch (cancelled ? Frame::KIND_NOT_SET : request.kind_case()) {
    case Frame::kCheckAddress: out = check_address(request.check_address()); break;
    case Frame::kGetTime:
      out = number(request.get_time().monotonic() ? monotonic_ns() : recording_->time(path));
      break;
    case Frame::kGetVariable:
      out = content(recording_->variable(path, request.get_variable().name()));
      break;
    case Frame::kGetHostname: out = content(recording_->hostname(path)); break;
    case Frame::kReadFile: {
      const Result<std::string> file = recording_->file(path, request.read_file().path());
      out = file ? content(*file) : failure({Code::kNotFound, file.error().message, {}});
      break;
    }
    case Frame::kSendHttp: out = exchange(request.send_http().request(), request.id(), 0); break;
    case Frame::kBeginHttp:
      streams_[++last_stream_] = request.begin_http().request();
      out = number(static_cast<int64_t>(last_stream_));
      break;
    case Frame::kNextHttp:
      if (streams_.empty()) {
        out.set_code(MUSTER_E_DEADLINE_EXCEEDED);
      } else {
        const auto begun = streams_.extract(streams_.begin());
        out = exchange(begun.mapped(), request.id(), begun.key());
        out.set_number(static_cast<int64_t>(begun.key()));
      }
      break;
    case Frame::kHasTerminal: out = number(recording_->terminal(path) ? 1 : 0); break;
    case Frame::kRunProgram: {
      const auto& words = request.run_program().arguments();
      const Result<RecordedRun> run = recording_->run(path, {words.begin(), words.end()});
      if (!run) {
        out = failure({Code::kNotFound, run.error().message, {}});
      } else if (run->error) {
        out = failure(*run->error);
      } else {
        out = content(run->output);
        out.mutable_program()->set_exit_status(run->exit_status);
      }
      break;
    }
    default: break;  // Sleep and Commit: OK
  }
  Frame frame;
  frame.set_id(request.id());
  *frame.mutable_answer() = std::move(out);
  write(std::move(frame));
}

}  // namespace muster::check

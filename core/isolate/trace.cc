// A frame in one line, for people.
#include <fmt/format.h>

#include "core/isolate/serving.h"
#include "core/service/text.h"
#include "core/spec/quote.h"

namespace muster {
namespace {

using frames::v1::Frame;

constexpr size_t kShown = 1'000;

// Redacts first: a part of a secret, or one with its quotes escaped, would not be known as one.
class Shown {
 public:
  explicit Shown(const Secrets& secrets) : secrets_(secrets) {}
  std::string operator()(std::string_view text) const {
    return quote(secrets_.redact(text), kShown);
  }
  // What is short and plain, if the backend keeps to the rules: without quotes.
  std::string word(std::string_view text) const { return secrets_.redact(text).substr(0, kShown); }

 private:
  const Secrets& secrets_;
};

std::string of_answer(const frames::v1::Answer& answer, const Shown& shown) {
  std::string out = code_name(static_cast<Code>(answer.code()));
  if (!answer.message().empty()) out += " " + shown(answer.message());
  for (const frames::v1::Detail& detail : answer.details())
    out += fmt::format(" {}={}", shown.word(detail.key()), shown(detail.value()));
  if (answer.number() != 0) out += fmt::format(" number={}", answer.number());
  for (const std::string& extension : answer.extensions()) out += " " + shown.word(extension);
  if (answer.has_http()) out += fmt::format(" http={}", answer.http().status());
  if (answer.has_program()) out += fmt::format(" exit={}", answer.program().exit_status());
  // What a variable, a file or a body holds may be a secret that nobody has said yet.
  if (!answer.content().empty()) out += fmt::format(" content={} bytes", answer.content().size());
  return answer.more() ? out + " more" : out;
}

std::string of_request(const frames::v1::HttpRequest& request, const Shown& shown) {
  return fmt::format("{} {}{}{}", shown.word(request.method()), shown(request.url()),
                     request.streamed() ? " streamed" : "",
                     request.body().empty() ? std::string()
                                            : fmt::format(" body={} bytes", request.body().size()));
}

std::string body_text(const Frame& frame, const Shown& shown) {
  switch (frame.kind_case()) {
    case Frame::kHello:
      return fmt::format("{}.{} {}", frame.hello().major(), frame.hello().minor(),
                         shown(frame.hello().software()));
    case Frame::kAnswer: return of_answer(frame.answer(), shown);
    case Frame::kCreate:
      return fmt::format("path={} options={}", shown.word(frame.create().path()),
                         shown(frame.create().options()));
    case Frame::kRun:
      return fmt::format("{} remaining={} ms",
                         frame.run().function() == frames::v1::RESOLVE       ? "RESOLVE"
                         : frame.run().function() == frames::v1::WATCH       ? "WATCH"
                         : frame.run().function() == frames::v1::PERMISSIONS ? "PERMISSIONS"
                                                                             : "PLAN",
                         frame.run().remaining_ns() / 1'000'000);
    case Frame::kRefused: return code_name(static_cast<Code>(frame.refused().code()));
    case Frame::kPiece:
      return fmt::format(
          "{}={} {} bytes", frame.piece().has_stream() ? "stream" : "of",
          frame.piece().has_stream() ? frame.piece().stream() : frame.piece().request(),
          frame.piece().data().size());
    case Frame::kLog:
      return fmt::format("level={} {}", frame.log().level(), shown(frame.log().text()));
    case Frame::kCheckAddress:
      return fmt::format("{} port={}", shown(frame.check_address().address()),
                         frame.check_address().port());
    case Frame::kAddJob: return shown(frame.add_job().job());
    case Frame::kAddTask: {
      const frames::v1::AddTask& task = frame.add_task();
      return fmt::format("{}[{}] name={} address={} port={}", shown.word(task.job()), task.index(),
                         shown(task.name()), shown(task.address()), task.port());
    }
    case Frame::kSetAttribute:
      return fmt::format("{}={}", shown.word(frame.set_attribute().key()),
                         shown(frame.set_attribute().value()));
    case Frame::kAddMissing:
      return fmt::format("{}[{}] name={} {}", shown.word(frame.add_missing().job()),
                         frame.add_missing().index(), shown(frame.add_missing().name()),
                         shown(frame.add_missing().reason()));
    case Frame::kSetExpected:
      return fmt::format("{}={}", shown.word(frame.set_expected().job()),
                         frame.set_expected().count());
    case Frame::kSetIdentity:
      return fmt::format("{}[{}] name={} {}", shown.word(frame.set_identity().job()),
                         frame.set_identity().index(), shown(frame.set_identity().name()),
                         shown(frame.set_identity().evidence()));
    case Frame::kAddWarning: return shown(frame.add_warning().text());
    case Frame::kMarkSecret: return "REDACTED";
    case Frame::kSetProgress: return shown(frame.set_progress().text());
    case Frame::kAddPermission:
      return fmt::format("{} in {}", shown(frame.add_permission().rule()),
                         shown(frame.add_permission().scope()));
    case Frame::kSetGrant: return shown(frame.set_grant().command());
    case Frame::kAddPlanned:
      return fmt::format("{} {} to {}", shown(frame.add_planned().request()),
                         frame.add_planned().least(), frame.add_planned().most());
    case Frame::kMisbehaved:
      return fmt::format("{} {}", shown.word(frame.misbehaved().duty()),
                         shown(frame.misbehaved().what()));
    case Frame::kSleep: return fmt::format("{} ms", frame.sleep().duration_ns() / 1'000'000);
    case Frame::kGetVariable: return shown(frame.get_variable().name());
    case Frame::kReadFile: return shown(frame.read_file().path());
    case Frame::kSendHttp: return of_request(frame.send_http().request(), shown);
    case Frame::kBeginHttp: return of_request(frame.begin_http().request(), shown);
    case Frame::kNextHttp: return fmt::format("{} ms", frame.next_http().timeout_ns() / 1'000'000);
    case Frame::kEndHttp: return fmt::format("{}", frame.end_http().number());
    case Frame::kRunProgram:
      return frame.run_program().arguments().empty() ? std::string()
                                                     : shown(frame.run_program().arguments(0));
    default: return "";
  }
}

}  // namespace

std::string frame_text(const Frame& frame, const Secrets& secrets) {
  std::string out = frame_name(frame.kind_case());
  if (frame.id() != 0) out += fmt::format(" #{}", frame.id());
  const std::string body = body_text(frame, Shown(secrets));
  return body.empty() ? out : out + " " + body;
}

}  // namespace muster

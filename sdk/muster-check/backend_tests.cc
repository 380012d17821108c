// The recorded-backend double: each recorded answer in turn is replaced by one that is wrong.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sdk/muster-check/resolver.h"
#include "sdk/muster-check/trial.h"

namespace muster::check {
namespace {

constexpr size_t kMostQuestions = 40;
constexpr int64_t kSlowCall_ns = 200 * kMillisecond;

using Codes = std::vector<Code>;

// A fault, and the codes that tell the truth about it: what a chain does next hangs on them.
struct Expected {
  Fault fault;
  Codes codes;
};

// A server that asks for who one is, or forbids it, is not asked again by a chain's next resolver; one that is not there, or not
// now, is.
const Expected kRefused401{{"401", "answered 401", Fault::Kind::kStatus, 401},
                           {Code::kUnauthenticated, Code::kPermissionDenied}};
const Expected kRefused403{{"403", "answered 403", Fault::Kind::kStatus, 403},
                           {Code::kPermissionDenied, Code::kUnauthenticated}};
const Expected kNotThere{{"404", "answered 404", Fault::Kind::kStatus, 404},
                         {Code::kNotFound, Code::kFailedPrecondition, Code::kUnimplemented}};
const Expected kTooMany{{"429", "answered 429 with Retry-After: 1", Fault::Kind::kStatus, 429},
                        {Code::kResourceExhausted, Code::kUnavailable}};
const Expected kBroken500{{"500", "answered 500", Fault::Kind::kStatus, 500}, {Code::kUnavailable}};
const Expected kSlow{{"slow", "did not answer before the deadline", Fault::Kind::kSlow},
                     {Code::kDeadlineExceeded, Code::kUnavailable}};
const Expected kCutOff{
    {"cut_off", "closed the connection in the middle of its answer", Fault::Kind::kCutOff},
    {Code::kUnavailable, Code::kDataLoss}};
// UNKNOWN is what google.rpc has for a 3xx that is not followed.
const Expected kRedirect{
    {"redirect", "sent it on to a page that asks for a login", Fault::Kind::kRedirect},
    {Code::kUnavailable, Code::kDataLoss, Code::kFailedPrecondition, Code::kUnauthenticated,
     Code::kPermissionDenied, Code::kNotFound, Code::kUnknown}};
const Expected kHuge{{"huge", "answered without end", Fault::Kind::kHuge},
                     {Code::kResourceExhausted, Code::kDataLoss, Code::kUnavailable}};
const Expected kHtml{{"html", "answered with a page of HTML", Fault::Kind::kBody, 200,
                      "<!DOCTYPE html><html><body>It works!</body></html>"},
                     {Code::kDataLoss, Code::kUnavailable, Code::kFailedPrecondition}};
const Expected kNothing{
    {"empty", "answered with an empty body", Fault::Kind::kBody, 200, ""},
    {Code::kDataLoss, Code::kUnavailable, Code::kFailedPrecondition, Code::kNotFound}};
const Expected kHalf{{"half", "answered with the first half of its text", Fault::Kind::kHalf},
                     {Code::kDataLoss, Code::kUnavailable}};

std::string names_of(const Codes& codes) {
  std::string text;
  for (size_t i = 0; i < codes.size(); ++i)
    text += (i == 0                  ? ""
             : i + 1 == codes.size() ? " or "
                                     : ", ") +
            std::string(code_name(codes[i]));
  return text;
}

// Whether such an answer can be told from a right one at all: of no text, half is no text.
bool can_be_told(const Expected& expected, const RecordedResolver& recorded,
                 const Question& question) {
  if (expected.fault.kind != Fault::Kind::kHalf && expected.fault.kind != Fault::Kind::kBody)
    return true;
  return std::any_of(
      recorded.exchanges.begin(), recorded.exchanges.end(), [&](const RecordedExchange& exchange) {
        const std::string& body = exchange.response_body;
        return exchange.url == question.url && exchange.status >= 200 && exchange.status < 300 &&
               (body.starts_with('{') || body.starts_with('['));
      });
}

void check_answer(Trial& trial, const Expected& expected, const Question& question,
                  const std::string& right, const Outcome& outcome) {
  const std::string where = fmt::format("{} {}", question.text(), expected.fault.what);
  if (outcome.ended)
    return trial.report.broke("MP-12", fmt::format("{}: {}", where, outcome.error().message));
  if (outcome.late_ns > kGrace_ns)
    trial.report.broke("MP-12", fmt::format("{}: it returned {} ms after the deadline", where,
                                            outcome.late_ns / kMillisecond));
  if (outcome.good()) {
    const BackendAnswer& answer = **outcome.answer;
    const std::string summary = summary_of(answer);
    if (summary != right && !is_incomplete(answer))
      trial.report.broke("MP-27", fmt::format("{}: it told '{}' as if that were all; all is '{}'",
                                              where, summary, right));
    return;
  }
  const Error& error = outcome.error();
  if (!error.detail("duty").empty()) return;  // told already
  if (std::find(expected.codes.begin(), expected.codes.end(), error.code) == expected.codes.end())
    trial.report.broke("MP-28", fmt::format("{}: that is {}, and it said {}", where,
                                            names_of(expected.codes), told(error)));
}

void run(Trial& trial, const Expected& expected) {
  if (!trial.target.recorded || trial.target.recorded->exchanges.empty())
    return trial.report.skip("no requests to answer: give --recording");
  World world(trial.target.config, &*trial.target.recorded);
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  const auto first = ask_once(trial, world, *subject, trial.target.config);
  if (!first) return;
  const std::string right = first->good() ? summary_of(**first->answer) : "";
  const size_t count = std::min(world.servers().questions().size(), kMostQuestions);
  int asked = 0;
  for (size_t i = 0; i < count; ++i) {
    const Question question = world.servers().questions()[i];
    if (!can_be_told(expected, *trial.target.recorded, question)) continue;
    trial.report.with(fmt::format("{} that {}", question.text(), expected.fault.what));
    world.servers().misbehave(i, expected.fault);
    const Ask ask{
        .time_ns = expected.fault.kind == Fault::Kind::kSlow ? kSlowCall_ns : 10 * kSecond,
        .may_be_late = true};
    // A resolver of its own: what one learned from a good answer, it may keep.
    const auto outcome = ask_once(trial, world, *subject, trial.target.config, ask);
    if (!outcome || world.servers().faults() == 0) continue;
    ++asked;
    if (first->good() || !outcome->good()) check_answer(trial, expected, question, right, *outcome);
  }
  trial.report.note(fmt::format("{} of {} questions", asked, count));
}

void recorded_answer(Trial& trial) {
  if (!trial.target.recorded || trial.target.recorded->exchanges.empty())
    return trial.report.skip("no requests to answer: give --recording");
  World world(trial.target.config, &*trial.target.recorded);
  const auto subject = Subject::load(trial, world);
  if (subject == nullptr) return;
  const auto outcome = ask_once(trial, world, *subject, trial.target.config);
  if (!outcome) return;
  if (world.servers().requests() == 0)
    trial.report.broke("MP-14",
                       "the recording has requests, and it made none through muster.http/1");
  trial.report.note(outcome->good() ? summary_of(**outcome->answer) : told(outcome->error()));
}

template <const Expected& kExpected>
Test test_of(const char* name, const char* what) {
  return {name, what, 120, true, [](Trial& trial) { run(trial, kExpected); }};
}

}  // namespace

std::vector<Test> backend_tests() {
  return {
      {"backend.recorded", "gives an answer to what was recorded, asked through the core", 60, true,
       recorded_answer},
      test_of<kRefused401>("backend.401", "each request in turn is answered 401"),
      test_of<kRefused403>("backend.403", "... 403"),
      test_of<kNotThere>("backend.404", "... 404"),
      test_of<kTooMany>("backend.429", "... 429 with Retry-After"),
      test_of<kBroken500>("backend.500", "... 500"),
      test_of<kSlow>("backend.slow", "... not before the deadline"),
      test_of<kCutOff>("backend.cut_off", "... with half an answer and a closed connection"),
      test_of<kRedirect>("backend.redirect", "... with a redirect to a login page"),
      test_of<kHuge>("backend.huge", "... without end"),
      test_of<kHtml>("backend.html", "... with HTML instead of JSON"),
      test_of<kNothing>("backend.empty", "... with nothing"),
      test_of<kHalf>("backend.half", "... with half of the JSON"),
  };
}

}  // namespace muster::check

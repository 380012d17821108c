#include "core/isolate/serving.h"

#include <fmt/format.h>
#include <muster/http_streams.h>
#include <muster/process.h>

#include <algorithm>
#include <utility>

#include "core/isolate/quick_frames.h"
#include "core/service/text.h"

namespace muster {
namespace {

constexpr int kDeepest = 8;  // requests within requests

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

void put_error(const muster_error& error, frames::v1::Answer& answer) {
  answer.set_message(clean_text(error.error.message, true));
  for (const Detail& detail : error.error.details) {
    frames::v1::Detail& added = *answer.add_details();
    added.set_key(clean_text(detail.key, false));
    added.set_value(clean_text(detail.value, true));
  }
}

// A request as muster.http/1 takes it. Borrows from the frame.
struct HttpAsked {
  explicit HttpAsked(const frames::v1::HttpRequest& from) {
    for (const frames::v1::Header& header : from.headers())
      headers.push_back({header.name().c_str(), header.value().c_str(), header.value().size()});
    raw.struct_size = sizeof raw;
    raw.flags = from.flags();
    raw.method = from.method().c_str();
    raw.url = from.url().data();
    raw.url_size = from.url().size();
    raw.headers = headers.data();
    raw.header_count = headers.size();
    raw.body = from.body().data();
    raw.body_size = from.body().size();
    raw.maximum_body_size = from.maximum_body_size();
    raw.purpose = or_null(from.purpose());
    raw.ca_pem = or_null(from.ca_pem());
    raw.ca_pem_size = from.ca_pem().size();
    raw.client_certificate_pem = or_null(from.client_certificate_pem());
    raw.client_certificate_pem_size = from.client_certificate_pem().size();
    raw.client_key_pem = or_null(from.client_key_pem());
    raw.client_key_pem_size = from.client_key_pem().size();
    raw.tls_server_name = or_null(from.tls_server_name());
    raw.proxy_url = or_null(from.proxy_url());
    raw.timeout_ns = from.timeout_ns();
    raw.idle_timeout_ns = from.idle_timeout_ns();
  }
  std::vector<muster_http_header_v1> headers;
  muster_http_request_v1 raw = {};
};

void put_response(const muster_http_response_v1& response, frames::v1::Answer& answer) {
  answer.mutable_http()->set_status(response.status);
  for (uint64_t n = 0; n < response.header_count; ++n) {
    frames::v1::Header& added = *answer.mutable_http()->add_headers();
    added.set_name(clean_text(response.headers[n].name, false));
    added.set_value(response.headers[n].value, response.headers[n].value_size);
  }
}

// A response of muster.http/1, let go at the end of the frame that asked for it, whatever became of the conversation by then.
class HttpResponse {
 public:
  HttpResponse(const muster_http_v1* http, const muster_call_v1* call) : http_(http), call_(call) {
    raw.struct_size = sizeof raw;
  }
  ~HttpResponse() { http_->release(call_, &raw); }
  HttpResponse(const HttpResponse&) = delete;
  HttpResponse& operator=(const HttpResponse&) = delete;

  std::string_view body() const { return {raw.body, raw.body_size}; }

  muster_http_response_v1 raw = {};

 private:
  const muster_http_v1* http_;
  const muster_call_v1* call_;
};

}  // namespace

Status Serving::serve(const Frame& frame) {
  const Frame::KindCase kind = frame.kind_case();
  const char* name = frame_name(kind);
  if (kind == Frame::kLog) {
    conversation_.log(frame.log().level(), frame.log().text());
    return {};
  }
  if (kind == Frame::kCheckAddress) return check_address(frame);
  if (kind == Frame::kMisbehaved) {
    if (!conversation_.misbehaved_)
      conversation_.misbehaved_.emplace(clean_text(frame.misbehaved().duty(), false),
                                        clean_text(frame.misbehaved().what(), false));
    return {};
  }
  if (kind == Frame::KIND_NOT_SET) {
    if (conversation_.hello_.minor() <= kFramesMinor)
      return Error{Code::kInternal, "a frame of no known kind came", {}};
    if (frame.id() == 0) return {};
    return answer(frame.id(), MUSTER_E_UNIMPLEMENTED, {});
  }
  if (call() == nullptr)
    return Error{Code::kInternal, fmt::format("{} came outside of a call", name), {}};
  const bool pushes = kind >= Frame::kAddJob && kind <= Frame::kMisbehaved;
  if (pushes && kind != Frame::kCommit) {
    // The call has failed; what is a secret is one all the same.
    if (conversation_.refused_ && !frame.has_mark_secret()) return {};
    return refuse_unless_ok(push(frame));
  }
  if (kind == Frame::kEndHttp) {
    service<muster_http_streams_v1>(MUSTER_HTTP_STREAMS_V1)->end(call(), frame.end_http().number());
    forget_target(frame.end_http().number());
    return {};
  }
  if (frame.id() == 0)
    return Error{Code::kInternal, fmt::format("{} came without an id", name), {}};
  if (conversation_.depth_ >= kDeepest)
    return Error{Code::kInternal, "it asks too deep within what it was asked", {}};
  return ask(frame);
}

// ---- Pushes ----------------------------------------------------------------------------------

int32_t Serving::push(const Frame& frame) const {
  const muster_call_v1* to = call();
  switch (frame.kind_case()) {
    case Frame::kAddJob:
      return to->add_job(to, frame.add_job().job().data(), frame.add_job().job().size());
    case Frame::kAddTask: {
      const frames::v1::AddTask& said = frame.add_task();
      const muster_task_v1 task = {sizeof task,           said.job().data(),     said.job().size(),
                                   said.index(),          said.name().data(),    said.name().size(),
                                   said.address().data(), said.address().size(), said.port()};
      return to->add_task(to, &task);
    }
    case Frame::kSetAttribute: {
      const frames::v1::SetAttribute& said = frame.set_attribute();
      return to->set_attribute(to, said.key().data(), said.key().size(), said.value().data(),
                               said.value().size());
    }
    case Frame::kAddMissing: {
      const frames::v1::AddMissing& said = frame.add_missing();
      const muster_missing_v1 missing = {
          sizeof missing,     said.job().data(),  said.job().size(),    said.index(),
          said.name().data(), said.name().size(), said.reason().data(), said.reason().size()};
      return to->add_missing(to, &missing);
    }
    case Frame::kSetExpected: {
      const frames::v1::SetExpected& said = frame.set_expected();
      return to->set_expected(to, said.job().data(), said.job().size(), said.count());
    }
    case Frame::kSetIdentity: {
      const frames::v1::SetIdentity& said = frame.set_identity();
      const muster_identity_v1 identity = {
          sizeof identity,    said.job().data(),  said.job().size(),      said.index(),
          said.name().data(), said.name().size(), said.evidence().data(), said.evidence().size()};
      return to->set_identity(to, &identity);
    }
    case Frame::kAddWarning:
      return to->add_warning(to, frame.add_warning().text().data(),
                             frame.add_warning().text().size());
    case Frame::kMarkSecret:
      to->mark_secret(to, frame.mark_secret().text().data(), frame.mark_secret().text().size());
      return MUSTER_OK;
    case Frame::kSetProgress:
      to->set_progress(to, frame.set_progress().text().data(), frame.set_progress().text().size());
      return MUSTER_OK;
    case Frame::kAddPermission: {
      const frames::v1::AddPermission& said = frame.add_permission();
      muster_permission_v1 permission = {};
      permission.struct_size = sizeof permission;
      permission.principal_kind = said.principal_kind().data();
      permission.principal_kind_size = said.principal_kind().size();
      permission.principal = said.principal().data();
      permission.principal_size = said.principal().size();
      permission.scope = said.scope().data();
      permission.scope_size = said.scope().size();
      permission.rule = said.rule().data();
      permission.rule_size = said.rule().size();
      return to->add_permission(to, &permission);
    }
    case Frame::kSetGrant: {
      const frames::v1::SetGrant& said = frame.set_grant();
      return to->set_grant(to, said.command().data(), said.command().size(), said.text().data(),
                           said.text().size());
    }
    case Frame::kAddPlanned: {
      const frames::v1::AddPlanned& said = frame.add_planned();
      muster_planned_v1 planned = {};
      planned.struct_size = sizeof planned;
      planned.api = said.api().data();
      planned.api_size = said.api().size();
      planned.request = said.request().data();
      planned.request_size = said.request().size();
      planned.reason = said.reason().data();
      planned.reason_size = said.reason().size();
      planned.least = said.least();
      planned.most = said.most();
      planned.quota = said.quota().data();
      planned.quota_size = said.quota().size();
      planned.quota_per_minute = said.quota_per_minute();
      return to->add_planned(to, &planned);
    }
    default: return MUSTER_E_UNIMPLEMENTED;
  }
}

std::optional<Status> Serving::serve_quickly(std::string_view message) {
  if (call() == nullptr || conversation_.refused_) return std::nullopt;
  muster_task_v1 task;
  if (read_task(message, task)) return refuse_unless_ok(call()->add_task(call(), &task));
  std::string_view key, value;
  if (!read_attribute(message, key, value)) return std::nullopt;
  return refuse_unless_ok(
      call()->set_attribute(call(), key.data(), key.size(), value.data(), value.size()));
}

Status Serving::refuse_unless_ok(int32_t code) {
  if (code == MUSTER_OK) return {};
  conversation_.refuse();
  Frame refused;
  refused.mutable_refused()->set_code(code);
  return conversation_.send(refused);
}

// ---- Services --------------------------------------------------------------------------------

Status Serving::answer(uint64_t id, Answer answer, std::string_view content) {
  while (content.size() > kContentPart) {
    Frame part;
    part.set_id(id);
    part.mutable_answer()->set_more(true);
    part.mutable_answer()->set_content(content.data(), kContentPart);
    if (Status status = conversation_.send(part); !status) return status;
    content.remove_prefix(kContentPart);
  }
  Frame frame;
  frame.set_id(id);
  *frame.mutable_answer() = std::move(answer);
  frame.mutable_answer()->set_content(content.data(), content.size());
  return conversation_.send(frame);
}

Status Serving::answer(uint64_t id, int32_t code, const muster_error& error) {
  Answer out;
  out.set_code(code);
  if (code != MUSTER_OK) put_error(error, out);
  return answer(id, std::move(out));
}

Status Serving::check_address(const Frame& frame) {
  if (frame.id() == 0) return Error{Code::kInternal, "CheckAddress came without an id", {}};
  char reason[1024];
  const std::string& address = frame.check_address().address();
  Answer out;
  out.set_code(service<muster_address_v1>(MUSTER_ADDRESS_V1)
                   ->check(address.data(), address.size(), frame.check_address().port(), reason,
                           sizeof reason));
  if (out.code() != MUSTER_OK) out.set_message(reason);
  return answer(frame.id(), std::move(out));
}

Status Serving::ask(const Frame& frame) {
  Answer out;
  const auto* clock = service<muster_clock_v1>(MUSTER_CLOCK_V1);
  switch (frame.kind_case()) {
    case Frame::kCommit: out.set_code(call()->commit(call())); break;
    case Frame::kGetTime:
      out.set_number(frame.get_time().monotonic() ? clock->monotonic_ns(call())
                                                  : clock->realtime_ns(call()));
      break;
    case Frame::kSleep: out.set_code(clock->sleep_ns(call(), frame.sleep().duration_ns())); break;
    case Frame::kGetVariable: {
      const char* value = "";
      uint64_t size = 0;
      out.set_code(service<muster_environment_v1>(MUSTER_ENVIRONMENT_V1)
                       ->get_variable(call(), frame.get_variable().name().c_str(), &value, &size));
      return answer(frame.id(), std::move(out), std::string_view(value, size));
    }
    case Frame::kGetHostname: {
      const char* name = "";
      uint64_t size = 0;
      out.set_code(service<muster_environment_v1>(MUSTER_ENVIRONMENT_V1)
                       ->get_hostname(call(), &name, &size));
      return answer(frame.id(), std::move(out), std::string_view(name, size));
    }
    case Frame::kReadFile: return read_file(frame);
    case Frame::kSendHttp: return send_http(frame);
    case Frame::kBeginHttp: return begin_http(frame);
    case Frame::kNextHttp: return next_http(frame);
    case Frame::kHasTerminal:
      out.set_number(service<muster_process_v1>(MUSTER_PROCESS_V1)->has_terminal(call()));
      break;
    case Frame::kRunProgram: return run_program(frame);
    default:
      return Error{Code::kInternal,
                   fmt::format("{} is not a backend's to send", frame_name(frame.kind_case())),
                   {}};
  }
  return answer(frame.id(), std::move(out));
}

Status Serving::read_file(const Frame& frame) {
  const frames::v1::ReadFile& asked = frame.read_file();
  const char* content = "";
  uint64_t size = 0;
  muster_error error;
  const int32_t code = service<muster_environment_v1>(MUSTER_ENVIRONMENT_V1)
                           ->read_file(call(), asked.path().c_str(), asked.maximum_size(),
                                       asked.flags(), &content, &size, &error);
  if (code != MUSTER_OK) return answer(frame.id(), code, error);
  return answer(frame.id(), Answer(), std::string_view(content, size));
}

int32_t Serving::give_piece(void* target, const char* data, uint64_t size) {
  const auto* to = static_cast<const BodyTarget*>(target);
  Conversation& conversation = *to->conversation;
  std::string_view rest(data, size);
  while (!rest.empty()) {
    Frame frame;
    const std::string_view part = rest.substr(0, kContentPart);
    rest.remove_prefix(part.size());
    if (to->stream != 0) {
      frame.mutable_piece()->set_stream(to->stream);
    } else {
      frame.mutable_piece()->set_request(to->request);
    }
    frame.mutable_piece()->set_data(part.data(), part.size());
    ++conversation.depth_;
    Result<Answer> taken = conversation.ask(frame);
    --conversation.depth_;
    if (!taken) return MUSTER_E_CANCELLED;
    if (taken->code() != MUSTER_OK) return taken->code();
  }
  return MUSTER_OK;
}

Status Serving::send_http(const Frame& frame) {
  HttpAsked asked(frame.send_http().request());
  BodyTarget target{&conversation_, frame.id(), 0};
  if (frame.send_http().request().streamed()) {
    asked.raw.on_body = give_piece;
    asked.raw.on_body_ctx = &target;
  }
  const auto* http = service<muster_http_v1>(MUSTER_HTTP_V1);
  HttpResponse response(http, call());
  muster_error error;
  const int32_t code = http->send(call(), &asked.raw, &response.raw, &error);
  if (conversation_.failure_) return *conversation_.failure_;
  if (code != MUSTER_OK) return answer(frame.id(), code, error);
  Answer out;
  put_response(response.raw, out);
  return answer(frame.id(), std::move(out), response.body());
}

void Serving::forget_target(uint64_t number) {
  auto& targets = conversation_.targets_;
  targets.erase(std::remove_if(targets.begin(), targets.end(),
                               [&](const auto& target) { return target->stream == number; }),
                targets.end());
}

Status Serving::begin_http(const Frame& frame) {
  HttpAsked asked(frame.begin_http().request());
  auto target = std::make_unique<BodyTarget>(BodyTarget{&conversation_, 0, 0});
  if (frame.begin_http().request().streamed()) {
    asked.raw.on_body = give_piece;
    asked.raw.on_body_ctx = target.get();
  }
  uint64_t number = 0;
  muster_error error;
  const int32_t code = service<muster_http_streams_v1>(MUSTER_HTTP_STREAMS_V1)
                           ->begin(call(), &asked.raw, &number, &error);
  if (code != MUSTER_OK) return answer(frame.id(), code, error);
  target->stream = number;
  conversation_.targets_.push_back(std::move(target));
  Answer out;
  out.set_number(static_cast<int64_t>(number));
  return answer(frame.id(), std::move(out));
}

Status Serving::next_http(const Frame& frame) {
  uint64_t number = 0;
  const char* words = "";
  HttpResponse response(service<muster_http_v1>(MUSTER_HTTP_V1), call());
  muster_error error;
  const int32_t code =
      service<muster_http_streams_v1>(MUSTER_HTTP_STREAMS_V1)
          ->next(call(), frame.next_http().timeout_ns(), &number, &response.raw, &words, &error);
  if (conversation_.failure_) return *conversation_.failure_;
  Answer out;
  out.set_code(code);
  out.set_number(static_cast<int64_t>(number));
  if (number != 0) forget_target(number);
  if (number == 0 || code != MUSTER_OK) {
    if (code != MUSTER_OK && number != 0) put_error(error, out);
    return answer(frame.id(), std::move(out));
  }
  put_response(response.raw, out);
  return answer(frame.id(), std::move(out), response.body());
}

Status Serving::run_program(const Frame& frame) {
  const frames::v1::RunProgram& asked = frame.run_program();
  std::vector<const char*> arguments, environment;
  for (const std::string& argument : asked.arguments()) arguments.push_back(argument.c_str());
  for (const std::string& variable : asked.environment()) environment.push_back(variable.c_str());
  const muster_process_request_v1 request = {sizeof request,
                                             asked.flags(),
                                             arguments.data(),
                                             arguments.size(),
                                             environment.data(),
                                             environment.size(),
                                             asked.maximum_output_size(),
                                             asked.timeout_ns()};
  muster_process_result_v1 result = {};
  result.struct_size = sizeof result;
  muster_error error;
  const int32_t code =
      service<muster_process_v1>(MUSTER_PROCESS_V1)->run(call(), &request, &result, &error);
  if (code != MUSTER_OK) return answer(frame.id(), code, error);
  Answer out;
  out.mutable_program()->set_exit_status(result.exit_status);
  out.mutable_program()->set_error_output(result.error_output, result.error_output_size);
  out.mutable_program()->set_keep(result.keep != 0);
  return answer(frame.id(), std::move(out), std::string_view(result.output, result.output_size));
}

}  // namespace muster

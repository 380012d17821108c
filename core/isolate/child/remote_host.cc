#include "core/isolate/child/remote_host.h"

#include <cstring>
#include <utility>

#include "core/service/services.h"
#include "core/service/text.h"

namespace muster::isolate {
namespace {

constexpr size_t kLongestLine = 64 << 10;

RemoteHost* the_remote_host = nullptr;

void write_log(const muster_host_v1*, int32_t level, const char* text, uint64_t size) {
  guarded(nullptr, [&]() -> int32_t {
    Link::Frame frame;
    frame.mutable_log()->set_level(level);
    frame.mutable_log()->set_text(clean_text(view_of(text, size).substr(0, kLongestLine), false));
    // At once: it may be the last that this process says.
    RemoteHost::the().link().send(frame);
    return MUSTER_OK;
  });
}

const void* get_service(const muster_host_v1* host, const char* id) {
  if (host == nullptr || id == nullptr) return nullptr;
  if (std::strcmp(id, MUSTER_OPTIONS_V1) == 0) return options_table();
  if (std::strcmp(id, MUSTER_ADDRESS_V1) == 0) return address_table();
  if (std::strcmp(id, MUSTER_CLOCK_V1) == 0) return remote_clock_table();
  if (std::strcmp(id, MUSTER_ENVIRONMENT_V1) == 0) return remote_environment_table();
  if (std::strcmp(id, MUSTER_PROCESS_V1) == 0) return remote_process_table();
  if (std::strcmp(id, MUSTER_HTTP_V1) == 0) return remote_http_table();
  if (std::strcmp(id, MUSTER_HTTP_STREAMS_V1) == 0) return remote_http_streams_table();
  return nullptr;
}

}  // namespace

RemoteHost::RemoteHost(Link& link, std::string name, const frames::v1::Create& create)
    : link_(link),
      host_(std::move(name), create.path(), create.options(), nullptr, nullptr, nullptr),
      host_table_(*host_.table()),
      call_table_(remote_call_table()) {
  host_table_.log = write_log;
  host_table_.get_service = get_service;
  the_remote_host = this;
}

RemoteHost& RemoteHost::the() { return *the_remote_host; }

const muster_call_v1* RemoteHost::begin_call(const frames::v1::Run& run) {
  texts_.clear();
  responses_.clear();
  streams_.clear();
  thread_ = std::this_thread::get_id();
  function_ = run.function();
  call_table_.ctx = this;
  call_table_.deadline_ns = run.deadline_ns();
  call_table_.flags = run.live() ? MUSTER_CALL_LIVE : 0;
  call_table_.interval_ns = run.interval_ns();
  return &call_table_;
}

int32_t RemoteHost::misbehaved(const char* duty, const std::string& what) {
  Link::Frame frame;
  frame.mutable_misbehaved()->set_duty(duty);
  frame.mutable_misbehaved()->set_what(clean_text(what, true));
  link_.send(frame);
  const int32_t code =
      std::strcmp(duty, "MP-9") == 0 ? MUSTER_E_RESOURCE_EXHAUSTED : MUSTER_E_INVALID_ARGUMENT;
  link_.refuse(code);
  return code;
}

void RemoteHost::hand(frames::v1::Answer& answer, muster_http_response_v1* response) {
  auto kept = std::make_unique<Response>();
  kept->body = std::move(*answer.mutable_content());
  pad(kept->body);
  for (frames::v1::Header& header : *answer.mutable_http()->mutable_headers())
    kept->texts.emplace_back(std::move(*header.mutable_name()), std::move(*header.mutable_value()));
  for (const auto& [name, value] : kept->texts)
    kept->headers.push_back({name.c_str(), value.c_str(), value.size()});
  response->status = answer.http().status();
  response->body = kept->body.c_str();
  response->body_size = kept->body.size();
  response->headers = kept->headers.data();
  response->header_count = kept->headers.size();
  response->ctx = kept.get();
  const void* key = kept.get();
  responses_.emplace(key, std::move(kept));
}

int32_t give_answer(const frames::v1::Answer& answer, muster_error* error) {
  const int32_t code = answer.code();
  // Without words somebody has set it already: the plugin itself, in its on_body.
  if (code == MUSTER_OK || error == nullptr || answer.message().empty()) return code;
  Error said{static_cast<Code>(code), answer.message(), {}};
  for (const frames::v1::Detail& detail : answer.details())
    said.details.push_back({detail.key(), detail.value()});
  return fail(error, std::move(said));
}

}  // namespace muster::isolate

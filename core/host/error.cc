// Errors and texts of the launcher's interface.
#include <cstring>
#include <new>

#include "core/format/format.h"
#include "core/host/handles.h"

namespace muster {

int32_t fail(Error error, muster_error** out) {
  const auto code = static_cast<int32_t>(error.code);
  if (out != nullptr) *out = new (std::nothrow) muster_error{std::move(error), {}, {}};
  return code;
}

int32_t fail_open(Error error, muster_error** out) {
  const int32_t code = fail(std::move(error), out);
  if (out != nullptr && *out != nullptr) (*out)->of_opening = true;
  return code;
}

int32_t fail_resolve(ResolveFailure failure, muster_error** out) {
  const auto code = static_cast<int32_t>(failure.error.code);
  if (out != nullptr) {
    std::string explain = render_sources_explain(failure.sources, false);
    std::string json = render_sources_json(failure.sources);
    *out = new (std::nothrow)
        muster_error{std::move(failure.error), std::move(explain), std::move(json)};
  }
  return code;
}

const char* give(std::string_view text, size_t* size) {
  if (size != nullptr) *size = text.size();
  return text.data();
}

namespace {

const char* give_nothing(size_t* size) {
  if (size != nullptr) *size = 0;
  return "";
}

}  // namespace
}  // namespace muster

using muster::Code;

extern "C" {

int32_t muster_error_code(const muster_error* error) {
  return error == nullptr ? 0 : static_cast<int32_t>(error->error.code);
}

const char* muster_error_code_name(const muster_error* error) {
  return muster::code_name(error == nullptr ? Code::kOk : error->error.code);
}

const char* muster_error_message(const muster_error* error, size_t* size) {
  return error == nullptr ? muster::give_nothing(size) : muster::give(error->error.message, size);
}

int32_t muster_error_exit_status(const muster_error* error) {
  if (error == nullptr) return 0;
  // A broken duty is the plugin's fault, whatever code came of it; a plugin that was too slow is a deadline to the user.
  if (!error->error.detail("duty").empty() && error->error.code != Code::kDeadlineExceeded)
    return 16;
  switch (error->error.code) {
    case Code::kOk: return 0;
    case Code::kCancelled: return 130;
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kAlreadyExists:
    case Code::kOutOfRange:
    case Code::kUnimplemented: return 12;
    case Code::kDeadlineExceeded: return 15;
    case Code::kNotFound: return error->of_opening ? 12 : 11;
    case Code::kPermissionDenied:
    case Code::kUnauthenticated: return 13;
    case Code::kResourceExhausted:
    case Code::kAborted:
    case Code::kDataLoss:
    case Code::kUnavailable: return 14;
    case Code::kUnknown:
    case Code::kInternal: return 1;
  }
  return 1;
}

size_t muster_error_detail_count(const muster_error* error) {
  return error == nullptr ? 0 : error->error.details.size();
}

const char* muster_error_detail_key(const muster_error* error, size_t n, size_t* size) {
  if (n >= muster_error_detail_count(error)) return muster::give_nothing(size);
  return muster::give(error->error.details[n].key, size);
}

const char* muster_error_detail_value(const muster_error* error, size_t n, size_t* size) {
  if (n >= muster_error_detail_count(error)) return muster::give_nothing(size);
  return muster::give(error->error.details[n].value, size);
}

const char* muster_error_sources(const muster_error* error, const char* form, size_t* size) {
  if (error == nullptr || form == nullptr) return muster::give_nothing(size);
  if (std::strcmp(form, "explain") == 0) return muster::give(error->sources_explain, size);
  if (std::strcmp(form, "json") == 0) return muster::give(error->sources_json, size);
  return muster::give_nothing(size);
}

void muster_error_destroy(muster_error* error) { delete error; }

const char* muster_text_data(const muster_text* text, size_t* size) {
  return text == nullptr ? muster::give_nothing(size) : muster::give(text->text, size);
}

void muster_text_destroy(muster_text* text) { delete text; }

}  // extern "C"

// Host: log, errors and services for one resolver.
#include "core/service/host.h"

#include <cstring>

#include <fmt/format.h>

#include "core/service/http_streams.h"
#include "core/service/options.h"
#include "core/service/services.h"
#include "core/service/text.h"

namespace muster {
namespace {

// Longer texts are a mistake of the plugin, and would fill the launcher's log.
constexpr size_t kLongestMessage = 64 * 1024;
constexpr size_t kMostDetails = 64;
constexpr uint64_t kMark = 0x6d75737465722d31;  // "muster-1": tells our ctx from another

std::string shortened(std::string_view text, bool keep_newlines) {
  std::string clean = clean_text(text.substr(0, kLongestMessage), keep_newlines);
  if (text.size() > kLongestMessage) clean += " ...";
  return clean;
}

}  // namespace

struct Host::State {
  uint64_t mark = kMark;
  std::string prefix;
  Options options;
  std::shared_ptr<const Log> log;
  std::shared_ptr<Secrets> secrets;
  std::shared_ptr<HttpLibrary> http;

  static const State* of(const muster_host_v1* host) {
    if (host == nullptr || host->struct_size < offsetof(muster_host_v1, log) ||
        host->ctx == nullptr)
      return nullptr;
    const State* state = static_cast<const State*>(host->ctx);
    return state->mark == kMark ? state : nullptr;
  }
  static const Options* options_of(const muster_host_v1* host) {
    const State* state = of(host);
    return state == nullptr ? nullptr : &state->options;
  }

  static void write_log(const muster_host_v1* host, int32_t level, const char* text,
                        uint64_t size) {
    guarded(nullptr, [&]() -> int32_t {
      const State* state = of(host);
      if (state == nullptr || state->log == nullptr) return MUSTER_OK;
      // An unknown level of a newer plugin is not lost.
      const int32_t known =
          level < MUSTER_LOG_DEBUG ? MUSTER_LOG_DEBUG : std::min(level, MUSTER_LOG_HOST_MISBEHAVES);
      if (!state->log->enabled(known)) return MUSTER_OK;
      state->log->write(known, state->prefix + shortened(view_of(text, size), false),
                        *state->secrets);
      return MUSTER_OK;
    });
  }

  static int32_t set_error(muster_error* error, int32_t code, const char* message, uint64_t size) {
    guarded(nullptr, [&]() -> int32_t {
      if (error == nullptr) return MUSTER_OK;
      error->error = {};
      error->sources_explain.clear();
      error->sources_json.clear();
      const bool known = code > MUSTER_OK && code <= MUSTER_E_UNAUTHENTICATED;
      error->error.code = known ? static_cast<Code>(code) : Code::kUnknown;
      error->error.message = shortened(view_of(message, size), true);
      return MUSTER_OK;
    });
    return code;
  }

  static void add_detail(muster_error* error, const char* key, const char* value, uint64_t size) {
    guarded(nullptr, [&]() -> int32_t {
      if (error == nullptr || key == nullptr || *key == '\0' ||
          error->error.details.size() >= kMostDetails)
        return MUSTER_OK;
      error->error.details.push_back(
          {shortened(key, false), shortened(view_of(value, size), true)});
      return MUSTER_OK;
    });
  }

  static const void* get_service(const muster_host_v1* host, const char* id) {
    if (of(host) == nullptr || id == nullptr) return nullptr;
    if (std::strcmp(id, MUSTER_OPTIONS_V1) == 0) return options_table();
    if (std::strcmp(id, MUSTER_CLOCK_V1) == 0) return clock_table();
    if (std::strcmp(id, MUSTER_ENVIRONMENT_V1) == 0) return environment_table();
    if (std::strcmp(id, MUSTER_ADDRESS_V1) == 0) return address_table();
    if (std::strcmp(id, MUSTER_HTTP_V1) == 0) return http_table();
    if (std::strcmp(id, MUSTER_PROCESS_V1) == 0) return process_table();
    if (std::strcmp(id, MUSTER_HTTP_STREAMS_V1) == 0) return http_streams_table();
    return nullptr;
  }
};

Host::Host(std::string backend, std::string path, std::string options_json,
           std::shared_ptr<const Log> log, std::shared_ptr<Secrets> secrets,
           std::shared_ptr<HttpLibrary> http)
    : table_{},
      state_(new State{
          .prefix =
              path.empty() ? fmt::format("{}: ", backend) : fmt::format("{} ({}): ", backend, path),
          .options = Options(std::move(options_json)),
          .log = std::move(log),
          .secrets = secrets != nullptr ? std::move(secrets) : std::make_shared<Secrets>(),
          .http = std::move(http)}) {
  table_.struct_size = sizeof(table_);
  table_.abi_major = MUSTER_PLUGIN_ABI_MAJOR;
  table_.abi_minor = MUSTER_PLUGIN_ABI_MINOR;
  table_.ctx = state_.get();
  table_.log = State::write_log;
  table_.set_error = State::set_error;
  table_.add_detail = State::add_detail;
  table_.get_service = State::get_service;
}

Host::~Host() = default;

const Options* options_of(const muster_host_v1* host) { return Host::State::options_of(host); }

int32_t fail(muster_error* error, Error reason) {
  const auto code = static_cast<int32_t>(reason.code);
  if (error == nullptr) return code;
  error->error = std::move(reason);
  error->sources_explain.clear();
  error->sources_json.clear();
  return code;
}

}  // namespace muster

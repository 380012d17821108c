// muster.options/1 over the JSON text that create got.
#include "core/service/options.h"

#include <muster/plugin.h>

#include <cmath>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "core/service/services.h"

namespace muster {

const rapidjson::Value* Options::find(const char* pointer, bool* valid) const {
  // Iterative: hostile nesting must not end the stack.
  std::call_once(parsed_, [this] {
    document_.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseFullPrecisionFlag>(
        json_.data(), json_.size());
  });
  *valid = false;
  if (document_.HasParseError() || pointer == nullptr) return nullptr;
  // rapidjson would take "#/a" too, the form for URIs.
  if (*pointer != '\0' && *pointer != '/') return nullptr;
  const rapidjson::Pointer path(pointer);
  if (!path.IsValid()) return nullptr;
  *valid = true;
  const rapidjson::Value* value = path.Get(document_);
  return value == nullptr || value->IsNull() ? nullptr : value;
}

const std::string& Options::json_of(const std::string& pointer,
                                    const rapidjson::Value& value) const {
  const std::lock_guard lock(mutex_);
  const auto found = texts_.find(pointer);
  if (found != texts_.end()) return found->second;
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return texts_.emplace(pointer, std::string(buffer.GetString(), buffer.GetSize())).first->second;
}

namespace {

// Finds the value, then lets `take` have it: false from `take` means another type.
template <typename Take>
int32_t get(const muster_host_v1* host, const char* pointer, Take&& take) noexcept {
  return guarded(nullptr, [&]() -> int32_t {
    const Options* options = options_of(host);
    if (options == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    bool valid = false;
    const rapidjson::Value* value = options->find(pointer, &valid);
    if (!valid) return MUSTER_E_INVALID_ARGUMENT;
    if (value == nullptr) return MUSTER_E_NOT_FOUND;
    return take(*options, *value);
  });
}

int32_t get_text(const muster_host_v1* host, const char* pointer, const char** value,
                 uint64_t* value_size) {
  return get(host, pointer, [&](const Options&, const rapidjson::Value& found) -> int32_t {
    if (!found.IsString() || value == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    *value = found.GetString();
    if (value_size != nullptr) *value_size = found.GetStringLength();
    return MUSTER_OK;
  });
}

int32_t get_integer(const muster_host_v1* host, const char* pointer, int64_t* value) {
  return get(host, pointer, [&](const Options&, const rapidjson::Value& found) -> int32_t {
    if (value == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    if (found.IsInt64()) {
      *value = found.GetInt64();
      return MUSTER_OK;
    }
    // JSON Schema takes 8470.0 for an integer, so this does.
    constexpr double kExact = 9007199254740992.0;  // 2^53
    if (!found.IsDouble() || std::trunc(found.GetDouble()) != found.GetDouble() ||
        std::fabs(found.GetDouble()) > kExact) {
      return MUSTER_E_INVALID_ARGUMENT;
    }
    *value = static_cast<int64_t>(found.GetDouble());
    return MUSTER_OK;
  });
}

int32_t get_boolean(const muster_host_v1* host, const char* pointer, int32_t* value) {
  return get(host, pointer, [&](const Options&, const rapidjson::Value& found) -> int32_t {
    if (!found.IsBool() || value == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    *value = found.GetBool() ? 1 : 0;
    return MUSTER_OK;
  });
}

int32_t get_size(const muster_host_v1* host, const char* pointer, uint64_t* size) {
  return get(host, pointer, [&](const Options&, const rapidjson::Value& found) -> int32_t {
    if (size == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    if (found.IsArray()) {
      *size = found.Size();
    } else if (found.IsObject()) {
      *size = found.MemberCount();
    } else {
      return MUSTER_E_INVALID_ARGUMENT;
    }
    return MUSTER_OK;
  });
}

int32_t get_key(const muster_host_v1* host, const char* pointer, uint64_t n, const char** key,
                uint64_t* key_size) {
  return get(host, pointer, [&](const Options&, const rapidjson::Value& found) -> int32_t {
    if (!found.IsObject() || key == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    if (n >= found.MemberCount()) return MUSTER_E_NOT_FOUND;
    const rapidjson::Value& name = (found.MemberBegin() + static_cast<std::ptrdiff_t>(n))->name;
    *key = name.GetString();
    if (key_size != nullptr) *key_size = name.GetStringLength();
    return MUSTER_OK;
  });
}

int32_t get_json(const muster_host_v1* host, const char* pointer, const char** json,
                 uint64_t* json_size) {
  return get(host, pointer, [&](const Options& options, const rapidjson::Value& found) -> int32_t {
    if (json == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    const std::string& text = options.json_of(pointer, found);
    *json = text.c_str();
    if (json_size != nullptr) *json_size = text.size();
    return MUSTER_OK;
  });
}

}  // namespace

const muster_options_v1* options_table() {
  static const muster_options_v1 table = {
      sizeof(muster_options_v1), get_text, get_integer, get_boolean, get_size, get_key, get_json};
  return &table;
}

}  // namespace muster

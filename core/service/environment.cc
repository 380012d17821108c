// muster.environment/1: variables, small files and the host's name, which a replay owns.
#include <muster/plugin.h>

#include "core/service/call.h"
#include "core/service/services.h"

namespace muster {
namespace {

// Keeps a text for as long as the call lives.
int32_t hand(Call& call, std::optional<std::string> found, const char** value,
             uint64_t* value_size) {
  if (!found) return MUSTER_E_NOT_FOUND;
  const std::string& kept = call.keep(*std::move(found));
  *value = kept.c_str();
  if (value_size != nullptr) *value_size = kept.size();
  return MUSTER_OK;
}

int32_t get_variable(const muster_call_v1* call, const char* name, const char** value,
                     uint64_t* value_size) {
  return guarded(nullptr, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr || name == nullptr || value == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    return hand(*known, known->session().variable(known->path(), name), value, value_size);
  });
}

int32_t get_hostname(const muster_call_v1* call, const char** name, uint64_t* name_size) {
  return guarded(nullptr, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr || name == nullptr) return MUSTER_E_INVALID_ARGUMENT;
    return hand(*known, known->session().hostname(known->path()), name, name_size);
  });
}

int32_t read_file(const muster_call_v1* call, const char* path, uint64_t maximum_size,
                  uint64_t flags, const char** content, uint64_t* content_size,
                  muster_error* error) {
  return guarded(error, [&]() -> int32_t {
    Call* known = Call::check(call);
    if (known == nullptr || path == nullptr || content == nullptr) {
      return fail(error, {Code::kInvalidArgument,
                          "read_file was called with NULL for the call, the path or the content",
                          {}});
    }
    Result<std::string> read = known->session().read_file(known->path(), path, maximum_size,
                                                          (flags & MUSTER_FILE_SECRET) != 0);
    if (!read) return fail(error, std::move(read).error());
    const std::string& kept = known->keep(std::move(read).value());
    *content = kept.c_str();
    if (content_size != nullptr) *content_size = kept.size();
    return MUSTER_OK;
  });
}

}  // namespace

const muster_environment_v1* environment_table() {
  static const muster_environment_v1 table = {sizeof(muster_environment_v1), get_variable,
                                              read_file, get_hostname};
  return &table;
}

}  // namespace muster

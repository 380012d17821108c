// What permissions and plans have in common as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "core/format/emit.h"
#include "core/result.h"

namespace muster {

inline void put(Emitter& out, const char* key, const std::string& value) {
  out.key(key);
  out.text(value);
}
inline void put(Emitter& out, const char* key, int64_t value) {
  out.key(key);
  out.number(value);
}

// Of a ResolverNeeds or a ResolverPlan: whose it is, whether it is `known`, and where it is not for a failure, that.
template <typename Told>
void put_resolver(Emitter& out, const Told& one, bool known) {
  put(out, "path", one.path);
  put(out, "backend", one.backend);
  out.key("known");
  out.boolean(known);
  if (!one.error) return;
  put(out, "code", code_name(one.error->code));
  put(out, "error", one.error->message);
  out.key("hints");
  out.begin_list();
  for (const Detail& detail : one.error->details)
    if (detail.key == "hint") out.text(detail.value);
  out.end_list();
}

}  // namespace muster

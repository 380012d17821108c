// Backend "throws": a C++ exception leaves the function that its option `at` names.
#include <muster/plugin.h>

#include <cstring>
#include <stdexcept>
#include <string>

MUSTER_DESCRIPTOR({
  "name" : "throws",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : 0},
  "options" : {"type" : "object", "properties" : {"at" : {"type" : "string"}}}
})

struct muster_resolver {
  std::string at;
};

namespace {

int32_t create(const muster_host_v1*, const char* options, uint64_t size,
               muster_resolver** resolver, muster_error*) {
  const std::string text(options, size);
  if (text.find("create") != std::string::npos) throw std::runtime_error("from create");
  *resolver = new muster_resolver{text};
  return MUSTER_OK;
}
void destroy(muster_resolver* resolver) {
  const bool throws = resolver->at.find("destroy") != std::string::npos;
  delete resolver;
  if (throws) throw std::runtime_error("from destroy");
}
int32_t resolve(muster_resolver* resolver, const muster_call_v1*, muster_error*) {
  if (resolver->at.find("number") != std::string::npos) throw 42;
  if (resolver->at.find("resolve") != std::string::npos) throw std::runtime_error("from resolve");
  return MUSTER_OK;
}

const muster_plugin_v1 plugin = {sizeof plugin, 1,       0,       "throws", "1.0.0",
                                 create,        destroy, resolve, nullptr,  nullptr};

}  // namespace

const muster_plugin_v1* muster_plugin_entry_v1(const muster_host_v1*) {
#ifdef AT_ENTRY
  throw std::runtime_error("from the entry");
#endif
  return &plugin;
}

/* A whole backend as small as one can be, for the binary that is kept: it has options, attributes, a missing member and identity. */
#include <muster/plugin.h>

#ifndef MINOR_TEXT
#define MINOR_TEXT 0
#endif
/* The descriptor takes the minor as it is written, so it has to be expanded before. */
#define DESCRIPTOR(...) MUSTER_DESCRIPTOR(__VA_ARGS__)

DESCRIPTOR({
  "name" : "frozen",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : MINOR_TEXT},
  "description" : "Built once, and loaded by every later muster.",
  "options" : {
    "type" : "object",
    "properties" : {"count" : {"type" : "integer", "minimum" : 1, "maximum" : 9, "default" : 2}}
  },
  "services" : ["muster.options/1"]
})

struct muster_resolver {
  const muster_host_v1 *host;
  int64_t count;
};

/* Two may be in use at once, and no library gives memory. */
static struct muster_resolver resolvers[64];
static int taken[64];

#define TEXT(text) (text), sizeof(text) - 1

static int32_t create(const muster_host_v1 *host, const char *options, uint64_t options_size,
                      muster_resolver **resolver, muster_error *error) {
  const muster_options_v1 *reader =
      (const muster_options_v1 *)host->get_service(host, MUSTER_OPTIONS_V1);
  int i;
  (void)options;
  (void)options_size;
  if (reader == 0)
    return host->set_error(error, MUSTER_E_UNIMPLEMENTED, TEXT("this core has no muster.options/1"));
  for (i = 0; i < 64; ++i) {
    if (__sync_lock_test_and_set(&taken[i], 1) != 0) continue;
    resolvers[i].host = host;
    if (reader->get_integer(host, "/count", &resolvers[i].count) != MUSTER_OK)
      resolvers[i].count = 2;
    *resolver = &resolvers[i];
    return MUSTER_OK;
  }
  return host->set_error(error, MUSTER_E_RESOURCE_EXHAUSTED, TEXT("too many resolvers"));
}

static void destroy(muster_resolver *self) { __sync_lock_release(&taken[self - resolvers]); }

static int32_t resolve(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  const muster_identity_v1 identity = {
      sizeof identity, TEXT("worker"), 0, "", 0, TEXT("it is the first")};
  const muster_missing_v1 missing = {
      sizeof missing, TEXT("worker"), self->count, TEXT("last"), TEXT("it never comes")};
  char address[] = "10.0.0.0:8470";
  int32_t code = call->set_attribute(call, TEXT("zone"), TEXT("attic"));
  int64_t i;
  (void)error;
  for (i = 0; i < self->count && code == MUSTER_OK; ++i) {
    const muster_task_v1 task = {sizeof task, TEXT("worker"), i, "", 0, address, 13, 0};
    address[7] = (char)('1' + i);
    code = call->add_task(call, &task);
  }
  if (code == MUSTER_OK) code = call->add_missing(call, &missing);
  if (code == MUSTER_OK) code = call->set_expected(call, TEXT("worker"), self->count + 1);
  if (code == MUSTER_OK) code = call->set_identity(call, &identity);
  if (code == MUSTER_OK) code = call->add_warning(call, TEXT("it is old"));
  return code;
}

static void interrupt(muster_resolver *self) { (void)self; }
static const void *get_extension(const char *id) {
  (void)id;
  return 0;
}

static const muster_plugin_v1 plugin = {sizeof plugin,
                                        MUSTER_PLUGIN_ABI_MAJOR,
                                        MUSTER_PLUGIN_ABI_MINOR,
                                        "frozen",
                                        "1.0.0",
                                        create,
                                        destroy,
                                        resolve,
                                        interrupt,
                                        get_extension
#ifdef LATER_FIELDS
                                        ,
                                        LATER_FIELDS
#endif
};

const muster_plugin_v1 *muster_plugin_entry_v1(const muster_host_v1 *host) {
  (void)host;
  return &plugin;
}

/* Backend "odd": right in all but one thing, chosen by a macro when it is compiled. It loads or it does not. */
#include <muster/plugin.h>

#include <stddef.h>
#include <stdlib.h>

#ifdef BAD_DESCRIPTOR
#define DESCRIPTOR "{\"name\": odd}"
#else
#define DESCRIPTOR                                                                             \
  "{\"name\": \"odd\", \"version\": \"1.0.0\", \"abi\": {\"major\": 1, \"minor\": " MINOR_TEXT \
  "}"                                                                                          \
  "}"
#endif
#ifndef MINOR
#define MINOR 0
#define MINOR_TEXT "0"
#endif
#ifndef MAJOR
#define MAJOR 1
#endif
#ifndef NAME
#define NAME "odd"
#endif
#ifndef VERSION
#define VERSION "1.0.0"
#endif
#ifndef SIZE
#define SIZE sizeof(table_type)
#endif
#ifndef RESOLVE
#define RESOLVE resolve
#endif

#ifndef NO_DESCRIPTOR
__attribute__((used, section(MUSTER_DESCRIPTOR_SECTION),
               aligned(1))) static const char descriptor[] = DESCRIPTOR;
#endif

struct muster_resolver {
  int unused;
};

static int32_t create(const muster_host_v1 *host, const char *options, uint64_t options_size,
                      muster_resolver **resolver, muster_error *error) {
  (void)host;
  (void)options;
  (void)options_size;
  (void)error;
  *resolver = malloc(sizeof **resolver);
  return MUSTER_OK;
}
static void destroy(muster_resolver *self) { free(self); }
__attribute__((unused)) static int32_t resolve(muster_resolver *self, const muster_call_v1 *call,
                                               muster_error *error) {
  muster_task_v1 task = {sizeof task, "worker", 6, 0, "", 0, "10.0.0.1:8470", 13, 0};
  (void)self;
  (void)error;
  return call->add_task(call, &task);
}

#ifdef LONGER /* a later minor: fields that this core has never heard of */
typedef struct table_type {
  muster_plugin_v1 known;
  void (*later)(void);
  uint64_t flags;
} table_type;
static const table_type plugin = {
    {SIZE, MAJOR, MINOR, NAME, VERSION, create, destroy, RESOLVE, NULL, NULL}, NULL, ~UINT64_C(0)};
#define TABLE &plugin.known
#else
typedef muster_plugin_v1 table_type;
__attribute__((unused)) static const table_type plugin = {SIZE,
                                                          MAJOR,
                                                          MINOR,
                                                          NAME,
                                                          VERSION,
                                                          create,
                                                          destroy,
                                                          RESOLVE,
#ifdef SHORT /* behind the end of a short table lies anything */
                                                          (void (*)(muster_resolver *))1,
                                                          (const void *(*)(const char *))1};
#else
                                                          NULL,    NULL};
#endif
#define TABLE &plugin
#endif

#ifdef NEEDS
extern int other_library(void);
int odd_uses_other(void);
int odd_uses_other(void) { return other_library(); }
#endif

#ifndef NO_ENTRY
const muster_plugin_v1 *muster_plugin_entry_v1(const muster_host_v1 *host) {
#ifdef REFUSES
  host->log(host, MUSTER_LOG_ERROR, "no accelerator in this machine", MUSTER_NUL_TERMINATED);
  return NULL;
#else
  (void)host;
  return TABLE;
#endif
}
#endif

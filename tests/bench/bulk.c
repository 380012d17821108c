/* Backend "bulk": as many tasks as its options say, from nowhere, so that what is measured is their way to the launcher. */
#include <muster/plugin.h>

#include <stdlib.h>

#include "bulk.h"

MUSTER_DESCRIPTOR({
  "name" : "bulk",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : 0},
  "description" : "Many tasks, for tests/bench.",
  "options" : {
    "type" : "object",
    "properties" : {"tasks" : {"type" : "integer"}, "dns" : {"type" : "boolean"}}
  }
})

struct muster_resolver {
  int64_t tasks;
  int32_t dns;
  struct bulk_address *addresses;
};

static int32_t create(const muster_host_v1 *host, const char *options, uint64_t options_size,
                      muster_resolver **resolver, muster_error *error) {
  const muster_options_v1 *reader = host->get_service(host, MUSTER_OPTIONS_V1);
  struct muster_resolver *self = calloc(1, sizeof *self);
  (void)options;
  (void)options_size;
  (void)error;
  if (self == NULL) return MUSTER_E_RESOURCE_EXHAUSTED;
  reader->get_integer(host, "/tasks", &self->tasks);
  reader->get_boolean(host, "/dns", &self->dns);
  self->addresses = bulk_addresses(self->tasks, self->dns);
  *resolver = self;
  return MUSTER_OK;
}

static void destroy(muster_resolver *self) {
  free(self->addresses);
  free(self);
}

static int32_t resolve(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  (void)error;
  for (int64_t index = 0; index < self->tasks; ++index) {
    const struct bulk_address *address = &self->addresses[index];
    const muster_task_v1 task = {sizeof task,   "worker",      6, index, "", 0,
                                 address->text, address->size, 0};
    const int32_t code = call->add_task(call, &task);
    if (code != MUSTER_OK) return code;
  }
  return MUSTER_OK;
}

static const muster_plugin_v1 table = {sizeof table,
                                       MUSTER_PLUGIN_ABI_MAJOR,
                                       MUSTER_PLUGIN_ABI_MINOR,
                                       "bulk",
                                       "1.0.0",
                                       create,
                                       destroy,
                                       resolve,
                                       NULL,
                                       NULL};

MUSTER_EXPORT const muster_plugin_v1 *muster_plugin_entry_v1(const muster_host_v1 *host) {
  (void)host;
  return &table;
}

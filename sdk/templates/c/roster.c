/*
 * Backend "roster": the members of a cluster from a text file. A whole backend in one file, from
 * <muster/plugin.h> alone; copy the folder and make it yours.
 *
 *   # job index name address
 *   worker 0 node-a 10.0.0.1:8470
 *   worker 1 node-b [fd00::2]:8470
 *   worker 2 node-c - powered off since Monday
 *
 * A line whose address is "-" is a member that should be there and is not; the rest of it says why.
 */
#include <muster/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known without running any of this. The options arrive checked against their schema. */
MUSTER_DESCRIPTOR({
  "name" : "roster",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : 0},
  "description" : "Members from a roster file: one line 'job index name address' for each.",
  "options" : {
    "type" : "object",
    "additionalProperties" : false,
    "required" : ["path"],
    "properties" : {
      "path" : {"type" : "string", "description" : "the roster; '~/' is the user's home"},
      "identity_variable" : {
        "type" : "string",
        "default" : "HOSTNAME",
        "description" : "environment variable that holds the name of this process's own member"
      }
    }
  },
  "services" : [ "muster.options/1", "muster.environment/1", "muster.address/1" ],
  "license" : "Apache-2.0"
})

/* State of one configured resolver. The texts belong to the core and live until destroy. */
struct muster_resolver {
  const muster_host_v1 *host;
  const muster_environment_v1 *environment;
  const muster_address_v1 *address;
  const char *path;
  const char *identity_variable;
};

static int32_t create(const muster_host_v1 *host, const char *options, uint64_t options_size,
                      muster_resolver **resolver, muster_error *error) {
  const muster_options_v1 *reader = host->get_service(host, MUSTER_OPTIONS_V1);
  const muster_environment_v1 *environment = host->get_service(host, MUSTER_ENVIRONMENT_V1);
  const muster_address_v1 *address = host->get_service(host, MUSTER_ADDRESS_V1);
  uint64_t size;
  (void)options; /* the same as JSON text, for those who have a parser */
  (void)options_size;
  if (reader == NULL || environment == NULL || address == NULL) {
    return host->set_error(error, MUSTER_E_UNIMPLEMENTED,
                           "this muster lacks a service that roster needs", MUSTER_NUL_TERMINATED);
  }
  struct muster_resolver *self = calloc(1, sizeof *self);
  if (self == NULL) {
    return host->set_error(error, MUSTER_E_RESOURCE_EXHAUSTED, "out of memory",
                           MUSTER_NUL_TERMINATED);
  }
  self->host = host;
  self->environment = environment;
  self->address = address;
  /* Both are there and are texts: the schema says so. Here, nothing is read yet (MP-19). */
  if (reader->get_text(host, "/path", &self->path, &size) != MUSTER_OK ||
      reader->get_text(host, "/identity_variable", &self->identity_variable, &size) != MUSTER_OK) {
    free(self);
    return host->set_error(error, MUSTER_E_INVALID_ARGUMENT, "roster needs the option 'path'",
                           MUSTER_NUL_TERMINATED);
  }
  *resolver = self;
  return MUSTER_OK;
}

static void destroy(muster_resolver *self) { free(self); }

/* A text that ends where it says. */
struct text {
  const char *data;
  uint64_t size;
};

/* Takes the next word off a line; an empty one when there is none. */
static struct text take_word(struct text *line) {
  struct text word;
  while (line->size > 0 && (*line->data == ' ' || *line->data == '\t')) ++line->data, --line->size;
  word.data = line->data;
  while (line->size > 0 && *line->data != ' ' && *line->data != '\t') ++line->data, --line->size;
  word.size = (uint64_t)(line->data - word.data);
  return word;
}

static int is(struct text word, const char *what) {
  return word.size == strlen(what) && memcmp(word.data, what, word.size) == 0;
}

/* Says which line is wrong, why, and what it should look like. */
static int32_t fail_at(muster_resolver *self, muster_error *error, int number, const char *what) {
  char message[1024];
  snprintf(message, sizeof message,
           "%.300s:%d: %s; write 'job index name address', or '-' and a reason as the address",
           self->path, number, what);
  return self->host->set_error(error, MUSTER_E_DATA_LOSS, message, MUSTER_NUL_TERMINATED);
}

/* Pushes the member of one line. What the core would refuse is a fault of the file, so it is told with its line. */
static int32_t push_line(muster_resolver *self, const muster_call_v1 *call, muster_error *error,
                         struct text line, int number, struct text own_name) {
  const struct text job = take_word(&line);
  if (job.size == 0 || *job.data == '#') return MUSTER_OK;
  const struct text index_word = take_word(&line);
  const struct text name = take_word(&line);
  const struct text address = take_word(&line);
  char *end = NULL;
  const int64_t index = index_word.size > 0 ? strtoll(index_word.data, &end, 10) : -1;
  if (end != index_word.data + index_word.size || index < 0) {
    return fail_at(self, error, number, "the index is not a number from 0");
  }
  if (address.size == 0) return fail_at(self, error, number, "there is no address");

  int32_t code;
  if (is(address, "-")) {
    while (line.size > 0 && *line.data == ' ') ++line.data, --line.size;
    muster_missing_v1 missing = {0};
    missing.struct_size = sizeof missing;
    missing.job = job.data;
    missing.job_size = job.size;
    missing.index = index;
    missing.name = name.data;
    missing.name_size = name.size;
    missing.reason = line.size > 0 ? line.data : "the roster gives no address";
    missing.reason_size = line.size > 0 ? line.size : MUSTER_NUL_TERMINATED;
    code = call->add_missing(call, &missing);
  } else {
    char reason[512];
    if (self->address->check(address.data, address.size, 0, reason, sizeof reason) != MUSTER_OK)
      return fail_at(self, error, number, reason);
    muster_task_v1 task = {0};
    task.struct_size = sizeof task;
    task.job = job.data;
    task.job_size = job.size;
    task.index = index;
    task.name = name.data;
    task.name_size = name.size;
    task.address = address.data; /* its port is in it */
    task.address_size = address.size;
    code = call->add_task(call, &task);
  }
  if (code != MUSTER_OK || own_name.size == 0 || own_name.size != name.size ||
      memcmp(own_name.data, name.data, name.size) != 0) {
    return code;
  }
  /* This process is that member. */
  char evidence[256];
  snprintf(evidence, sizeof evidence, "%.100s is '%.*s'", self->identity_variable,
           (int)(name.size < 100 ? name.size : 100), name.data);
  muster_identity_v1 identity = {0};
  identity.struct_size = sizeof identity;
  identity.job = job.data;
  identity.job_size = job.size;
  identity.index = index;
  identity.evidence = evidence;
  identity.evidence_size = MUSTER_NUL_TERMINATED;
  return call->set_identity(call, &identity);
}

/* Reads the roster anew at each call: nothing is kept between them. */
static int32_t resolve(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  struct text roster;
  /* Files and variables are asked of the core, so that a recorded resolve can be replayed (MP-14). */
  int32_t code = self->environment->read_file(call, self->path, UINT64_C(64) << 20, 0, &roster.data,
                                              &roster.size, error);
  if (code != MUSTER_OK) return code; /* the core has filled the error */

  struct text own_name = {"", 0};
  if (self->environment->get_variable(call, self->identity_variable, &own_name.data,
                                      &own_name.size) != MUSTER_OK) {
    own_name.size = 0; /* then this process is not known to be one of the members */
  }
  for (int number = 1; roster.size > 0; ++number) {
    if (call->is_cancelled(call))
      return self->host->set_error(error, MUSTER_E_CANCELLED, "cancelled while reading the roster",
                                   MUSTER_NUL_TERMINATED);
    const char *newline = memchr(roster.data, '\n', roster.size);
    struct text line = {roster.data,
                        newline == NULL ? roster.size : (uint64_t)(newline - roster.data)};
    roster.size -= line.size + (newline == NULL ? 0 : 1);
    roster.data += line.size + (newline == NULL ? 0 : 1);
    if (line.size > 0 && line.data[line.size - 1] == '\r') --line.size;
    code = push_line(self, call, error, line, number, own_name);
    if (code != MUSTER_OK) return code;
  }
  return MUSTER_OK;
}

static const muster_plugin_v1 plugin = {
    sizeof plugin,
    MUSTER_PLUGIN_ABI_MAJOR,
    MUSTER_PLUGIN_ABI_MINOR,
    "roster",
    "1.0.0",
    create,
    destroy,
    resolve,
    NULL,
    NULL,
};

/* The one symbol of the file. */
const muster_plugin_v1 *muster_plugin_entry_v1(const muster_host_v1 *host) {
  (void)host;
  return &plugin;
}

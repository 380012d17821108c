/*
 * Backend "roster": the members of one job from a list over HTTP. A whole backend from <muster/plugin.h> and
 * <muster/http.h> alone; make it yours.
 *
 *   # name address, or name - and why it has none
 *   node-1 10.0.0.1:8470
 *   node-2 [fd00::2]:8470
 *   node-3 - powered off since Monday
 *
 * The core ranks the members by natural order of their names. A member without an address keeps its rank.
 */
#include <muster/http.h>
#include <muster/plugin.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known without running any of this. The options arrive checked against their schema. */
/* clang-format off */
MUSTER_DESCRIPTOR({
  "name": "roster",
  "version": "1.0.0",
  "abi": {"major": 1, "minor": 0},
  "description": "The members of one job from a list over HTTP: a line 'name address' for each.",
  "license": "Apache-2.0",
  "services": ["muster.options/1", "muster.http/1", "muster.environment/1", "muster.address/1", "muster.clock/1"],
  "extensions": ["muster.watch/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "required": ["url"],
    "properties": {
      "url": {"type": "string", "pattern": "^https?://", "description": "Where the list is."},
      "job": {"type": "string", "minLength": 1, "default": "worker", "description": "The job of the members."},
      "port": {"type": "integer", "minimum": 1, "maximum": 65535, "description": "The port of members whose address has none."},
      "token": {"type": "string", "minLength": 1, "writeOnly": true, "description": "Sent as 'Authorization: Bearer'."},
      "identity_variable": {"type": "string", "minLength": 1, "description": "The environment variable that has the name of this process's own member; without it, that is the host's name."}
    }
  }
})
/* clang-format on */

#define SECOND INT64_C(1000000000)
#define LINE "a line is 'name address', or 'name -' and why it has none"

/* A text that ends where it says. */
struct text {
  const char *data;
  uint64_t size;
};

/* One configured resolver. The texts of the options are the core's and live until destroy. */
struct muster_resolver {
  const muster_host_v1 *host;
  const muster_http_v1 *http;
  const muster_environment_v1 *environment;
  const muster_address_v1 *address;
  const muster_clock_v1 *clock;
  struct text url, job, token;   /* no token: size 0 */
  const char *identity_variable; /* or NULL */
  int64_t port;                  /* 0: none */
  char *authorization;           /* "Bearer ...", or NULL */
};

static int32_t fail(muster_resolver *self, muster_error *error, int32_t code, const char *message) {
  return self->host->set_error(error, code, MUSTER_TEXT(message));
}

static void destroy(muster_resolver *self) {
  if (self == NULL) return;
  free(self->authorization);
  free(self);
}

/* Takes the options; nothing is read or asked here (MP-19). */
static int32_t create(const muster_host_v1 *host, const char *options, uint64_t options_size,
                      muster_resolver **resolver, muster_error *error) {
  const muster_options_v1 *reader = host->get_service(host, MUSTER_OPTIONS_V1);
  uint64_t size;
  (void)options; /* the same as JSON text, for those who have a parser */
  (void)options_size;
  muster_resolver *self = calloc(1, sizeof *self);
  if (self == NULL)
    return host->set_error(error, MUSTER_E_RESOURCE_EXHAUSTED, MUSTER_TEXT("out of memory"));
  self->host = host;
  self->http = host->get_service(host, MUSTER_HTTP_V1);
  self->environment = host->get_service(host, MUSTER_ENVIRONMENT_V1);
  self->address = host->get_service(host, MUSTER_ADDRESS_V1);
  self->clock = host->get_service(host, MUSTER_CLOCK_V1);
  int32_t code = MUSTER_OK;
  if (reader == NULL || self->http == NULL || self->environment == NULL || self->address == NULL ||
      self->clock == NULL) {
    code =
        fail(self, error, MUSTER_E_UNIMPLEMENTED, "this muster lacks a service that roster needs");
  } else if (reader->get_text(host, "/url", &self->url.data, &self->url.size) != MUSTER_OK ||
             reader->get_text(host, "/job", &self->job.data, &self->job.size) != MUSTER_OK) {
    /* The schema requires it or has a default for it, so only a broken core comes here. */
    code = fail(self, error, MUSTER_E_INVALID_ARGUMENT, "an option is not there");
  } else {
    reader->get_integer(host, "/port", &self->port); /* what is not given stays 0 or NULL */
    reader->get_text(host, "/identity_variable", &self->identity_variable, &size);
    reader->get_text(host, "/token", &self->token.data, &self->token.size);
    if (self->token.size > 0) {
      self->authorization = malloc(self->token.size + sizeof "Bearer ");
      if (self->authorization == NULL)
        code = fail(self, error, MUSTER_E_RESOURCE_EXHAUSTED, "out of memory");
      else
        sprintf(self->authorization, "Bearer %s", self->token.data);
    }
  }
  if (code != MUSTER_OK) {
    destroy(self);
    return code;
  }
  *resolver = self;
  return MUSTER_OK;
}

/* Takes the next word off a line; an empty one when there is none. */
static struct text take_word(struct text *line) {
  struct text word;
  while (line->size > 0 && (*line->data == ' ' || *line->data == '\t')) ++line->data, --line->size;
  word.data = line->data;
  while (line->size > 0 && *line->data != ' ' && *line->data != '\t') ++line->data, --line->size;
  word.size = (uint64_t)(line->data - word.data);
  return word;
}

/* Says which line of the list is wrong, why, and what a line looks like. */
static int32_t fail_at(muster_resolver *self, muster_error *error, int number, const char *why) {
  char message[2048];
  snprintf(message, sizeof message, "%.1000s:%d: %.700s; " LINE, self->url.data, number, why);
  return fail(self, error, MUSTER_E_DATA_LOSS, message);
}

/* Pushes the member of one line. What the core would refuse is a fault of the list, so it is told with its line. */
static int32_t push_line(muster_resolver *self, const muster_call_v1 *call, muster_error *error,
                         struct text line, int number, struct text own_name) {
  for (uint64_t n = 0; n < line.size; ++n)
    if (line.data[n] != '\t' && (line.data[n] < ' ' || line.data[n] > '~'))
      return fail_at(self, error, number, "there is a byte that is no printable ASCII");
  const struct text name = take_word(&line);
  if (name.size == 0 || *name.data == '#') return MUSTER_OK;
  const struct text address = take_word(&line);
  if (address.size == 0) return fail_at(self, error, number, "there is no address");

  int32_t code;
  if (address.size == 1 && *address.data == '-') {
    while (line.size > 0 && (*line.data == ' ' || *line.data == '\t')) ++line.data, --line.size;
    const char unsaid[] = "the list has no address for it";
    const muster_missing_v1 missing = {
        .struct_size = sizeof missing,
        .job = MUSTER_TEXT(self->job.data),
        .index = MUSTER_UNRANKED,
        .name = name.data,
        .name_size = name.size,
        .reason = line.size > 0 ? line.data : unsaid,
        .reason_size = line.size > 0 ? line.size : sizeof unsaid - 1};
    code = call->add_missing(call, &missing);
  } else {
    /* An address has its port, or gets the option's. Which of the two, the core knows; nobody looks for a colon. */
    char reason[512];
    int64_t port = 0;
    if (take_word(&line).size > 0) return fail_at(self, error, number, "there is a third word");
    if (self->address->check(address.data, address.size, 0, reason, sizeof reason) != MUSTER_OK) {
      port = self->port;
      if (port == 0 || self->address->check(address.data, address.size, port, reason,
                                            sizeof reason) != MUSTER_OK)
        return fail_at(self, error, number, reason);
    }
    const muster_task_v1 task = {.struct_size = sizeof task,
                                 .job = MUSTER_TEXT(self->job.data),
                                 .index = MUSTER_UNRANKED,
                                 .name = name.data,
                                 .name_size = name.size,
                                 .address = address.data,
                                 .address_size = address.size,
                                 .port = port};
    code = call->add_task(call, &task);
  }
  if (code != MUSTER_OK) return code; /* refused: the core has said why */

  if (own_name.size != name.size || memcmp(own_name.data, name.data, name.size) != 0)
    return MUSTER_OK;
  char evidence[512];
  snprintf(evidence, sizeof evidence, "%.100s is '%.*s'",
           self->identity_variable == NULL ? "the host's name" : self->identity_variable,
           (int)(name.size < 300 ? name.size : 300), name.data);
  const muster_identity_v1 identity = {.struct_size = sizeof identity,
                                       .job = MUSTER_TEXT(self->job.data),
                                       .index = MUSTER_UNRANKED,
                                       .name = name.data,
                                       .name_size = name.size,
                                       .evidence = MUSTER_TEXT(evidence)};
  return call->set_identity(call, &identity);
}

/* What this process is called; empty when nobody says. The core is asked, so that a recorded resolve can be replayed (MP-14). */
static struct text find_own_name(muster_resolver *self, const muster_call_v1 *call) {
  struct text name = {"", 0};
  const int32_t code =
      self->identity_variable == NULL
          ? self->environment->get_hostname(call, &name.data, &name.size)
          : self->environment->get_variable(call, self->identity_variable, &name.data, &name.size);
  if (code != MUSTER_OK) name.size = 0;
  return name;
}

static int32_t push_list(muster_resolver *self, const muster_call_v1 *call, muster_error *error,
                         struct text list) {
  const struct text own_name = find_own_name(self, call);
  int32_t code = call->add_job(call, self->job.data, self->job.size); /* it may have no member */
  for (int number = 1; code == MUSTER_OK && list.size > 0; ++number) {
    const char *newline = memchr(list.data, '\n', list.size);
    struct text line = {list.data, newline == NULL ? list.size : (uint64_t)(newline - list.data)};
    list.data += line.size + (newline == NULL ? 0 : 1);
    list.size -= line.size + (newline == NULL ? 0 : 1);
    if (line.size > 0 && line.data[line.size - 1] == '\r') --line.size;
    code = call->is_cancelled(call)
               ? fail(self, error, MUSTER_E_CANCELLED, "cancelled while reading the list")
               : push_line(self, call, error, line, number, own_name);
  }
  return code;
}

/* What a status other than 200 means. */
static int32_t fail_with_status(muster_resolver *self, muster_error *error, int64_t status) {
  char message[1200], number[24];
  const char *hint = "";
  int32_t code = MUSTER_E_FAILED_PRECONDITION;
  if (status == 401) code = MUSTER_E_UNAUTHENTICATED, hint = "give or renew the option 'token'";
  if (status == 403) code = MUSTER_E_PERMISSION_DENIED, hint = "the token may not read this list";
  if (status == 404 || status == 410) code = MUSTER_E_NOT_FOUND, hint = "look at the option 'url'";
  if (status == 429) code = MUSTER_E_RESOURCE_EXHAUSTED, hint = "ask less often";
  if (status == 408 || status >= 500) code = MUSTER_E_UNAVAILABLE;
  snprintf(message, sizeof message, "%.1000s answered with status %d", self->url.data, (int)status);
  snprintf(number, sizeof number, "%d", (int)status);
  fail(self, error, code, message);
  self->host->add_detail(error, "http_status", MUSTER_TEXT(number));
  if (*hint != '\0') self->host->add_detail(error, "hint", MUSTER_TEXT(hint));
  return code;
}

/* Asks for the list, with an ETag only if it is another one. Fills `response` on MUSTER_OK alone; its status is 200 or 304. */
static int32_t ask(muster_resolver *self, const muster_call_v1 *call, const char *etag,
                   muster_http_response_v1 *response, muster_error *error) {
  muster_http_header_v1 headers[2];
  muster_http_request_v1 request = {.struct_size = sizeof request,
                                    .method = "GET",
                                    .url = MUSTER_TEXT(self->url.data),
                                    .headers = headers,
                                    .purpose = "the list of members",
                                    .timeout_ns = 30 * SECOND}; /* a watch has no other deadline */
  if (self->authorization != NULL) {
    headers[request.header_count].name = "Authorization";
    headers[request.header_count].value = self->authorization;
    headers[request.header_count++].value_size = MUSTER_NUL_TERMINATED;
  }
  if (etag[0] != '\0') {
    headers[request.header_count].name = "If-None-Match";
    headers[request.header_count].value = etag;
    headers[request.header_count++].value_size = MUSTER_NUL_TERMINATED;
  }
  memset(response, 0, sizeof *response);
  response->struct_size = sizeof *response;
  int32_t code = self->http->send(call, &request, response, error);
  if (code != MUSTER_OK) return code; /* the core has filled the error */
  if (response->status == 200 || (response->status == 304 && etag[0] != '\0')) return MUSTER_OK;
  code = fail_with_status(self, error, response->status);
  self->http->release(call, response);
  return code;
}

static int32_t resolve(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  muster_http_response_v1 response;
  const int32_t code = ask(self, call, "", &response, error);
  if (code != MUSTER_OK) return code;
  const struct text list = {response.body, response.body_size};
  return push_list(self, call, error, list); /* the response goes with the call */
}

/* Commits the list, and again whenever its ETag has changed, for which it is asked as often as the user wants. Without ETags the
 * core had better ask resolve. */
static int32_t watch(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  char etag[256] = "";
  for (;;) {
    muster_http_response_v1 response;
    const char *value;
    uint64_t size;
    int32_t code = ask(self, call, etag, &response, error);
    if (code != MUSTER_OK) return code;
    if (response.status == 200) {
      if (self->http->get_header(&response, "ETag", &value, &size) != MUSTER_OK ||
          size >= sizeof etag)
        return fail(self, error, MUSTER_E_UNIMPLEMENTED, "the list has no ETag to watch it by");
      memcpy(etag, value, size);
      etag[size] = '\0';
      const struct text list = {response.body, response.body_size};
      code = push_list(self, call, error, list);
      if (code == MUSTER_OK) code = call->commit(call);
    }
    self->http->release(call, &response); /* a watch would collect them */
    if (code == MUSTER_OK) code = self->clock->sleep_ns(call, call->interval_ns);
    if (code == MUSTER_E_CANCELLED) return fail(self, error, code, "the watch was cancelled");
    if (code != MUSTER_OK) return code;
  }
}

static const void *get_extension(const char *id) {
  static const muster_watch_v1 table = {sizeof table, watch};
  return strcmp(id, MUSTER_WATCH_V1) == 0 ? &table : NULL;
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
    NULL, /* interrupt: every wait here is a service's, which ends by itself */
    get_extension,
};

/* The one symbol of the file. */
const muster_plugin_v1 *muster_plugin_entry_v1(const muster_host_v1 *host) {
  (void)host;
  return &plugin;
}

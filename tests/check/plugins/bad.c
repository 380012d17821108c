/* Backend "bad": right in all but one thing, which a macro chooses when it is compiled. muster-check must find it, and say which duty. */
#include <muster/http.h>
#include <muster/plugin.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION "1.0.0"
#endif

MUSTER_DESCRIPTOR({
  "name" : "bad",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : 0},
  "description" : "Breaks one duty.",
  "options" : {
    "type" : "object",
    "properties" : {
      "count" : {"type" : "integer", "minimum" : 1, "maximum" : 8, "default" : 3},
      "label" : {"type" : "string"},
      "token" : {"type" : "string", "writeOnly" : true}
    }
  },
  "services" : [ "muster.options/1", "muster.clock/1", "muster.http/1" ]
})

struct muster_resolver {
  const muster_host_v1 *host;
  int64_t count;
  char token[64];
};

#define TEXT(text) (text), sizeof(text) - 1

static void nap_ms(long ms) {
  const struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&rest, NULL);
}

#if defined(LEAKS_THREAD)
static void *sleep_on(void *unused) {
  nap_ms(20000);
  return unused;
}
#endif

#if defined(EXPORTS_MORE)
MUSTER_EXPORT int bad_helper(void);
int bad_helper(void) { return 1; }
#endif

static int32_t create(const muster_host_v1 *host, const char *options, uint64_t options_size,
                      muster_resolver **resolver, muster_error *error) {
  const muster_options_v1 *reader = host->get_service(host, MUSTER_OPTIONS_V1);
  struct muster_resolver *self;
  (void)options;
  (void)options_size;
#if defined(CRASHES_WITHOUT_SERVICES)
  if (*(const volatile uint64_t *)&reader->struct_size == 1) return MUSTER_E_INTERNAL;
#endif
#if defined(CRASHES_IN_CREATE)
  *(volatile int *)8 = 1;
#endif
#if defined(EXITS_IN_CREATE)
  exit(0);
#endif
#if defined(WAITS_IN_CREATE)
  nap_ms(30);
#endif
#if defined(FAILS_SILENTLY)
  return MUSTER_E_INVALID_ARGUMENT;
#endif
#if defined(MAKES_NOTHING)
  return MUSTER_OK;
#endif
  self = calloc(1, sizeof *self);
  if (self == NULL) return host->set_error(error, MUSTER_E_RESOURCE_EXHAUSTED, TEXT("no memory"));
  self->host = host;
  self->count = 3;
  if (reader != NULL) {
    const char *token = "";
    uint64_t size = 0;
    reader->get_integer(host, "/count", &self->count);
    if (reader->get_text(host, "/token", &token, &size) == MUSTER_OK)
      strncpy(self->token, token, sizeof self->token - 1);
#if defined(CRASHES_ON_STRANGE_OPTION)
    if (reader->get_text(host, "/label", &token, &size) == MUSTER_OK && size == 0) abort();
#endif
  }
#if defined(REFUSES_SMALL_COUNT_WRONGLY)
  if (self->count == 1) {
    free(self);
    return 4711;
  }
#endif
#if defined(LEAKS_THREAD)
  {
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_on, NULL);
    pthread_detach(thread);
  }
#endif
#if defined(LEAKS_FILE)
  (void)!open("/dev/null", O_RDONLY);
#endif
#if defined(CHANGES_LOCALE)
  setlocale(LC_ALL, "C.UTF-8");
#endif
#if defined(CHANGES_DIRECTORY)
  (void)!chdir("/");
#endif
#if defined(CHANGES_ENVIRONMENT)
  setenv("BAD_WAS_HERE", "1", 1);
#endif
#if defined(CHANGES_UMASK)
  umask(0077);
#endif
#if defined(HANDLES_SIGNAL)
  signal(SIGPIPE, SIG_IGN);
#endif
  *resolver = self;
  return MUSTER_OK;
}

static void destroy(muster_resolver *self) {
#if defined(HANGS_IN_DESTROY)
  nap_ms(20000);
#endif
  free(self);
}

static int32_t send_request(muster_resolver *self, const muster_call_v1 *call,
                            muster_http_response_v1 *response, muster_error *error) {
  const muster_host_v1 *host = self->host;
  const muster_http_v1 *http = host->get_service(host, MUSTER_HTTP_V1);
  const muster_http_request_v1 request = {.struct_size = sizeof request,
                                          .method = "GET",
                                          .url = MUSTER_TEXT("http://roster.test/members")};
  if (http == NULL) return host->set_error(error, MUSTER_E_UNIMPLEMENTED, TEXT("no muster.http/1"));
  response->struct_size = sizeof *response;
  return http->send(call, &request, response, error);
}

#if defined(ASKS)
/* Asks a roster of lines "name address" over HTTP; how wrong answers are dealt with is what the macros are about. */
static int32_t push(const muster_call_v1 *call, const char *name, uint64_t name_size,
                    const char *address, uint64_t address_size);

static int32_t ask(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  const muster_host_v1 *host = self->host;
  muster_http_response_v1 response = {0};
  const char *line;
  int32_t code = send_request(self, call, &response, error);
#if defined(TRIES_FOR_EVER)
  while (code != MUSTER_OK) {
    nap_ms(5);
    code = send_request(self, call, &response, NULL);
  }
#endif
  if (code != MUSTER_OK) return code;
#if !defined(IGNORES_STATUS)
  if (response.status != 200) {
#if defined(CONFUSES_CODES)
    code = MUSTER_E_NOT_FOUND;
#else
    code = response.status == 401   ? MUSTER_E_UNAUTHENTICATED
           : response.status == 403 ? MUSTER_E_PERMISSION_DENIED
           : response.status == 404 ? MUSTER_E_NOT_FOUND
           : response.status == 429 ? MUSTER_E_RESOURCE_EXHAUSTED
                                    : MUSTER_E_UNAVAILABLE;
#endif
    return host->set_error(error, code, TEXT("the roster is not given"));
  }
#endif
  if (response.body_size == 0 || response.body[0] != '[' ||
      response.body[response.body_size - 1] != ']') {
#if !defined(TAKES_HALF)
    return host->set_error(error, MUSTER_E_DATA_LOSS, TEXT("the roster is no JSON list"));
#endif
  }
  /* Every text between quotes is an address. */
  for (line = strchr(response.body, '"'); line != NULL; line = strchr(line + 1, '"')) {
    const char *end = strchr(line + 1, '"');
    if (end == NULL) break;
    code = push(call, line + 1, (uint64_t)(end - line - 1), line + 1, (uint64_t)(end - line - 1));
    if (code != MUSTER_OK) return code;
    line = end;
  }
  return MUSTER_OK;
}
#endif

#if defined(THROWS)
void throw_something(void); /* throws.cc */
#endif
#if defined(READS_AS_CPP_DOES)
void read_somehow(void); /* reads.cc */
#endif

#if defined(PUSHES_ON_A_THREAD)
struct apart {
  const muster_call_v1 *call;
  const muster_task_v1 *task;
  int32_t code;
};
static void *push_there(void *argument) {
  struct apart *apart = argument;
  apart->code = apart->call->add_task(apart->call, apart->task);
  return NULL;
}
static int32_t push_apart(const muster_call_v1 *call, const muster_task_v1 *task) {
  struct apart apart = {call, task, MUSTER_E_INTERNAL};
  pthread_t thread;
  if (pthread_create(&thread, NULL, push_there, &apart) == 0) pthread_join(thread, NULL);
  return apart.code;
}
#endif

__attribute__((unused)) static int32_t push(const muster_call_v1 *call, const char *name,
                                            uint64_t name_size, const char *address,
                                            uint64_t address_size) {
  muster_task_v1 task = {0};
  task.struct_size = sizeof task;
#if defined(MISSTATES_SIZE)
  task.struct_size = 20;
#endif
#if defined(PUSHES_FIRST)
  { /* what is wrong with another push */
    const int32_t code = PUSHES_FIRST;
    if (code != MUSTER_OK) return code;
  }
#endif
  task.job = "worker";
  task.job_size = 6;
  task.index = MUSTER_UNRANKED;
  task.name = name;
  task.name_size = name_size;
  task.address = address;
  task.address_size = address_size;
#if defined(CHANGES_TASK)
  CHANGES_TASK;
#endif
#if defined(PUSHES_ON_A_THREAD)
  return push_apart(call, &task);
#else
  return call->add_task(call, &task);
#endif
}

static int32_t resolve(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
#if !defined(ASKS)
  int64_t i;
#endif
  (void)error;
#if defined(WRITES_TO_STDOUT)
  puts("resolving");
  fflush(stdout);
#endif
#if defined(WRITES_TO_STDERR)
  fputs("resolving\n", stderr);
#endif
#if defined(LOGS_SECRET)
  {
    char line[128];
    snprintf(line, sizeof line, "the token is %s", self->token);
    self->host->log(self->host, MUSTER_LOG_DEBUG, line, MUSTER_NUL_TERMINATED);
  }
#endif
#if defined(THROWS)
  throw_something();
#endif
#if defined(FORKS)
  {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
#endif
#if defined(RUNS_PROGRAM)
  (void)!system("true");
#endif
#if defined(READS_VARIABLE)
  (void)!getenv("BAD_ROSTER");
#endif
#if defined(READS_TIME)
  (void)!time(NULL);
#endif
#if defined(READS_FILE)
  {
    FILE *file = fopen("/etc/hostname", "r");
    if (file != NULL) fclose(file);
  }
#endif
#if defined(READS_AS_CPP_DOES)
  read_somehow();
#endif
#if defined(CONNECTS)
  {
    struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_port = htons(9)};
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)!connect(connection, (struct sockaddr *)&nobody, sizeof nobody);
    close(connection);
  }
#endif
#if defined(BLOCKS_SIGNALS)
  {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
  }
#endif
#if defined(IGNORES_DEADLINE)
  nap_ms(1500);
#endif
#if defined(WRITES_INTO_CALL)
  ((muster_call_v1 *)(uintptr_t)call)->deadline_ns = 0;
#endif
#if defined(READS_BEHIND_CALL)
  if (((const uint64_t *)(const void *)call)[sizeof *call / 8] == 1) return MUSTER_E_INTERNAL;
#endif
#if defined(CALLS_LATER_FUNCTION)
  if (call->struct_size > sizeof *call) {
    int32_t (*later)(const muster_call_v1 *);
    memcpy(&later, (const char *)call + sizeof *call, sizeof later);
    return later(call);
  }
#endif
#if defined(WANTS_ITS_OWN_MINOR)
  if (self->host->abi_minor != MUSTER_PLUGIN_ABI_MINOR ||
      self->host->struct_size != sizeof *self->host)
    return self->host->set_error(error, MUSTER_E_FAILED_PRECONDITION, TEXT("another muster"));
#endif
#if defined(ASKS)
  return ask(self, call, error);
#else
  for (i = 0; i < self->count; ++i) {
    char name[32], address[64];
    int32_t code;
    snprintf(name, sizeof name, "w-%d", (int)i);
    snprintf(address, sizeof address, "10.0.0.%d:8470", (int)i + 1);
#if defined(WRONG_ADDRESS)
    strcpy(address, "10.0.0.1");
#endif
    code = push(call, name, strlen(name), address, strlen(address));
#if defined(OK_AFTER_REFUSAL)
    if (code != MUSTER_OK) return MUSTER_OK;
#elif defined(GOES_ON_AFTER_REFUSAL)
    if (code != MUSTER_OK && i + 1 == self->count) return code;
#elif defined(OTHER_CODE_AFTER_REFUSAL)
    if (code != MUSTER_OK)
      return self->host->set_error(error, MUSTER_E_UNAVAILABLE, TEXT("somehow not"));
#else
    if (code != MUSTER_OK) return code;
#endif
  }
#if defined(OK_WITH_ERROR)
  self->host->set_error(error, MUSTER_E_NOT_FOUND, TEXT("half of it"));
#endif
  return MUSTER_OK;
#endif
}

#if defined(WATCH_ENDS_WELL) || defined(WATCH_IGNORES_CANCEL)
static int32_t watch(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  int32_t code = resolve(self, call, error);
  if (code == MUSTER_OK) code = call->commit(call);
  if (code != MUSTER_OK) return code;
#if defined(WATCH_IGNORES_CANCEL)
  nap_ms(1500);
#endif
#if defined(WATCH_ENDS_WELL)
  return MUSTER_OK;
#else
  return MUSTER_E_CANCELLED;
#endif
}
#define WATCH watch
#else
#define WATCH NULL
#endif
static const muster_watch_v1 watching = {sizeof watching, WATCH};

static int32_t permissions(muster_resolver *self, const muster_permissions_request_v1 *request,
                           const muster_call_v1 *call, muster_error *error) {
  const int watches = (request->flags & MUSTER_PERMISSIONS_WATCH) != 0;
  muster_permission_v1 permission = {.struct_size = sizeof permission,
                                     .scope = MUSTER_TEXT("roster.test"),
                                     .rule = MUSTER_TEXT("list members")};
  int32_t code = MUSTER_OK;
  (void)self, (void)error;
#if defined(ASKS_FOR_PERMISSIONS)
  {
    muster_http_response_v1 response = {0};
    send_request(self, call, &response, NULL);
  }
#endif
#if defined(PERMITS_NOTHING)
  permission.rule_size = 0;
#endif
#if defined(FORGETS_FOR_A_WATCH)
  if (!watches)
#endif
    code = call->add_permission(call, &permission);
#if defined(PERMITS_MORE_EACH_TIME)
  {
    static char rule[] = "rule 0";
    ++rule[5];
    permission.rule = rule;
    if (code == MUSTER_OK) code = call->add_permission(call, &permission);
  }
#endif
  permission.rule = "watch members";
  if (code == MUSTER_OK && watches) code = call->add_permission(call, &permission);
#if !defined(GRANTS_NOTHING)
  if (code == MUSTER_OK) code = call->set_grant(call, TEXT("sh"), TEXT("# allow\n"));
#endif
  return code;
}
static const muster_permissions_v1 permitting = {sizeof permitting, permissions};

#ifndef PLANNED
#define PLANNED 1
#endif

static int32_t plan(muster_resolver *self, const muster_plan_request_v1 *request,
                    const muster_call_v1 *call, muster_error *error) {
  const muster_planned_v1 planned = {.struct_size = sizeof planned,
                                     .api = MUSTER_TEXT("roster.test"),
                                     .request = MUSTER_TEXT("GET members"),
                                     .least = PLANNED,
                                     .most = PLANNED};
  (void)self, (void)error, (void)request;
#if defined(ASKS_FOR_A_PLAN)
  {
    muster_http_response_v1 response = {0};
    send_request(self, call, &response, NULL);
  }
#endif
#if defined(ASKS) && !defined(PLANS_NOTHING)
  return call->add_planned(call, &planned);
#else
  (void)call, (void)planned;
  return MUSTER_OK;
#endif
}
static const muster_plan_v1 planning = {sizeof planning, plan};

static const void *get_extension(const char *id) {
#if defined(ANY_EXTENSION)
  if (strcmp(id, "muster.nothing/1") == 0) return &planning;
#endif
  return watching.watch != NULL && strcmp(id, MUSTER_WATCH_V1) == 0 ? (const void *)&watching
         : strcmp(id, MUSTER_PERMISSIONS_V1) == 0                   ? (const void *)&permitting
         : strcmp(id, MUSTER_PLAN_V1) == 0                          ? (const void *)&planning
                                                                    : NULL;
}

#ifndef SIZE
#define SIZE sizeof(muster_plugin_v1)
#endif

static const muster_plugin_v1 plugin = {
    SIZE,
    MUSTER_PLUGIN_ABI_MAJOR,
    MUSTER_PLUGIN_ABI_MINOR,
    "bad",
    VERSION,
    create,
    destroy,
    resolve,
    NULL,
    get_extension,
};

#ifndef NO_ENTRY
const muster_plugin_v1 *muster_plugin_entry_v1(const muster_host_v1 *host) {
  (void)host;
  return &plugin;
}
#endif

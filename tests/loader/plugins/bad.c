/* Backend "bad": does what its option `do` says, mostly what a backend must not. */
#include <muster/plugin.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

MUSTER_DESCRIPTOR({
  "name" : "bad",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : 0},
  "description" : "Misbehaves on demand, for the tests of the core.",
  "options" : {"type" : "object", "properties" : {"do" : {"type" : "string"}}}
})

struct muster_resolver {
  const muster_host_v1 *host;
  char what[64];
  int interrupted; /* written by another thread: __atomic */
};

#define TEXT(text) (text), sizeof(text) - 1

static void nap(void) {
  const struct timespec rest = {0, 2000000};
  nanosleep(&rest, NULL);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int32_t create(const muster_host_v1 *host, const char *options, uint64_t options_size,
                      muster_resolver **resolver, muster_error *error) {
  const muster_options_v1 *reader = host->get_service(host, MUSTER_OPTIONS_V1);
  const char *what = "";
  uint64_t size = 0;
  (void)options;
  (void)options_size;
  reader->get_text(host, "/do", &what, &size);
  if (strcmp(what, "create_fails") == 0) {
    host->set_error(error, MUSTER_E_INVALID_ARGUMENT, TEXT("no such zone"));
    host->add_detail(error, "option", TEXT("/do"));
    return MUSTER_E_INVALID_ARGUMENT;
  }
  if (strcmp(what, "create_fails_silently") == 0) return MUSTER_E_UNAVAILABLE;
  if (strcmp(what, "create_returns_odd_code") == 0) return -5;
  if (strcmp(what, "create_makes_nothing") == 0) return MUSTER_OK;
  struct muster_resolver *self = calloc(1, sizeof *self);
  self->host = host;
  strncpy(self->what, what, sizeof self->what - 1);
  *resolver = self;
  if (strcmp(what, "create_succeeds_with_error") == 0)
    host->set_error(error, MUSTER_E_NOT_FOUND, TEXT("half a success"));
  return MUSTER_OK;
}

static void destroy(muster_resolver *self) {
  self->host->log(self->host, MUSTER_LOG_INFO, TEXT("destroyed"));
  free(self);
}

static void interrupt(muster_resolver *self) {
  __atomic_store_n(&self->interrupted, 1, __ATOMIC_RELEASE);
  while (strcmp(self->what, "interrupt_hangs") == 0) nap();
}

static int32_t push(const muster_call_v1 *call, const char *job, int64_t index, const char *name,
                    const char *address) {
  muster_task_v1 task = {sizeof task,           job,     MUSTER_NUL_TERMINATED, index, name,
                         MUSTER_NUL_TERMINATED, address, MUSTER_NUL_TERMINATED, 0};
  return call->add_task(call, &task);
}

/* Waits until it is told to stop by one of the ways, or for a time. */
static void hang(muster_resolver *self, const muster_call_v1 *call, int obeys_cancel,
                 int obeys_interrupt, int64_t most_ns) {
  const int64_t until = now_ns() + most_ns;
  while (now_ns() < until) {
    if (obeys_cancel && call->is_cancelled(call)) return;
    if (obeys_interrupt && __atomic_load_n(&self->interrupted, __ATOMIC_ACQUIRE)) return;
    nap();
  }
}

static int32_t resolve(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  const muster_host_v1 *host = self->host;
  const char *what = self->what;
  const int64_t second = 1000000000;
  int32_t code = push(call, "worker", 0, "w0", "10.0.0.1:8470");
  if (code != MUSTER_OK) return code;

  if (strcmp(what, "duplicate_index") == 0)
    return push(call, "worker", 0, "again", "10.0.0.2:8470");
  if (strcmp(what, "negative_index") == 0) return push(call, "worker", -2, "w", "10.0.0.2:8470");
  if (strcmp(what, "empty_job") == 0) return push(call, "", 0, "w", "10.0.0.2:8470");
  if (strcmp(what, "mixed_ranks") == 0)
    return push(call, "worker", MUSTER_UNRANKED, "w", "10.0.0.2:8470");
  if (strcmp(what, "invalid_utf8") == 0) return push(call, "worker", 1, "\xc3(", "10.0.0.2:8470");
  if (strcmp(what, "bad_address") == 0) return push(call, "worker", 1, "w", "10.0.0.2");
  if (strcmp(what, "nul_in_address") == 0) {
    muster_task_v1 task = {sizeof task, TEXT("worker"), 1, "", 0, TEXT("10.0.0.2\0:8470"), 0};
    return call->add_task(call, &task);
  }
  if (strcmp(what, "too_many") == 0) {
    int64_t i;
    for (i = 1; i < 2 * MUSTER_TASKS_MAXIMUM; ++i) {
      code = push(call, "worker", i, "", "10.0.0.2:8470");
      if (code != MUSTER_OK) return code;
    }
  }
  if (strcmp(what, "ignores_refusal") == 0) {
    push(call, "worker", -2, "w", "10.0.0.2:8470");
    push(call, "worker", 1, "w1", "10.0.0.2:8470");
    return MUSTER_OK;
  }
  if (strcmp(what, "hides_refusal") == 0) {
    push(call, "worker", -2, "w", "10.0.0.2:8470");
    return host->set_error(error, MUSTER_E_NOT_FOUND, TEXT("nothing here"));
  }
  if (strcmp(what, "ok_with_error") == 0) {
    host->set_error(error, MUSTER_E_NOT_FOUND, TEXT("nothing here"));
    return MUSTER_OK;
  }
  if (strcmp(what, "ok_after_taking_back") == 0) {
    host->set_error(error, MUSTER_E_NOT_FOUND, TEXT("not in this file"));
    host->set_error(error, MUSTER_OK, "", 0);
    return MUSTER_OK;
  }
  if (strcmp(what, "fails") == 0)
    return host->set_error(error, MUSTER_E_NOT_FOUND, TEXT("no pod matches"));
  if (strcmp(what, "fails_silently") == 0) return MUSTER_E_UNAVAILABLE;
  if (strcmp(what, "odd_code") == 0) return 4711;

  if (strcmp(what, "waits_for_cancel") == 0) {
    hang(self, call, 1, 0, 30 * second);
    return MUSTER_E_CANCELLED;
  }
  if (strcmp(what, "waits_for_interrupt") == 0) {
    hang(self, call, 0, 1, 30 * second);
    return MUSTER_E_CANCELLED;
  }
  if (strcmp(what, "interrupt_hangs") == 0) {
    hang(self, call, 0, 1, 30 * second);
    return MUSTER_E_CANCELLED;
  }
  if (strcmp(what, "hangs") == 0) {
    call->set_progress(call, TEXT("a server that never answers"));
    hang(self, call, 0, 0, 30 * second);
    return MUSTER_OK;
  }
  if (strcmp(what, "hangs_for_a_second") == 0) hang(self, call, 0, 0, second);
  if (strcmp(what, "slow") == 0) hang(self, call, 0, 0, second / 10);
  return MUSTER_OK;
}

static const muster_plugin_v1 plugin = {
    sizeof plugin,
    MUSTER_PLUGIN_ABI_MAJOR,
    MUSTER_PLUGIN_ABI_MINOR,
    "bad",
    "1.0.0",
    create,
    destroy,
    resolve,
    interrupt,
    NULL,
};

const muster_plugin_v1 *muster_plugin_entry_v1(const muster_host_v1 *host) {
  (void)host;
  return &plugin;
}

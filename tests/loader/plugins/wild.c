/* Backend "wild": what no plugin may do, and what only a process of its own survives. Its option `do` says what. */
#include <muster/plugin.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

MUSTER_DESCRIPTOR({
  "name" : "wild",
  "version" : "1.0.0",
  "abi" : {"major" : 1, "minor" : 0},
  "description" : "Harms its process on demand, for the tests of isolation.",
  "environment" : ["WILD_ASKED"],
  "options" :
      {"type" : "object",
       "properties" : {"do" : {"type" : "string"}, "file" : {"type" : "string"}}}
})

struct muster_resolver {
  const muster_host_v1 *host;
  char what[64];
  char file[512];
};

#define TEXT(text) (text), sizeof(text) - 1

static void option(const muster_host_v1 *host, const char *pointer, char *to, size_t size) {
  const muster_options_v1 *reader = host->get_service(host, MUSTER_OPTIONS_V1);
  const char *text = "";
  uint64_t text_size = 0;
  reader->get_text(host, pointer, &text, &text_size);
  snprintf(to, size, "%s", text);
}

/* A page that nobody may touch: some virtual machines let a program write to the address zero. */
static void crash(void) {
  volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *page = 1;
}

/* From now until behind the call's deadline, which is half a second away, this process reads nothing. */
static void stop_for_a_while(void) {
  const struct timespec time = {0, 650000000};
  if (fork() == 0) {
    kill(getppid(), SIGSTOP);
    nanosleep(&time, NULL);
    kill(getppid(), SIGCONT);
    _exit(0);
  }
}

static void wait_for_ever(void) {
  for (;;) pause();
}

static void say_who_this_is(const char *file) {
  FILE *out = fopen(file, "w");
  fprintf(out, "%d\n", (int)getpid());
  fclose(out);
}

/* A process that outlives its parent if nobody sees to it; says in a file who it is. */
static void leave_a_grandchild(const char *file, int own_session) {
  if (fork() != 0) return;
  signal(SIGTERM, SIG_IGN);
  if (own_session) setsid();
  say_who_this_is(file);
  wait_for_ever();
}

static char last_word_file[512];

static void say_last_word(int number) {
  const int file = open(last_word_file, O_WRONLY | O_CREAT, 0600);
  (void)number;
  _exit(write(file, "asked to end\n", 13) == 13 ? 0 : 1);
}

static void *spin(void *unused) {
  for (volatile int turn = 0;; turn = 1 - turn) {
  }
  return unused;
}

/* Some threads, so that a loaded machine gives them half a processor too. */
static void spin_from_now_on(void) {
  for (int n = 0; n < 6; ++n) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, spin, NULL) == 0) pthread_detach(thread);
  }
}

/* As many processes of one thread. */
static void spin_in_children(const char *file) {
  for (int n = 0; n < 6; ++n) {
    if (fork() != 0) continue;
    if (n == 0) say_who_this_is(file);
    spin(NULL);
  }
}

/* What its process has and may, a line each. */
static void report(const char *file) {
  char descriptors[256] = "";
  for (int n = 0; n < 64; ++n) {
    if (fcntl(n, F_GETFD) >= 0)
      snprintf(descriptors + strlen(descriptors), sizeof descriptors - strlen(descriptors), " %d",
               n);
  }
  struct rlimit core, data;
  getrlimit(RLIMIT_CORE, &core);
  getrlimit(RLIMIT_DATA, &data);
  FILE *out = fopen(file, "w");
  fprintf(out, "descriptors%s\n", descriptors);
  fprintf(out, "new privileges %s\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? "no" : "yes");
  fprintf(out, "group %s\n", getpgrp() == getpid() ? "own" : "of another");
  fprintf(out, "core %lu\n", (unsigned long)core.rlim_max);
  fprintf(out, "data %lu\n", (unsigned long)data.rlim_max);
  fprintf(out, "asked %s\n", getenv("WILD_ASKED") == NULL ? "" : getenv("WILD_ASKED"));
  fprintf(out, "secret %s\n", getenv("WILD_SECRET") == NULL ? "" : getenv("WILD_SECRET"));
  fclose(out);
}

static int32_t create(const muster_host_v1 *host, const char *options, uint64_t options_size,
                      muster_resolver **resolver, muster_error *error) {
  struct muster_resolver *self = calloc(1, sizeof *self);
  (void)options;
  (void)options_size;
  (void)error;
  self->host = host;
  option(host, "/do", self->what, sizeof self->what);
  option(host, "/file", self->file, sizeof self->file);
  if (strcmp(self->what, "crash in create") == 0) crash();
  *resolver = self;
  return MUSTER_OK;
}

static void destroy(muster_resolver *self) {
  if (strcmp(self->what, "hang in destroy") == 0) wait_for_ever();
  self->host->log(self->host, MUSTER_LOG_INFO, TEXT("destroyed"));
  free(self);
}

static int32_t push(const muster_call_v1 *call, int64_t index, const char *address) {
  muster_task_v1 task = {sizeof task, "worker", 6, index, "", 0, address, MUSTER_NUL_TERMINATED, 0};
  return call->add_task(call, &task);
}

static int32_t resolve(muster_resolver *self, const muster_call_v1 *call, muster_error *error) {
  const char *what = self->what;
  (void)error;
  if (strcmp(what, "crash once") == 0 && access(self->file, F_OK) != 0) {
    fclose(fopen(self->file, "w"));
    crash();
  }
  if (strcmp(what, "crash") == 0) {
    push(call, 0, "10.0.0.1:1");
    crash();
  }
  if (strcmp(what, "abort") == 0) {
    fprintf(stderr, "the invariant does not hold\n");
    abort();
  }
  if (strcmp(what, "exit") == 0) exit(3);
  if (strcmp(what, "loop") == 0) {
    for (volatile int turn = 0;; turn = 1 - turn) {
    }
  }
  if (strcmp(what, "ignore") == 0) {
    signal(SIGTERM, SIG_IGN);
    call->set_progress(call, TEXT("nobody"));
    wait_for_ever();
  }
  if (strcmp(what, "last word") == 0) {
    memcpy(last_word_file, self->file, sizeof last_word_file);
    signal(SIGTERM, say_last_word);
    wait_for_ever();
  }
  if (strcmp(what, "kill its keeper") == 0) {
    say_who_this_is(self->file);
    kill(getppid(), SIGKILL);
    wait_for_ever();
  }
  if (strcmp(what, "allocate") == 0) {
    for (;;) {
      char *block = malloc(1 << 20);
      memset(block, 1, 1 << 20);
    }
  }
  if (strcmp(what, "grandchild") == 0) leave_a_grandchild(self->file, 0);
  if (strcmp(what, "daemon") == 0) {
    leave_a_grandchild(self->file, 1);
    while (access(self->file, F_OK) != 0) usleep(1000);
    crash();
  }
  if (strcmp(what, "daemon and wait") == 0) {
    leave_a_grandchild(self->file, 1);
    wait_for_ever();
  }
  if (strcmp(what, "spin behind the call") == 0) {
    say_who_this_is(self->file);
    spin_from_now_on();
  }
  if (strcmp(what, "spin in grandchildren") == 0) spin_in_children(self->file);
  if (strcmp(what, "spin in daemons") == 0 && fork() == 0) {
    setsid();
    spin_in_children(self->file);
    _exit(0);
  }
  if (strcmp(what, "work") == 0) {
    say_who_this_is(self->file);
    while (clock() < CLOCKS_PER_SEC) {
    }
  }
  if (strcmp(what, "close") == 0) {
    for (int descriptor = 0; descriptor < 1024; ++descriptor) close(descriptor);
    wait_for_ever();
  }
  if (strcmp(what, "flood the sink") == 0) {
    for (int64_t index = 0;; ++index) push(call, index % 2000000000, "10.0.0.1:1");
  }
  if (strcmp(what, "flood the log") == 0) {
    for (;;) self->host->log(self->host, MUSTER_LOG_INFO, TEXT("and another line"));
  }
  if (strcmp(what, "flood the output") == 0) {
    for (;;) printf("and another line\n");
  }
  if (strcmp(what, "report") == 0) report(self->file);
  if (strcmp(what, "read nothing for a while") == 0) {
    const muster_environment_v1 *environment =
        self->host->get_service(self->host, MUSTER_ENVIRONMENT_V1);
    const char *text = NULL;
    uint64_t size = 0;
    stop_for_a_while();
    const int32_t code =
        environment->read_file(call, self->file, UINT64_MAX, 0, &text, &size, error);
    return code != MUSTER_OK ? code : push(call, (int64_t)size, "10.0.0.1:1");
  }
  if (strcmp(what, "garbage") == 0) {
    if (write(3, "this is no frame at all", 23) < 0) return MUSTER_E_INTERNAL;
    wait_for_ever();
  }
  return push(call, 0, "10.0.0.1:1");
}

static const muster_plugin_v1 table = {sizeof table,
                                       MUSTER_PLUGIN_ABI_MAJOR,
                                       MUSTER_PLUGIN_ABI_MINOR,
                                       "wild",
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

/* A launcher in C99 that knows libmuster only by dlopen: resolves, renders, watches, cancels, frees everything.
 *
 *   launcher LIBMUSTER.so PLUGIN_DIR SCRATCH_FILE
 *
 * Prints what it checked; exits with 1 at the first thing that is not so. Run under ASan and valgrind as well. */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <muster/muster.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

/* One function pointer for each function that a launcher of this size needs. */
static struct {
  const char *(*version)(void);
  muster_settings *(*settings_create)(void);
  int32_t (*settings_set)(muster_settings *, const char *, const char *, muster_error **);
  void (*settings_destroy)(muster_settings *);
  int32_t (*open)(const muster_settings *, muster_cluster **, muster_error **);
  int32_t (*resolve)(muster_cluster *, muster_snapshot **, muster_error **);
  int32_t (*permissions)(muster_cluster *, const char *, int32_t, muster_text **, muster_error **);
  int32_t (*plan)(muster_cluster *, int64_t, muster_text **, muster_error **);
  void (*cancel)(muster_cluster *);
  void (*cancel_reset)(muster_cluster *);
  void (*cluster_destroy)(muster_cluster *);
  int32_t (*watch_start)(muster_cluster *, muster_watch **, muster_error **);
  int32_t (*watch_next)(muster_watch *, int64_t, muster_snapshot **, muster_error **);
  int32_t (*watch_fd)(const muster_watch *);
  void (*watch_destroy)(muster_watch *);
  int32_t (*snapshot_complete)(const muster_snapshot *);
  size_t (*snapshot_task_count)(const muster_snapshot *);
  const char *(*snapshot_address)(const muster_snapshot *, const char *, int64_t, size_t *);
  int64_t (*snapshot_task_id)(const muster_snapshot *);
  const char *(*snapshot_digest)(const muster_snapshot *, size_t *);
  void (*snapshot_destroy)(muster_snapshot *);
  int32_t (*render)(const muster_snapshot *, const char *, const char *, muster_text **,
                    muster_error **);
  const char *(*text_data)(const muster_text *, size_t *);
  void (*text_destroy)(muster_text *);
  int32_t (*error_code)(const muster_error *);
  const char *(*error_message)(const muster_error *, size_t *);
  int32_t (*error_exit_status)(const muster_error *);
  void (*error_destroy)(muster_error *);
} muster;

static void load(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define LOAD(name)                                              \
  do {                                                          \
    *(void **)(&muster.name) = dlsym(library, "muster_" #name); \
    CHECK(muster.name != NULL);                                 \
  } while (0)
  LOAD(version);
  LOAD(settings_create);
  LOAD(settings_set);
  LOAD(settings_destroy);
  LOAD(open);
  LOAD(resolve);
  LOAD(permissions);
  LOAD(plan);
  LOAD(cancel);
  LOAD(cancel_reset);
  LOAD(cluster_destroy);
  LOAD(watch_start);
  LOAD(watch_next);
  LOAD(watch_fd);
  LOAD(watch_destroy);
  LOAD(snapshot_complete);
  LOAD(snapshot_task_count);
  LOAD(snapshot_address);
  LOAD(snapshot_task_id);
  LOAD(snapshot_digest);
  LOAD(snapshot_destroy);
  LOAD(render);
  LOAD(text_data);
  LOAD(text_destroy);
  LOAD(error_code);
  LOAD(error_message);
  LOAD(error_exit_status);
  LOAD(error_destroy);
#undef LOAD
}

static const char *plugin_dir;

static muster_cluster *open_text(const char *text) {
  muster_settings *settings = muster.settings_create();
  muster_cluster *cluster = NULL;
  muster_error *error = NULL;
  CHECK(muster.settings_set(settings, "config_text", text, &error) == 0);
  CHECK(muster.settings_set(settings, "plugin_dir", plugin_dir, &error) == 0);
  CHECK(muster.settings_set(settings, "watch_interval", "50ms", &error) == 0);
  if (muster.open(settings, &cluster, &error) != 0) {
    fprintf(stderr, "%s\n", muster.error_message(error, NULL));
    exit(1);
  }
  muster.settings_destroy(settings);
  return cluster;
}

static void resolves_a_static_cluster(void) {
  muster_cluster *cluster = open_text(
      "cluster: {backend: static, options: {cluster_spec: {worker: ['10.0.0.1:8470', "
      "'[fd00::2]:8470'], ps: {1: 'p:1'}}}}\n"
      "task: {type: worker, index: 1}\n");
  muster_snapshot *snapshot = NULL;
  muster_text *text = NULL;
  CHECK(muster.resolve(cluster, &snapshot, NULL) == 0);
  CHECK(muster.snapshot_complete(snapshot) == 1);
  CHECK(muster.snapshot_task_count(snapshot) == 3);
  CHECK(strcmp(muster.snapshot_address(snapshot, "worker", 1, NULL), "[fd00::2]:8470") == 0);
  CHECK(strcmp(muster.snapshot_address(snapshot, "worker", 9, NULL), "") == 0);
  CHECK(muster.snapshot_task_id(snapshot) == 1);
  CHECK(strncmp(muster.snapshot_digest(snapshot, NULL), "sha256:", 7) == 0);
  CHECK(muster.render(snapshot, "tf_config", NULL, &text, NULL) == 0);
  CHECK(strstr(muster.text_data(text, NULL), "\"task\"") != NULL);
  muster.text_destroy(text);
  /* A snapshot outlives its cluster. */
  muster.cluster_destroy(cluster);
  CHECK(muster.snapshot_task_count(snapshot) == 3);
  muster.snapshot_destroy(snapshot);
  puts("resolves a static cluster");
}

static void says_what_it_needs(void) {
  muster_cluster *cluster = open_text("cluster: {backend: static, options: {cluster_spec: {}}}\n");
  muster_text *text = NULL;
  CHECK(muster.permissions(cluster, NULL, 0, &text, NULL) == 0);
  CHECK(strstr(muster.text_data(text, NULL), "\"permissions\": []") != NULL);
  muster.text_destroy(text);
  CHECK(muster.permissions(cluster, NULL, 0, NULL, NULL) == 3);
  CHECK(muster.plan(cluster, 3, &text, NULL) == 0);
  CHECK(strstr(muster.text_data(text, NULL), "\"requests\": []") != NULL);
  muster.text_destroy(text);
  CHECK(muster.plan(cluster, 0, &text, NULL) == 3);
  CHECK(muster.plan(cluster, 3, NULL, NULL) == 3);
  muster.cluster_destroy(cluster);
  puts("says what it needs and asks");
}

static void tells_what_is_wrong(void) {
  muster_settings *settings = muster.settings_create();
  muster_cluster *cluster = NULL;
  muster_error *error = NULL;
  CHECK(muster.settings_set(settings, "timeuot", "1s", &error) == 3);
  CHECK(strstr(muster.error_message(error, NULL), "timeout") != NULL);
  muster.error_destroy(error);
  error = NULL;
  CHECK(muster.settings_set(settings, "config_text", "cluster: {backend: static, optoins: {}}",
                            NULL) == 0);
  CHECK(muster.settings_set(settings, "plugin_dir", plugin_dir, NULL) == 0);
  CHECK(muster.open(settings, &cluster, &error) == 3);
  CHECK(cluster == NULL);
  CHECK(strstr(muster.error_message(error, NULL), "<text>:1:28") != NULL);
  CHECK(strstr(muster.error_message(error, NULL), "options") != NULL);
  CHECK(muster.error_exit_status(error) == 12);
  muster.error_destroy(error);
  CHECK(muster.open(settings, &cluster, NULL) == 3);
  muster.settings_destroy(settings);
  puts("tells what is wrong");
}

static void write_roster(const char *path, const char *lines) {
  char temporary[4096];
  FILE *file;
  snprintf(temporary, sizeof temporary, "%s.new", path);
  file = fopen(temporary, "w");
  CHECK(file != NULL);
  CHECK(fputs(lines, file) >= 0);
  CHECK(fclose(file) == 0);
  CHECK(rename(temporary, path) == 0);
}

static void watches_a_roster(const char *roster) {
  char text[4096];
  muster_cluster *cluster;
  muster_watch *watch = NULL;
  muster_snapshot *snapshot = NULL;
  muster_error *error = NULL;
  struct pollfd readable;
  write_roster(roster, "worker 0 10.0.0.1:1\n");
  snprintf(text, sizeof text, "cluster: {backend: static, options: {file: '%s'}}", roster);
  cluster = open_text(text);
  CHECK(muster.watch_start(cluster, &watch, NULL) == 0);
  readable.fd = muster.watch_fd(watch);
  readable.events = POLLIN;
  CHECK(poll(&readable, 1, 10000) == 1);
  CHECK(muster.watch_next(watch, 0, &snapshot, NULL) == 0);
  CHECK(muster.snapshot_task_count(snapshot) == 1);
  muster.snapshot_destroy(snapshot);
  /* Nothing new is told while nothing changes. */
  CHECK(muster.watch_next(watch, 200, &snapshot, &error) == 4);
  CHECK(muster.error_code(error) == 4);
  muster.error_destroy(error);
  write_roster(roster, "worker 0 10.0.0.1:1\nworker 1 10.0.0.2:1\n");
  CHECK(muster.watch_next(watch, 10000, &snapshot, NULL) == 0);
  CHECK(muster.snapshot_task_count(snapshot) == 2);
  muster.snapshot_destroy(snapshot);
  /* A cancel between two calls ends those that come until it is taken back, and the descriptor tells it. */
  CHECK(poll(&readable, 1, 0) == 0);
  muster.cancel(cluster);
  CHECK(poll(&readable, 1, 0) == 1);
  CHECK(muster.watch_next(watch, 10000, &snapshot, NULL) == 1);
  CHECK(muster.watch_next(watch, 10000, &snapshot, NULL) == 1);
  CHECK(muster.resolve(cluster, &snapshot, NULL) == 1);
  muster.cancel_reset(cluster);
  CHECK(poll(&readable, 1, 0) == 0);
  CHECK(muster.watch_next(watch, 0, &snapshot, NULL) == 4);
  CHECK(muster.resolve(cluster, &snapshot, NULL) == 0);
  muster.snapshot_destroy(snapshot);
  muster.watch_destroy(watch);
  muster.cluster_destroy(cluster);
  puts("watches a roster");
}

static void accepts_null_everywhere(void) {
  size_t size = 7;
  muster.settings_destroy(NULL);
  muster.cluster_destroy(NULL);
  muster.snapshot_destroy(NULL);
  muster.watch_destroy(NULL);
  muster.text_destroy(NULL);
  muster.error_destroy(NULL);
  muster.cancel(NULL);
  muster.cancel_reset(NULL);
  CHECK(muster.open(NULL, NULL, NULL) == 3);
  CHECK(muster.resolve(NULL, NULL, NULL) == 3);
  CHECK(muster.permissions(NULL, NULL, 0, NULL, NULL) == 3);
  CHECK(muster.plan(NULL, 1, NULL, NULL) == 3);
  CHECK(muster.snapshot_task_count(NULL) == 0);
  CHECK(*muster.snapshot_digest(NULL, &size) == '\0' && size == 0);
  CHECK(*muster.error_message(NULL, &size) == '\0' && size == 0);
  puts("accepts NULL everywhere");
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: launcher LIBMUSTER.so PLUGIN_DIR SCRATCH_FILE\n");
    return 2;
  }
  plugin_dir = argv[2];
  load(argv[1]);
  CHECK(strcmp(muster.version(), MUSTER_VERSION) == 0);
  resolves_a_static_cluster();
  says_what_it_needs();
  tells_what_is_wrong();
  watches_a_roster(argv[3]);
  accepts_null_everywhere();
  return 0;
}

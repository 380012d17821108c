/* A launcher with raised privileges, as a set-user-ID program has them: where does libmuster look for plugins? */
#include <muster/muster.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#define FUNCTION(name) name##_ = (__typeof__(&name))dlsym(library, #name)

static void write_line(void *ctx, int32_t level, const char *text, size_t size) {
  (void)ctx;
  (void)level;
  printf("%.*s\n", (int)size, text);
}

/* usage: secure LIBMUSTER BACKEND [PLUGIN_DIR]; prints AT_SECURE, the log, then what opening says. */
int main(int argc, char **argv) {
  void *library;
  muster_settings *(*muster_settings_create_)(void);
  int32_t (*muster_settings_set_)(muster_settings *, const char *, const char *, muster_error **);
  int32_t (*muster_open_)(const muster_settings *, muster_cluster **, muster_error **);
  const char *(*muster_error_message_)(const muster_error *, size_t *);
  void (*muster_settings_set_log_)(muster_settings *, int32_t,
                                   void (*)(void *, int32_t, const char *, size_t), void *);
  muster_settings *settings;
  muster_cluster *cluster = NULL;
  muster_error *error = NULL;
  if (argc < 3) return 2;
  printf("AT_SECURE %lu\n", getauxval(AT_SECURE));
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  FUNCTION(muster_settings_create);
  FUNCTION(muster_settings_set);
  FUNCTION(muster_settings_set_log);
  FUNCTION(muster_open);
  FUNCTION(muster_error_message);
  settings = muster_settings_create_();
  muster_settings_set_(settings, "backend", argv[2], NULL);
  muster_settings_set_(settings, "option", "cluster_spec={worker: [\"w-0:2222\"]}", NULL);
  if (argc > 3) muster_settings_set_(settings, "plugin_dir", argv[3], NULL);
  muster_settings_set_log_(settings, 1, write_line, NULL);
  if (muster_open_(settings, &cluster, &error) != 0) {
    printf("%s\n", muster_error_message_(error, NULL));
    return 3;
  }
  printf("opened\n");
  return 0;
}

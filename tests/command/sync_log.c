/* Put before the C library by LD_PRELOAD, it writes into the file SYNC_LOG what is synced and renamed, in order: "fsync PATH", "rename TO". */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void note(const char *what, const char *path) {
  const char *log = getenv("SYNC_LOG");
  FILE *file = log == NULL ? NULL : fopen(log, "a");
  if (file == NULL) return;
  fprintf(file, "%s %s\n", what, path);
  fclose(file);
}

int fsync(int descriptor) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  path[size < 0 ? 0 : size] = '\0';
  note("fsync", path);
  return real(descriptor);
}

int rename(const char *from, const char *to) {
  int (*real)(const char *, const char *) =
      (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  note("rename", to);
  return real(from, to);
}

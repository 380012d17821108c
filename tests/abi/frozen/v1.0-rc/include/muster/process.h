/* SPDX-License-Identifier: Apache-2.0 */
/**
 * `muster.process/1`: how a plugin, which does not fork itself (MP-16), runs a program: one that prints a credential,
 * say. Part of the interface of <muster/plugin.h>; its rules hold.
 *
 * The core does the rest: the program gets no file descriptor of this process but its standard streams, is ended at
 * the call's deadline, at its cancel, or after the request's timeout_ns (SIGTERM, then SIGKILL, with all that it started and that
 * stayed in its process group), and is recorded. A replay starts nothing.
 */
#ifndef MUSTER_PROCESS_H
#define MUSTER_PROCESS_H

#include <muster/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_PROCESS_V1 "muster.process/1"

/**
 * Lend the program the launcher's terminal: its standard input, and what it writes to its standard error is shown there
 * as it comes. It then stays in the launcher's process group, so that it may read and Ctrl-C reaches it. Without this flag
 * its standard input is empty. MUSTER_E_FAILED_PRECONDITION when there is none: has_terminal says so before.
 */
#define MUSTER_PROCESS_TERMINAL UINT64_C(1)

/** Zero everywhere but struct_size and the arguments is a valid request. Everything is borrowed until run returns. */
typedef struct muster_process_request_v1 {
  uint64_t struct_size;
  uint64_t flags;
  /**
   * The first is the program: a path when it has a slash in it ("~/" is the user's home), else a name that is looked up in
   * the absolute folders of PATH. Each ends with NUL.
   */
  const char *const *arguments;
  uint64_t argument_count;
  const char *const *
      environment; /* "NAME=value", beside and above the launcher's own; the last of a name counts */
  uint64_t environment_count;
  uint64_t
      maximum_output_size; /* 0: 1 MiB. Longer is MUSTER_E_RESOURCE_EXHAUSTED, and ends the program */
  int64_t
      timeout_ns; /* how long it may run, beside the call's deadline, which a watch has not; 0: the call's alone */
} muster_process_request_v1;

/** The caller sets struct_size and zeroes the rest; run fills it. The texts live until the call ends. */
typedef struct muster_process_result_v1 {
  uint64_t struct_size;
  int64_t exit_status; /* 0 to 255; 128 and the signal's number when a signal ended it */
  const char *
      output; /* its standard output; never NULL after MUSTER_OK; followed by 64 readable zero bytes */
  uint64_t output_size;
  const char *
      error_output; /* the last 4 KiB of its standard error, as clean text without what is known as a secret */
  uint64_t error_output_size;
  int64_t
      keep; /* 1: the output may serve later calls too; 0: each call is recorded, or replayed, by itself */
} muster_process_result_v1;

typedef struct muster_process_v1 {
  uint64_t struct_size;
  /** 1 when the launcher's standard input is a terminal and the launcher is in its foreground, else 0. A replay says what was recorded. [call] */
  int32_t (*has_terminal)(const muster_call_v1 *call);
  /**
   * Runs a program and waits for its end; what it started may live on (but its output is not waited for). MUSTER_OK means that it
   * ran, whatever its exit status. Otherwise `error` says: MUSTER_E_NOT_FOUND (no such program), MUSTER_E_PERMISSION_DENIED (it may not be
   * executed), MUSTER_E_FAILED_PRECONDITION, MUSTER_E_RESOURCE_EXHAUSTED, MUSTER_E_UNAVAILABLE (it cannot be started now),
   * MUSTER_E_DEADLINE_EXCEEDED (the call's or the request's own), MUSTER_E_CANCELLED, MUSTER_E_INVALID_ARGUMENT. [call]
   */
  int32_t (*run)(const muster_call_v1 *call, const muster_process_request_v1 *request,
                 muster_process_result_v1 *result, muster_error *error);
} muster_process_v1;

#ifdef __cplusplus
}
#endif

#endif /* MUSTER_PROCESS_H */

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface between libmuster (the core) and a backend plugin, version 1.
 *
 * A plugin is a shared object `libmuster-NAME.so` that answers one question for one kind of
 * source: who is in the cluster, and which of them is this process? This header is all it needs:
 * plain C99, no other header of ours, no library of ours.
 *
 * A whole backend is a descriptor, three functions and a table; `sdk/templates/c` is one.
 *
 * Rules that hold for everything below
 *  - Texts cross as pointer and size, UTF-8 without NUL. Wherever a plugin passes a size it may pass
 *    MUSTER_NUL_TERMINATED instead. Texts that the core hands out are followed by a NUL as well.
 *  - What the plugin passes in is copied before the function returns. What the core hands out lives
 *    as long as the comment says, and is never freed by the plugin.
 *  - Every struct begins with `struct_size`, set to sizeof by whoever allocates it. Fields are only
 *    ever appended. A reader uses a field only where `struct_size` reaches past its end, and treats
 *    it as zero otherwise.
 *  - Every function says on which threads it may run:
 *      [thread-safe]    at any time, from any thread
 *      [one-at-a-time]  never twice at once for one resolver; the thread may differ
 *      [call]           only inside a running call, on the thread that runs it
 *  - No exception, panic or longjmp crosses (MP-13).
 *  - The duties of a plugin are numbered MP-n, those of the core MC-n: `sdk/duties.md`.
 *
 * 64-bit platforms only.
 */
#ifndef MUSTER_PLUGIN_H
#define MUSTER_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_PLUGIN_ABI_MAJOR 1
#define MUSTER_PLUGIN_ABI_MINOR 0

/** Passed as the size of a text: it ends at its first NUL. */
#define MUSTER_NUL_TERMINATED UINT64_MAX

/**
 * A text that ends with NUL, as two arguments or as two fields of a struct. In C, where fields without a name follow one that has:
 *   const muster_task_v1 task = {.struct_size = sizeof task, .job = MUSTER_TEXT("worker"), .index = n, .address = MUSTER_TEXT(address)};
 * What is not named is zero, and stays so when the struct grows.
 */
#define MUSTER_TEXT(text) (text), MUSTER_NUL_TERMINATED

/**
 * The index of a task whose platform gives it none: the core ranks by natural order of name. Missing members with a
 * name are ranked among the tasks, so that no rank moves when they come (MC-7).
 */
#define MUSTER_UNRANKED INT64_C(-1)

/** Codes: the numbers and meanings of google.rpc.Code. */
#define MUSTER_OK INT32_C(0)
#define MUSTER_E_CANCELLED INT32_C(1)
#define MUSTER_E_UNKNOWN INT32_C(2)
#define MUSTER_E_INVALID_ARGUMENT INT32_C(3)    /* the configuration is wrong; a chain stops */
#define MUSTER_E_DEADLINE_EXCEEDED INT32_C(4)   /* a chain goes on */
#define MUSTER_E_NOT_FOUND INT32_C(5)           /* not here: a chain goes on */
#define MUSTER_E_ALREADY_EXISTS INT32_C(6)      /* two members claim one place */
#define MUSTER_E_PERMISSION_DENIED INT32_C(7)   /* known, and not allowed; a chain stops */
#define MUSTER_E_RESOURCE_EXHAUSTED INT32_C(8)  /* quota or a stated limit; a chain goes on */
#define MUSTER_E_FAILED_PRECONDITION INT32_C(9) /* cannot be asked from here: a chain goes on */
#define MUSTER_E_ABORTED INT32_C(10)
#define MUSTER_E_OUT_OF_RANGE INT32_C(11)
#define MUSTER_E_UNIMPLEMENTED INT32_C(12)
#define MUSTER_E_INTERNAL INT32_C(13)
#define MUSTER_E_UNAVAILABLE INT32_C(14)     /* not now: a chain goes on */
#define MUSTER_E_DATA_LOSS INT32_C(15)       /* the source's answer cannot be understood */
#define MUSTER_E_UNAUTHENTICATED INT32_C(16) /* credentials absent or refused; a chain stops */

/** Levels of host->log. An expected fallback is DEBUG and is not worded as a failure. */
#define MUSTER_LOG_DEBUG INT32_C(0)
#define MUSTER_LOG_INFO INT32_C(1)
#define MUSTER_LOG_WARNING INT32_C(2)
#define MUSTER_LOG_ERROR INT32_C(3)
#define MUSTER_LOG_HOST_MISBEHAVES INT32_C(4) /* the core broke an MC duty; checkers count it */

/** The plugin's own state of one configured resolver. The core never looks inside. */
typedef struct muster_resolver muster_resolver;

/** Where a failure is told. Owned by the core; a plugin only passes it on. May be NULL. */
#ifndef MUSTER_ERROR_DECLARED
#define MUSTER_ERROR_DECLARED
typedef struct muster_error muster_error;
#endif

typedef struct muster_host_v1 muster_host_v1;
typedef struct muster_call_v1 muster_call_v1;

/* ---- What the core lends for as long as a resolver lives ------------------------------------ */

struct muster_host_v1 {
  uint64_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor; /* of the core; may be higher or lower than the plugin's */
  void *ctx;          /* the core's; not to be touched */

  /** Writes one line, without a newline, to the launcher's log. Never a secret (MP-17). [thread-safe] */
  void (*log)(const muster_host_v1 *host, int32_t level, const char *text, uint64_t size);

  /**
   * Fills `error` and returns `code`, so that a failure is one statement:
   *   return host->set_error(error, MUSTER_E_NOT_FOUND, MUSTER_TEXT("no pod matches ..."));
   * The message says what was asked, what happened and what to do. A later call replaces an earlier
   * one together with its details; MUSTER_OK with an empty message takes it back, for a failure of a
   * service that did not matter (MP-10). `error` may be NULL, which is why it is not asked of `host`: an error knows
   * whose it is. [thread-safe for different errors]
   */
  int32_t (*set_error)(muster_error *error, int32_t code, const char *message, uint64_t size);

  /**
   * Adds a fact to an error that set_error filled. Standard keys: `http_status`, `retry_after_ms`,
   * `endpoint`, `hint` (what the user should do), `option` (a JSON pointer into the options: the core
   * then shows the place in the config file). `key` ends with NUL. [thread-safe for different errors]
   */
  void (*add_detail)(muster_error *error, const char *key, const char *value, uint64_t size);

  /**
   * The table of a service, or NULL when this core does not have it. Ids: MUSTER_OPTIONS_V1,
   * MUSTER_CLOCK_V1, MUSTER_ENVIRONMENT_V1, MUSTER_ADDRESS_V1, MUSTER_HTTP_V1 (in <muster/http.h>),
   * MUSTER_PROCESS_V1 (in <muster/process.h>). The table lives as long as the host. [thread-safe]
   */
  const void *(*get_service)(const muster_host_v1 *host, const char *id);
};

/* ---- What a plugin says during one call ------------------------------------------------------ */

/** A member that is there. */
typedef struct muster_task_v1 {
  uint64_t struct_size;
  const char *job; /* task type: "worker", "ps", ...; not empty (MP-5) */
  uint64_t job_size;
  int64_t
      index; /* 0 or more and unique in its job (MP-6), or MUSTER_UNRANKED; one job does not mix the two (MP-8) */
  const char
      *name; /* what the platform calls it (pod, instance, host); may be empty when ranked (MP-8) */
  uint64_t name_size;
  const char *
      address; /* "host:port", "[v6]:port"; or only the host, v6 with or without brackets, when `port` is given (MP-7) */
  uint64_t address_size;
  int64_t port; /* 1 to 65535, or 0: the port is in `address` */
} muster_task_v1;

/** A member that should be there and is not. This is what makes an answer incomplete. */
typedef struct muster_missing_v1 {
  uint64_t struct_size;
  const char *job;
  uint64_t job_size;
  int64_t
      index; /* or MUSTER_UNRANKED: of an unranked job by the order of names (MC-7), else not known */
  const char *name; /* may be empty; then an unranked one holds no place */
  uint64_t name_size;
  const char *reason; /* in words, not empty: "Pending: Insufficient google.com/tpu" */
  uint64_t reason_size;
} muster_missing_v1;

/**
 * "This process is that task", with the evidence in words. A job with an index of which the call says nothing else
 * stands outside of the cluster, as TensorFlow's evaluator does; any other position is one of this call (MP-20).
 */
typedef struct muster_identity_v1 {
  uint64_t struct_size;
  const char *job; /* may be empty when `name` is given */
  uint64_t job_size;
  int64_t index;    /* or MUSTER_UNRANKED: the task of this `name` (needed then) */
  const char *name; /* of a task, there or missing, that was or will be added in this call */
  uint64_t name_size;
  const char *evidence; /* not empty: "pod uid 5e0c is worker-b" */
  uint64_t evidence_size;
} muster_identity_v1;

/** One thing that a resolver must be allowed to do, in the words of the platform that allows it. */
typedef struct muster_permission_v1 {
  uint64_t struct_size;
  const char *
      principal_kind; /* "ServiceAccount", "User", "serviceAccount" (of IAM); empty when nobody is known */
  uint64_t principal_kind_size;
  const char
      *principal; /* "ml/trainer", "x@p.iam.gserviceaccount.com"; empty when nobody is known */
  uint64_t principal_size;
  const char *scope; /* where it is allowed, not empty: "namespace ml", "project p" */
  uint64_t scope_size;
  const char *rule; /* not empty: "list pods", "compute.instances.list" */
  uint64_t rule_size;
} muster_permission_v1;

/** Requests of one kind that a resolve makes, counted beforehand. */
typedef struct muster_planned_v1 {
  uint64_t struct_size;
  const char *api; /* who is asked, not empty: "compute.googleapis.com", "metadata server" */
  uint64_t api_size;
  const char *request; /* what for, not empty: "instances.list", "list pods" */
  uint64_t request_size;
  const char *reason; /* what the count stands on; may be empty: "500 a page of all in the zone" */
  uint64_t reason_size;
  int64_t least; /* 0 or more */
  int64_t most;  /* 1 or more, and not less than `least` */
  const char *
      quota; /* the published limit of the API that they count to: "read requests"; empty for none */
  uint64_t quota_size;
  int64_t quota_per_minute; /* how many it allows in a minute; 0 for none */
} muster_planned_v1;

/**
 * One running call. Valid only until the function that got it returns, on its thread (MP-15).
 *
 * The sink functions return MUSTER_OK, or a code with which they refuse what was pushed; the core has
 * then already kept a message that names the plugin, the duty and the value. The right reaction is to
 * return that code at once. Nothing pushed counts unless the call returns MUSTER_OK (MC-4): there is
 * nothing to undo.
 */
struct muster_call_v1 {
  uint64_t struct_size;
  void *ctx; /* the core's */
  int64_t
      deadline_ns; /* on CLOCK_MONOTONIC; the plugin returns within 500 ms of it (MP-12). A watch's is MUSTER_NO_DEADLINE */

  /** 1 when the plugin should give up and return MUSTER_E_CANCELLED (MP-12), else 0. [call], cheap. */
  int32_t (*is_cancelled)(const muster_call_v1 *call);

  /** What the call is waiting for now, in a few words: the launcher may show it. [call] */
  void (*set_progress)(const muster_call_v1 *call, const char *text, uint64_t size);

  /** Declares a job, which may then have no task. Jobs keep the order in which they are first named. [call] */
  int32_t (*add_job)(const muster_call_v1 *call, const char *job, uint64_t job_size);

  /** Adds a member. At most MUSTER_TASKS_MAXIMUM of them in a call (MP-9). [call] */
  int32_t (*add_task)(const muster_call_v1 *call, const muster_task_v1 *task);

  /**
   * Says something about the task added last, or, before any task, about the whole cluster.
   * Setting a key again replaces its value. [call]
   */
  int32_t (*set_attribute)(const muster_call_v1 *call, const char *key, uint64_t key_size,
                           const char *value, uint64_t value_size);

  /** Names a member that should be there and is not. With a name it keeps its rank among the unranked. [call] */
  int32_t (*add_missing)(const muster_call_v1 *call, const muster_missing_v1 *missing);

  /** How many tasks the platform says the job has when it is whole; 0 or more. [call] */
  int32_t (*set_expected)(const muster_call_v1 *call, const char *job, uint64_t job_size,
                          int64_t count);

  /** Which task this process is. Several may be given; they must agree (the core refuses a conflict). [call] */
  int32_t (*set_identity)(const muster_call_v1 *call, const muster_identity_v1 *identity);

  /** Something the user should know although the answer is right. [call] */
  int32_t (*add_warning)(const muster_call_v1 *call, const char *text, uint64_t size);

  /**
   * Tells the core that this text is a secret that the plugin learned during the call (a token out of
   * a file, say): from then on every log line, error and recording shows REDACTED in its place.
   * Options whose schema says "writeOnly" are known already. Shorter than 4 bytes is ignored. [call]
   */
  void (*mark_secret)(const muster_call_v1 *call, const char *text, uint64_t size);

  /**
   * In a watch: what was pushed since the call began, or since the last commit, is one whole snapshot, and the next
   * begins with nothing. Refused as a push is; also where the end of a resolve would have been (two identities that
   * differ). In a resolve it is refused with MUSTER_E_FAILED_PRECONDITION. [call]
   */
  int32_t (*commit)(const muster_call_v1 *call);

  /** In permissions: one more that is needed. Elsewhere refused with MUSTER_E_FAILED_PRECONDITION. [call] */
  int32_t (*add_permission)(const muster_call_v1 *call, const muster_permission_v1 *permission);

  /**
   * In permissions: the text that allows all of them when an administrator gives it to `command` on its standard input
   * ("kubectl apply -f -", "sh"). Its comments begin with '#', and it may stand behind others for the same command.
   * Replaces an earlier one. Elsewhere refused with MUSTER_E_FAILED_PRECONDITION. [call]
   */
  int32_t (*set_grant)(const muster_call_v1 *call, const char *command, uint64_t command_size,
                       const char *text, uint64_t text_size);

  /** In plan: one more kind of requests. Elsewhere refused with MUSTER_E_FAILED_PRECONDITION. [call] */
  int32_t (*add_planned)(const muster_call_v1 *call, const muster_planned_v1 *planned);

  uint64_t flags; /* MUSTER_CALL_LIVE */

  /** In a watch: how long its user lets pass between two questions to a source that has to be asked again and again. Elsewhere 0. */
  int64_t interval_ns;
};

/**
 * The call asks the real world, which is that of every other live call of the process: what it learns (a token) may serve them too.
 * Without it, it is recorded or replayed, and a recording has what each call was told.
 */
#define MUSTER_CALL_LIVE UINT64_C(1)

/**
 * A deadline that never comes, which is that of a watch: half of what fits, so that something can be added to it. Nobody has to treat
 * it apart: what is left until then is 146 years.
 */
#define MUSTER_NO_DEADLINE (INT64_MAX / 2)

#define MUSTER_TASKS_MAXIMUM INT64_C(1048576)

/*
 * Attributes with a meaning to the core. Others are shown as they are; keys are lower case with dots. Accelerators
 * are those of the task, or of the cluster where each task has the same.
 */
#define MUSTER_ATTRIBUTE_ACCELERATOR_TYPE \
  "accelerator.type" /* "GPU", "TPU": TensorFlow's device type */
#define MUSTER_ATTRIBUTE_ACCELERATOR_COUNT "accelerator.count" /* of it; decimal; 1 when not said */
/* With the type behind it ("accelerator.count.GPU"), once for each, when there are several types. */
#define MUSTER_ATTRIBUTE_ACCELERATOR_COUNT_OF "accelerator.count."
#define MUSTER_ATTRIBUTE_HOST "host" /* machine it runs on */
#define MUSTER_ATTRIBUTE_ZONE "zone"
#define MUSTER_ATTRIBUTE_UID "uid"
#define MUSTER_ATTRIBUTE_ENVIRONMENT "environment" /* of the cluster: TensorFlow's `environment` */
#define MUSTER_ATTRIBUTE_RPC_LAYER "rpc_layer"     /* of the cluster: "grpc" */
#define MUSTER_ATTRIBUTE_MASTER \
  "master" /* of the cluster: the answer of master() with no arguments */

/* ---- The plugin ------------------------------------------------------------------------------ */

/**
 * What the entry returns: static, never freed, the same at every call. `create`, `destroy` and
 * `resolve` are required (MP-3); the rest may be NULL.
 */
typedef struct muster_plugin_v1 {
  uint64_t struct_size;
  uint32_t abi_major; /* MUSTER_PLUGIN_ABI_MAJOR */
  uint32_t abi_minor; /* MUSTER_PLUGIN_ABI_MINOR as compiled */
  const char *name;   /* NUL-terminated; the descriptor's name (MP-2) */
  const char *version;

  /**
   * Makes a resolver from its options: one JSON object, already checked against the descriptor's
   * schema, with the schema's top-level defaults filled in. Does not wait, read files or ask the
   * network: that is resolve's (MP-19). So it gets no call: there is nothing to cancel, to hold against a deadline or
   * to record. `host` lives until destroy has returned; `options` until create returns. On failure leaves *resolver
   * alone and nothing behind. [thread-safe]
   */
  int32_t (*create)(const muster_host_v1 *host, const char *options, uint64_t options_size,
                    muster_resolver **resolver, muster_error *error);

  /** Frees the resolver; no thread, file or socket of it is left (MP-18). Never during a call. [one-at-a-time] */
  void (*destroy)(muster_resolver *resolver);

  /**
   * Finds every task and pushes it into `call`. Asks the source anew each time. Returns MUSTER_OK, or
   * the code with which it filled `error`. [one-at-a-time]
   */
  int32_t (*resolve)(muster_resolver *resolver, const muster_call_v1 *call, muster_error *error);

  /**
   * Makes a running call return soon: it has been cancelled, or its deadline has come, and is_cancelled says so already. Optional, and only
   * for waits of the plugin's own: those of services end by themselves then, and nothing that this function does ends one. The only
   * function that runs beside a call. [thread-safe]
   */
  void (*interrupt)(muster_resolver *resolver);

  /** The table of an optional feature by id, or NULL. Optional. [thread-safe] */
  const void *(*get_extension)(const char *id);
} muster_plugin_v1;

/**
 * An extension of a plugin: answers that are kept up to date by the source's own stream. Without it, or when it says that
 * this resolver cannot be watched, the core asks resolve again and again.
 */
#define MUSTER_WATCH_V1 "muster.watch/1"
typedef struct muster_watch_v1 {
  uint64_t struct_size;
  /**
   * Pushes a whole snapshot and commits it, then another whenever something has changed, until the call is cancelled
   * (MUSTER_E_CANCELLED) or the source fails: then it returns the code with which it filled `error`, and is called again
   * after a while; the core keeps the last answer. Changes that come together make one snapshot. MUSTER_E_UNIMPLEMENTED: with
   * these options there is nothing to watch, so poll; a source that has to be asked again and again although there is something to
   * hear of in between is asked each `interval_ns` of the call. MUSTER_OK is not returned (MP-23). The deadline of `call` is
   * MUSTER_NO_DEADLINE: what it waits for needs one of its own (timeout_ns of a request). interrupt ends it as it ends resolve.
   * [one-at-a-time]
   */
  int32_t (*watch)(muster_resolver *resolver, const muster_call_v1 *call, muster_error *error);
} muster_watch_v1;

/**
 * An extension of a plugin: what somebody must be allowed to do, so that an administrator can allow it beforehand. Without it
 * nobody can say; a backend that needs nothing has it and says nothing.
 */
#define MUSTER_PERMISSIONS_V1 "muster.permissions/1"
typedef struct muster_permissions_request_v1 {
  uint64_t struct_size;
  uint64_t flags; /* MUSTER_PERMISSIONS_WATCH: for a watch too */
  /* Who is to be allowed, as the platform's people write it; empty: whom this process runs as, if that can be told. */
  const char *principal;
  uint64_t principal_size;
} muster_permissions_request_v1;
typedef struct muster_permissions_v1 {
  uint64_t struct_size;
  /**
   * Pushes, by add_permission and set_grant, all that a resolve with this resolver's options needs and no more (MP-24). Reads the
   * environment and files where it must; asks no network. [one-at-a-time]
   */
  int32_t (*permissions)(muster_resolver *resolver, const muster_permissions_request_v1 *request,
                         const muster_call_v1 *call, muster_error *error);
} muster_permissions_v1;
#define MUSTER_PERMISSIONS_WATCH UINT64_C(1)

/**
 * An extension of a plugin: how many requests a resolve makes, so that it can be held against quotas beforehand. Without it nobody
 * can say; a backend that makes none has it and says nothing.
 */
#define MUSTER_PLAN_V1 "muster.plan/1"
typedef struct muster_plan_request_v1 {
  uint64_t struct_size;
  int64_t members; /* how many tasks the resolve finds; 1 to MUSTER_TASKS_MAXIMUM */
} muster_plan_request_v1;
typedef struct muster_plan_v1 {
  uint64_t struct_size;
  /**
   * Pushes, by add_planned, the requests of one resolve with this resolver's options, when nothing is known from an earlier one and
   * nothing fails (MP-25). Reads the environment and files where it must; asks no network. [one-at-a-time]
   */
  int32_t (*plan)(muster_resolver *resolver, const muster_plan_request_v1 *request,
                  const muster_call_v1 *call, muster_error *error);
} muster_plan_v1;

#if defined(__GNUC__)
#define MUSTER_EXPORT __attribute__((visibility("default")))
#else
#define MUSTER_EXPORT
#endif

/**
 * The one symbol a plugin exports (MP-1). `host` is a table to read versions from and to log
 * through; it is no resolver's, and not to be kept. Returns the plugin's table, or NULL for "I cannot run in this host", having logged why.
 */
#define MUSTER_PLUGIN_ENTRY_V1 "muster_plugin_entry_v1"
MUSTER_EXPORT const muster_plugin_v1 *muster_plugin_entry_v1(const muster_host_v1 *host);

/**
 * The descriptor: what the plugin says about itself without running, as JSON, written in place:
 *
 *   MUSTER_DESCRIPTOR({
 *     "name": "roster", "version": "1.0.0", "abi": {"major": 1, "minor": 0},
 *     "description": "Members from a roster file.",
 *     "options": {"type": "object", "additionalProperties": false, "required": ["path"],
 *                 "properties": {"path": {"type": "string", "description": "the roster"}}},
 *     "services": ["muster.environment/1"]
 *   })
 *
 * `abi` is the least that the plugin needs, not above the table's. `options` is a JSON Schema (draft 7); `"writeOnly": true` marks a
 * secret. `name` is what users write as `backend:` and the NAME of the file (MP-2). Lives in the ELF section MUSTER_DESCRIPTOR_SECTION.
 */
#define MUSTER_DESCRIPTOR_SECTION ".muster.descriptor"
#define MUSTER_DESCRIPTOR(...)                             \
  __attribute__((used, section(MUSTER_DESCRIPTOR_SECTION), \
                 aligned(1))) static const char muster_descriptor_text[] = #__VA_ARGS__;

/* ---- Services -------------------------------------------------------------------------------- */

/** The resolver's options, for those who would rather not parse JSON. */
#define MUSTER_OPTIONS_V1 "muster.options/1"
typedef struct muster_options_v1 {
  uint64_t struct_size;
  /*
   * `pointer` is a JSON pointer (RFC 6901), "" for the whole. Each returns MUSTER_OK,
   * MUSTER_E_NOT_FOUND when nothing is there (or null), or MUSTER_E_INVALID_ARGUMENT when it is of another
   * type. Texts live until destroy. [thread-safe]
   */
  int32_t (*get_text)(const muster_host_v1 *host, const char *pointer, const char **value,
                      uint64_t *value_size);
  int32_t (*get_integer)(const muster_host_v1 *host, const char *pointer, int64_t *value);
  int32_t (*get_boolean)(const muster_host_v1 *host, const char *pointer, int32_t *value);
  /** Number of elements of an array or members of an object. */
  int32_t (*get_size)(const muster_host_v1 *host, const char *pointer, uint64_t *size);
  /** Key of the n-th member of an object, in the order in which the user wrote them. */
  int32_t (*get_key)(const muster_host_v1 *host, const char *pointer, uint64_t n, const char **key,
                     uint64_t *key_size);
  /** The value there as JSON text. */
  int32_t (*get_json)(const muster_host_v1 *host, const char *pointer, const char **json,
                      uint64_t *json_size);
} muster_options_v1;

/** Time, so that tests and replays own it. */
#define MUSTER_CLOCK_V1 "muster.clock/1"
typedef struct muster_clock_v1 {
  uint64_t struct_size;
  /** Nanoseconds on CLOCK_MONOTONIC, the clock of deadline_ns. [call] */
  int64_t (*monotonic_ns)(const muster_call_v1 *call);
  /** Nanoseconds since 1970-01-01 UTC. A replay gives the recorded time. [call] */
  int64_t (*realtime_ns)(const muster_call_v1 *call);
  /** Waits. MUSTER_OK when over; MUSTER_E_CANCELLED or MUSTER_E_DEADLINE_EXCEEDED as soon as the call ends earlier. [call] */
  int32_t (*sleep_ns)(const muster_call_v1 *call, int64_t duration_ns);
} muster_clock_v1;

/** Environment variables, small files and the name of the machine, so that tests and replays own them. */
#define MUSTER_ENVIRONMENT_V1 "muster.environment/1"
typedef struct muster_environment_v1 {
  uint64_t struct_size;
  /**
   * The variable's value, alive until the call ends. MUSTER_E_NOT_FOUND when it is unset; a blank one is
   * MUSTER_OK with size 0. `name` ends with NUL. [call]
   */
  int32_t (*get_variable)(const muster_call_v1 *call, const char *name, const char **value,
                          uint64_t *value_size);
  /**
   * A whole regular file of at most `maximum_size` bytes, alive until the call ends and followed by 64
   * readable zero bytes. MUSTER_E_NOT_FOUND, MUSTER_E_PERMISSION_DENIED, MUSTER_E_RESOURCE_EXHAUSTED (longer than the maximum) or
   * MUSTER_E_FAILED_PRECONDITION (not a regular file) fill `error`. `flags`: MUSTER_FILE_SECRET when the whole
   * content is a secret. `path` ends with NUL; a leading "~/" is the user's home. [call]
   */
  int32_t (*read_file)(const muster_call_v1 *call, const char *path, uint64_t maximum_size,
                       uint64_t flags, const char **content, uint64_t *content_size,
                       muster_error *error);
  /**
   * The name of the machine, container or pod that this process runs in, as gethostname tells it, alive until the call ends.
   * MUSTER_E_NOT_FOUND when it has none. [call]
   */
  int32_t (*get_hostname)(const muster_call_v1 *call, const char **name, uint64_t *name_size);
} muster_environment_v1;

#define MUSTER_FILE_SECRET UINT64_C(1)

/** What an address is, so that one which a user wrote wrongly is told at its place and not as a fault of the plugin. */
#define MUSTER_ADDRESS_V1 "muster.address/1"
typedef struct muster_address_v1 {
  uint64_t struct_size;
  /**
   * Would add_task take this address and port (MP-7)? MUSTER_OK, or MUSTER_E_INVALID_ARGUMENT with the reason, ended
   * by NUL and cut to `reason_size` bytes, in `reason` (may be NULL): "'10.0.0.1' is not an address: it has no port".
   * The plugin puts the place before it: "hosts.txt:3: ". [thread-safe]
   */
  int32_t (*check)(const char *address, uint64_t address_size, int64_t port, char *reason,
                   uint64_t reason_size);
} muster_address_v1;

#ifdef __cplusplus
}
#endif

#endif /* MUSTER_PLUGIN_H */

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * libmuster for launchers: who is in my cluster, and which one am I?
 *
 *   muster_settings *settings = muster_settings_create();
 *   muster_settings_set(settings, "config_file", "muster.yaml", NULL);
 *   muster_cluster *cluster = NULL;
 *   muster_snapshot *snapshot = NULL;
 *   muster_error *error = NULL;
 *   if (muster_open(settings, &cluster, &error) || muster_resolve(cluster, &snapshot, &error))
 *     fprintf(stderr, "%s\n", muster_error_message(error, NULL));
 *
 * Meant for dlopen + dlsym as well as for linking: plain C99 functions over opaque handles, no public
 * struct, new functions only. Rules:
 *  - `create`/`open`/... give a handle that the caller frees with the destroy of its kind; every destroy
 *    accepts NULL. Out parameters are written only on the outcome they belong to.
 *  - A text is a pointer, and its size where `size` is not NULL; it ends with NUL as well, and lives
 *    until the handle it came from is destroyed. A getter that has nothing to say returns "" and size 0,
 *    never NULL. All texts are UTF-8.
 *  - A function that can fail returns MUSTER_OK or the code of the error, with google.rpc.Code's
 *    numbers, and where `error` is not NULL stores a new error in *error that the caller destroys. Pass
 *    the address of a NULL pointer.
 *  - Every function may be called from any thread. One handle may be used by many threads at once, but
 *    destroyed only when no other call on it is running.
 *  - Nothing here touches signals, locale, environment, working directory or standard streams.
 */
#ifndef MUSTER_H
#define MUSTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(MUSTER_BUILDING_LIBRARY) && defined(__GNUC__)
#define MUSTER_API __attribute__((visibility("default")))
#else
#define MUSTER_API
#endif

#define MUSTER_VERSION "0.1.0"

#ifndef MUSTER_ERROR_DECLARED
#define MUSTER_ERROR_DECLARED
typedef struct muster_error muster_error;
#endif
typedef struct muster_settings muster_settings;
typedef struct muster_cluster muster_cluster;
typedef struct muster_snapshot muster_snapshot;
typedef struct muster_watch muster_watch;
typedef struct muster_text muster_text;

/** The library's version: "0.1.0". Static. Since 0.1. */
MUSTER_API const char *muster_version(void);

/* ---- Errors and texts ------------------------------------------------------------------------- */

/** google.rpc.Code of the error; 0 for NULL. */
MUSTER_API int32_t muster_error_code(const muster_error *error);
/** The code's name, "NOT_FOUND"; "OK" for NULL. Static. */
MUSTER_API const char *muster_error_code_name(const muster_error *error);
/** The whole message; may have several lines: cause first, then what was tried, then what to do. */
MUSTER_API const char *muster_error_message(const muster_error *error, size_t *size);
/**
 * The exit status that the muster command has for this error: 12 configuration (a config file or a plugin that is
 * not there, too), 13 not permitted or not authenticated, 14 unavailable, 15 deadline, 16 a plugin misbehaved,
 * 11 not found, 130 cancelled, 1 anything else.
 */
MUSTER_API int32_t muster_error_exit_status(const muster_error *error);
/** Number of details (`http_status`, `hint`, `plugin`, `duty`, `path` ...), and each by its number. */
MUSTER_API size_t muster_error_detail_count(const muster_error *error);
MUSTER_API const char *muster_error_detail_key(const muster_error *error, size_t n, size_t *size);
MUSTER_API const char *muster_error_detail_value(const muster_error *error, size_t n, size_t *size);
/**
 * What each resolver did before a resolve failed, as `muster explain` shows it ("explain") or as the JSON list of
 * the answer's "sources" ("json"). "" when the error is not one of a resolve.
 */
MUSTER_API const char *muster_error_sources(const muster_error *error, const char *form,
                                            size_t *size);
MUSTER_API void muster_error_destroy(muster_error *error);

MUSTER_API const char *muster_text_data(const muster_text *text, size_t *size);
MUSTER_API void muster_text_destroy(muster_text *text);

/* ---- Settings ---------------------------------------------------------------------------------- */

/**
 * Settings are texts by name, so that they grow without new functions. A setting wins over the environment,
 * the environment over the config file, that over the default.
 *
 *   config_file   path of a muster.yaml                       config_text   its text instead
 *   config_name   what errors call config_text; default "<text>"
 *   backend       shorthand without a config: the one backend to ask
 *   option        for `backend`: "NAME=VALUE"; repeatable; VALUE is YAML ("8470", "[a, b]"), NAME may be a path "a.b"
 *   plugin_dir    directory of plugins, looked in first; repeatable
 *   timeout       of one resolve: "30s", "500ms", "2m"; default 30s
 *   task_type, task_id   which task this process is; both or neither
 *   rpc_layer     "grpc"; "" means none
 *   environment   TensorFlow's `environment`
 *   expect        "worker=16,ps=1"
 *   record, replay   file of a recording to write (muster_snapshot_recording_error: where it could not be), or to answer from without any network
 *   isolate          "true", "false" or "auto": of resolvers that do not say whether they run in a process of their own; MUSTER_ISOLATE
 *   trace            "true": every resolver runs in a process of its own, whatever it says, and each frame between the two is a log line of
 *                    level -1
 *   watch_interval   of muster_watch for sources without a stream: default "10s"
 */
MUSTER_API muster_settings *muster_settings_create(void);
/** Sets one, or adds one to a repeatable. `value` NULL takes it back. An unknown name is INVALID_ARGUMENT with the nearest known. */
MUSTER_API int32_t muster_settings_set(muster_settings *settings, const char *name,
                                       const char *value, muster_error **error);
/**
 * Log lines at `level` and above (-1 frames, 0 debug, 1 info, 2 warning, 3 error; default: none) go to `write`, from any
 * thread, one call at a time; `text` is not kept. No secret is ever in one. NULL stops it.
 */
MUSTER_API void muster_settings_set_log(muster_settings *settings, int32_t level,
                                        void (*write)(void *ctx, int32_t level, const char *text,
                                                      size_t size),
                                        void *ctx);
MUSTER_API void muster_settings_destroy(muster_settings *settings);

/* ---- A cluster ---------------------------------------------------------------------------------- */

/**
 * Reads and checks the whole configuration, finds and loads the plugins it names, and makes the resolvers.
 * Asks no source. All errors of a config file are in the one error, each with file:line:column. The settings are
 * copied. Codes: INVALID_ARGUMENT (configuration), NOT_FOUND (a plugin), PERMISSION_DENIED (a plugin is not trusted).
 */
MUSTER_API int32_t muster_open(const muster_settings *settings, muster_cluster **cluster,
                               muster_error **error);
/** As muster_open, but loads no plugin code and keeps nothing: is the configuration right? `report` says what was checked. */
MUSTER_API int32_t muster_config_check(const muster_settings *settings, muster_text **report,
                                       muster_error **error);
/**
 * Asks the sources, each once, side by side, and gives one snapshot. Returns by the timeout. An incomplete answer
 * is MUSTER_OK: look at muster_snapshot_complete. Several threads may resolve one cluster; a backend that allows one call
 * at a time makes them take turns.
 */
MUSTER_API int32_t muster_resolve(muster_cluster *cluster, muster_snapshot **snapshot,
                                  muster_error **error);
/**
 * What somebody must be allowed to do for this config to be resolved, so that it can be allowed beforehand. Asks no network, and
 * records nothing. `principal`: who, as the platform's people write it (Kubernetes: a service account's NAME or NAMESPACE:NAME,
 * user:NAME, group:NAME); NULL or "": whom this process runs as, where that can be told. `watch` not 0: for muster_watch too.
 * `json`: a list of every resolver of the tree that asks a source, in the order of the config, with its `path`, its `backend`, and
 * `known`, which is false where the backend cannot say. Else `permissions` is a list of {principal_kind, principal, scope, rule},
 * empty where nothing is needed, and `text` allows them all when an administrator gives it to `command` on its standard input.
 * Codes: those of a resolver that cannot find out for whom or where. Since 0.1.
 */
MUSTER_API int32_t muster_permissions(muster_cluster *cluster, const char *principal, int32_t watch,
                                      muster_text **json, muster_error **error);
/**
 * How many requests one resolve of this config makes, so that it can be held against quotas beforehand: by a fresh process, when
 * each resolver finds `members` tasks and nothing fails. Asks no network, and records nothing. `json`: `members`; `resolvers`, a list as
 * in muster_permissions, whose `requests` are {api, request, least, most, reason} and perhaps a `quota`; and `quotas`, a list of {api,
 * quota, per_minute, most, resolves_per_minute} with the published limits of these APIs, the most requests of all resolvers that
 * count to each, and how often that fits into a minute. Codes: those of a resolver that cannot find out; INVALID_ARGUMENT: `members`
 * is not 1 to 1048576. Since 0.1.
 */
MUSTER_API int32_t muster_plan(muster_cluster *cluster, int64_t members, muster_text **json,
                               muster_error **error);
/**
 * Makes every call on this cluster and its watches that waits return CANCELLED soon, and every later one at once, until
 * muster_cancel_reset: a cancel that comes before the call it is meant for is not lost. Async-signal-safe.
 */
MUSTER_API void muster_cancel(muster_cluster *cluster);
/** Takes the cancel back: later calls run. Calls that began before stay cancelled. Since 0.1. */
MUSTER_API void muster_cancel_reset(muster_cluster *cluster);
/** The time that one resolve of this cluster may take, from settings, environment, config or default; -1 for NULL. */
MUSTER_API int64_t muster_cluster_timeout_ms(const muster_cluster *cluster);
/**
 * What is being waited for now, in words, one line a resolver ("kubernetes (cluster.merge[0]): page 3 of pods"), for a
 * live line: by the resolves that are running, else by the watches. Copies at most `size` bytes with the final NUL and returns the
 * length without it. 0: nothing is being waited for.
 */
MUSTER_API size_t muster_progress(const muster_cluster *cluster, char *buffer, size_t size);
/**
 * Frees the resolvers. No other call on the cluster may be running, and its watches are destroyed before it: cancel and wait
 * for them first. A plugin that does not return is not waited for. Plugins stay loaded.
 */
MUSTER_API void muster_cluster_destroy(muster_cluster *cluster);

/* ---- Watching ----------------------------------------------------------------------------------- */

/**
 * Starts watching: a first snapshot, then one at each change, by the sources' own streams where they have one, else by
 * asking again each watch_interval. Changes that come together make one snapshot. A watch is not recorded; one of a replay gives its
 * answer. The cluster must outlive the watch. Its resolves may go on beside it: the watch asks by resolvers of its own.
 */
MUSTER_API int32_t muster_watch_start(muster_cluster *cluster, muster_watch **watch,
                                      muster_error **error);
/**
 * The next snapshot; waits at most `timeout_ms` (negative: for ever). DEADLINE_EXCEEDED: nothing new yet. Nothing ends the
 * watch. A source that fails after a first answer is asked again with backoff, and its last good answer stays, marked stale
 * (muster_snapshot_state says what that is). A chain that has found a source keeps it for the `fallback_after` of the config while it
 * fails; a change of its source is a new snapshot with a warning that says so. An error before the first answer is returned.
 * CANCELLED: muster_cancel was called and not taken back.
 */
MUSTER_API int32_t muster_watch_next(muster_watch *watch, int64_t timeout_ms,
                                     muster_snapshot **snapshot, muster_error **error);
/**
 * A file descriptor that is readable while muster_watch_next has something to give, a cancel among it. Owned by the watch:
 * poll it, do not read it.
 */
MUSTER_API int32_t muster_watch_fd(const muster_watch *watch);
MUSTER_API void muster_watch_destroy(muster_watch *watch);

/* ---- A snapshot: one immutable answer ------------------------------------------------------------ */

/** 1 when nothing expected is missing, else 0. */
MUSTER_API int32_t muster_snapshot_complete(const muster_snapshot *snapshot);
/** 1 when a watch repeats its last good answer because the source fails, else 0. */
MUSTER_API int32_t muster_snapshot_stale(const muster_snapshot *snapshot);
/**
 * What a watch's answer is worth now: "fresh"; "stale": a source fails, and this is its last good answer; "gone": a source
 * that was there says by its own word that there is nobody any longer, so the answer has no members of it and is not complete.
 * An answer of muster_resolve is always "fresh". Static. Since 0.1.
 */
MUSTER_API const char *muster_snapshot_state(const muster_snapshot *snapshot);
/** Since when the source fails, in milliseconds since 1970 UTC; -1 when the answer is not stale. Since 0.1. */
MUSTER_API int64_t muster_snapshot_stale_since_ms(const muster_snapshot *snapshot);
MUSTER_API size_t muster_snapshot_job_count(const muster_snapshot *snapshot);
MUSTER_API const char *muster_snapshot_job_name(const muster_snapshot *snapshot, size_t n,
                                                size_t *size);
/** Tasks found of a job; 0 for an unknown one. */
MUSTER_API size_t muster_snapshot_found(const muster_snapshot *snapshot, const char *job);
/** Tasks expected of a job; -1 when nobody said. */
MUSTER_API int64_t muster_snapshot_expected(const muster_snapshot *snapshot, const char *job);
/** All tasks, by job in order and by index: their number, and each by its number. */
MUSTER_API size_t muster_snapshot_task_count(const muster_snapshot *snapshot);
MUSTER_API const char *muster_snapshot_task_job(const muster_snapshot *snapshot, size_t n,
                                                size_t *size);
/** -1 when there is no n-th task. */
MUSTER_API int64_t muster_snapshot_task_index(const muster_snapshot *snapshot, size_t n);
MUSTER_API const char *muster_snapshot_task_name(const muster_snapshot *snapshot, size_t n,
                                                 size_t *size);
MUSTER_API const char *muster_snapshot_task_address(const muster_snapshot *snapshot, size_t n,
                                                    size_t *size);
MUSTER_API const char *muster_snapshot_task_attribute(const muster_snapshot *snapshot, size_t n,
                                                      const char *key, size_t *size);
/** The address of one task; "" when there is none. TensorFlow's task_address. */
MUSTER_API const char *muster_snapshot_address(const muster_snapshot *snapshot, const char *job,
                                               int64_t index, size_t *size);
/** This process: job name ("" when not known) and index (-1 when not known). */
MUSTER_API const char *muster_snapshot_task_type(const muster_snapshot *snapshot, size_t *size);
MUSTER_API int64_t muster_snapshot_task_id(const muster_snapshot *snapshot);
MUSTER_API const char *muster_snapshot_rpc_layer(const muster_snapshot *snapshot, size_t *size);
MUSTER_API const char *muster_snapshot_environment(const muster_snapshot *snapshot, size_t *size);
/** What the user should know although the answer is right: their number, and each by its number. */
MUSTER_API size_t muster_snapshot_warning_count(const muster_snapshot *snapshot);
MUSTER_API const char *muster_snapshot_warning(const muster_snapshot *snapshot, size_t n,
                                               size_t *size);
/** "sha256:..." of the ordered members; sdk/digest.md says how to compute it elsewhere. */
MUSTER_API const char *muster_snapshot_digest(const muster_snapshot *snapshot, size_t *size);
/**
 * Why the setting `record` has no recording of this resolve: a full disk, say. The answer is whole all the same. "" when it is
 * recorded, or was not to be. Since 0.1.
 */
MUSTER_API const char *muster_snapshot_recording_error(const muster_snapshot *snapshot,
                                                       size_t *size);
/**
 * TensorFlow's master(task_type, task_id, rpc_layer): NULL and -1 mean "not given"; rpc_layer "" means none. NOT_FOUND names
 * the task when the cluster has no such one.
 */
MUSTER_API int32_t muster_snapshot_master(const muster_snapshot *snapshot, const char *task_type,
                                          int64_t task_id, const char *rpc_layer,
                                          muster_text **master, muster_error **error);
/** Accelerators of one device type ("GPU") on one task, or with NULL and -1 on this process's task; -1 when not known. */
MUSTER_API int64_t muster_snapshot_accelerators(const muster_snapshot *snapshot,
                                                const char *task_type, int64_t task_id,
                                                const char *device_type);
/**
 * The snapshot in a format: muster_format_names lists them. INVALID_ARGUMENT for another name, with the list;
 * FAILED_PRECONDITION when the format cannot say this answer (tf_config of an incomplete one, say).
 * `options` may be NULL; "NAME=VALUE,NAME=VALUE" (color=1, incomplete=1, task_type=worker,task_id=3,rpc_layer=).
 */
MUSTER_API int32_t muster_render(const muster_snapshot *snapshot, const char *format,
                                 const char *options, muster_text **text, muster_error **error);
/** "table\njson\n...": one name a line with a tab and one sentence on it. Static. */
MUSTER_API const char *muster_format_names(void);
MUSTER_API void muster_snapshot_destroy(muster_snapshot *snapshot);

/* ---- Plugins, without running them ---------------------------------------------------------------- */

/** JSON: every plugin found on the search path, in order, with what it says of itself, or why it cannot be used; the shadowed ones too. */
MUSTER_API int32_t muster_plugins_list(const muster_settings *settings, muster_text **json,
                                       muster_error **error);
/** JSON: one plugin's descriptor, by name or by path of a file, with its path, SHA-256 and trust. */
MUSTER_API int32_t muster_plugins_describe(const muster_settings *settings,
                                           const char *name_or_path, muster_text **json,
                                           muster_error **error);
/** JSON: the directories looked in, in order, each with where it comes from and its state. */
MUSTER_API int32_t muster_plugins_path(const muster_settings *settings, muster_text **json,
                                       muster_error **error);
/** The JSON Schema of muster.yaml, for editors. Static. */
MUSTER_API const char *muster_config_schema(size_t *size);

#ifdef __cplusplus
}
#endif

#endif /* MUSTER_H */

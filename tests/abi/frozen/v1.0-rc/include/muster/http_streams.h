/* SPDX-License-Identifier: Apache-2.0 */
/**
 * `muster.http.streams/1`: several exchanges of <muster/http.h> at a time, for a call that follows several streams. Part of the
 * interface of <muster/plugin.h>; its rules hold.
 *
 * The waiting is the core's: what comes of the exchanges is told when the plugin asks for it, on the call's own thread, and
 * those that nobody ended end with the call.
 */
#ifndef MUSTER_HTTP_STREAMS_H
#define MUSTER_HTTP_STREAMS_H

#include <muster/http.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_HTTP_STREAMS_V1 "muster.http.streams/1"

typedef struct muster_http_streams_v1 {
  uint64_t struct_size;
  /**
   * Begins an exchange and does not wait for it. Everything is borrowed until begin returns, but for on_body_ctx; on_body is
   * called by `next`. `*number` is what the exchange is called from then on; never 0. [call]
   */
  int32_t (*begin)(const muster_call_v1 *call, const muster_http_request_v1 *request,
                   uint64_t *number, muster_error *error);
  /**
   * Waits, for `timeout_ns` at most, until one of the exchanges has something to tell: pieces, which its on_body gets, as
   * many as have come in one; or its end. Of one that has ended `*number` says which, and what is returned, `response` and
   * `error` are as by muster_http_v1's send; it is no more. Else `*number` is 0: MUSTER_OK when something was handed over,
   * MUSTER_E_DEADLINE_EXCEEDED when there was nothing, MUSTER_E_CANCELLED when the call is; then `error` is left alone.
   * `words`, which may be NULL, gets the error's message besides, ended by NUL and alive until the next of these calls: for
   * an exchange that is begun again its failure is none of the call's (MP-10). [call]
   */
  int32_t (*next)(const muster_call_v1 *call, int64_t timeout_ns, uint64_t *number,
                  muster_http_response_v1 *response, const char **words, muster_error *error);
  /** Ends an exchange wherever it is; `next` says nothing of it any more. One that is no more is allowed. [call] */
  void (*end)(const muster_call_v1 *call, uint64_t number);
} muster_http_streams_v1;

#ifdef __cplusplus
}
#endif

#endif /* MUSTER_HTTP_STREAMS_H */

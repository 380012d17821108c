/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What `libmuster-http.so` gives the core: one HTTP exchange over one connection. The core makes
 * `muster.http/1` of it by adding retries, redirects, proxy choice, counting, recording and redaction, so
 * those exist once, and a process that asks no network loads no TLS stack. Not for backends.
 */
#ifndef MUSTER_TRANSPORT_H
#define MUSTER_TRANSPORT_H

#include <muster/http.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct muster_transport_v1 {
  uint64_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  /**
   * One exchange: no retry, no redirect (3xx is a response), no environment (`proxy_url` NULL means
   * directly). Ends by call->deadline_ns, and within 100 ms of a cancel, whatever the other side does:
   * also while a name resolves, TLS shakes hands, or a server sends one byte a second. Only
   * deadline_ns and is_cancelled of `call` are used. The response lives until release. [thread-safe]
   *
   * Adds to `error` the details `phase` (resolve, connect, tls, proxy, send, wait, receive), `endpoint`
   * (host:port) and, as "1" or "0", `sent` (whether any byte of the request may have reached the server).
   */
  int32_t (*exchange)(const muster_host_v1 *host, const muster_call_v1 *call,
                      const muster_http_request_v1 *request, muster_http_response_v1 *response,
                      muster_error *error);
  void (*release)(muster_http_response_v1 *response);
  /** Closes connections kept for reuse. [thread-safe] */
  void (*close_idle)(void);
} muster_transport_v1;

/** The one symbol of libmuster-http.so. NULL: cannot run in this host, reason logged. [thread-safe] */
#define MUSTER_TRANSPORT_ENTRY_V1 "muster_service_entry_v1"
MUSTER_EXPORT const muster_transport_v1 *muster_service_entry_v1(const muster_host_v1 *host);

#ifdef __cplusplus
}
#endif

#endif /* MUSTER_TRANSPORT_H */

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * `muster.http/1`: how a plugin talks HTTP. Part of the interface of <muster/plugin.h>; its rules hold.
 *
 * The core does the rest: the whole exchange (names, connecting, TLS, redirects, retries, body) ends by
 * the call's deadline or cancel; safe requests are retried after 408, 429, 500, 502, 503, 504 and broken
 * connections with jittered backoff and Retry-After; connections are kept and reused; proxies come from
 * HTTPS_PROXY, HTTP_PROXY and NO_PROXY; gzip is undone; requests are counted, recorded, replayed and
 * redacted.
 */
#ifndef MUSTER_HTTP_H
#define MUSTER_HTTP_H

#include <muster/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_HTTP_V1 "muster.http/1"

/** Request flags. */
#define MUSTER_HTTP_IDEMPOTENT \
  UINT64_C(1) /* a POST that is safe to send again: it is retried like a GET */
#define MUSTER_HTTP_NO_RETRY UINT64_C(2) /* one attempt */
#define MUSTER_HTTP_FOLLOW_REDIRECTS \
  UINT64_C(4) /* to other origins too, without credentials; same-origin ones are followed always */
#define MUSTER_HTTP_SECRET_BODY \
  UINT64_C(8) /* the request and response bodies are secrets (a token endpoint) */
#define MUSTER_HTTP_INSECURE \
  UINT64_C(16) /* TLS without verification: only when the user asked for it */
#define MUSTER_HTTP_NO_PROXY UINT64_C(32) /* never through a proxy (the metadata server) */

/** A header. Names compare without case. Values of Authorization, Cookie, Proxy-Authorization and of headers marked secret show up nowhere. */
typedef struct muster_http_header_v1 {
  const char *name; /* ends with NUL */
  const char *value;
  uint64_t value_size;
} muster_http_header_v1;

/** Zero everywhere but struct_size, method and url is a valid request. Everything is borrowed until send returns. */
typedef struct muster_http_request_v1 {
  uint64_t struct_size;
  uint64_t flags;
  const char *method; /* "GET", "POST", ...; ends with NUL */
  const char
      *url; /* absolute, http or https; already percent-encoded; without user info or fragment */
  uint64_t url_size;
  const muster_http_header_v1 *headers; /* an array; this element type never grows */
  uint64_t header_count;
  const char *body;
  uint64_t body_size;
  uint64_t
      maximum_body_size; /* of the response, after gzip; 0: 64 MiB. Longer is MUSTER_E_RESOURCE_EXHAUSTED */
  const char *
      purpose; /* why this request is made, in a few words, for `muster explain`; ends with NUL; may be NULL */

  /* TLS material, PEM. Nothing given: the system's certificate authorities, no client certificate. */
  const char *ca_pem;
  uint64_t ca_pem_size;
  const char *client_certificate_pem;
  uint64_t client_certificate_pem_size;
  const char *client_key_pem;
  uint64_t client_key_pem_size;
  const char *
      tls_server_name; /* verify and ask (SNI) for this name instead of the URL's host; ends with NUL; may be NULL */

  const char *
      proxy_url; /* instead of the environment's; "http://host:port", or https or socks5; ends with NUL; may be NULL */

  /**
   * Streams the response instead of keeping it: called on the calling thread with each piece, in order,
   * of a response with a 2xx status (others are kept whole). Anything but MUSTER_OK stops the exchange and is
   * returned by send. A streamed request is not retried once a piece was handed over. May be NULL.
   */
  int32_t (*on_body)(void *on_body_ctx, const char *data, uint64_t size);
  void *on_body_ctx;

  int64_t
      timeout_ns; /* of the whole request with its retries, beside the call's deadline; 0: the call's alone */
  /**
   * Of a streamed response: how long it may be silent. A longer silence ends it with MUSTER_E_UNAVAILABLE, and timeout_ns then
   * counts up to the first piece alone: a stream that goes on is not cut. 0: by timeout_ns as a whole.
   */
  int64_t idle_timeout_ns;
} muster_http_request_v1;

/**
 * A response. The caller sets struct_size and zeroes the rest; send fills it. Everything it points to lives until
 * `release`, or else until the call ends.
 */
typedef struct muster_http_response_v1 {
  uint64_t struct_size;
  int64_t status;   /* 200, 404, ... */
  const char *body; /* never NULL after MUSTER_OK; followed by 64 readable zero bytes */
  uint64_t body_size;
  const muster_http_header_v1 *headers; /* names as received, in order */
  uint64_t header_count;
  void *ctx; /* the core's */
} muster_http_response_v1;

typedef struct muster_http_v1 {
  uint64_t struct_size;
  /**
   * Does one exchange, with its retries and redirects. MUSTER_OK means that a response was received, whatever its
   * status: look at `status`. Otherwise `error` says what failed: MUSTER_E_UNAVAILABLE (name, connection, cut off),
   * MUSTER_E_DEADLINE_EXCEEDED, MUSTER_E_CANCELLED, MUSTER_E_FAILED_PRECONDITION (TLS verification, with the reason), MUSTER_E_RESOURCE_EXHAUSTED (too
   * large), MUSTER_E_INVALID_ARGUMENT (the URL). [call]
   */
  int32_t (*send)(const muster_call_v1 *call, const muster_http_request_v1 *request,
                  muster_http_response_v1 *response, muster_error *error);
  /** The value of a header (the first of that name, compared without case), or MUSTER_E_NOT_FOUND. [call] */
  int32_t (*get_header)(const muster_http_response_v1 *response, const char *name,
                        const char **value, uint64_t *value_size);
  /** Frees a response before the call ends: between the pages of a long list. Zeroes it; NULL and zeroed are allowed. [call] */
  void (*release)(const muster_call_v1 *call, muster_http_response_v1 *response);
} muster_http_v1;

#ifdef __cplusplus
}
#endif

#endif /* MUSTER_HTTP_H */

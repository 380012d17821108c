/*
 * The layout of every struct that crosses the plugin interface, as literal numbers. A line here never changes
 * and never goes; a new field adds one at the end of its struct and a new size.
 */
#include <muster/http.h>
#include <muster/http_streams.h>
#include <muster/plugin.h>
#include <muster/process.h>
#include <muster/transport.h>

#include <stddef.h>

#define AT(type, field, offset) \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field " moved")
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has another size")

/* muster_host_v1 */
AT(muster_host_v1, struct_size, 0);
AT(muster_host_v1, abi_major, 8);
AT(muster_host_v1, abi_minor, 12);
AT(muster_host_v1, ctx, 16);
AT(muster_host_v1, log, 24);
AT(muster_host_v1, set_error, 32);
AT(muster_host_v1, add_detail, 40);
AT(muster_host_v1, get_service, 48);
SIZE(muster_host_v1, 56);

/* muster_task_v1 */
AT(muster_task_v1, struct_size, 0);
AT(muster_task_v1, job, 8);
AT(muster_task_v1, job_size, 16);
AT(muster_task_v1, index, 24);
AT(muster_task_v1, name, 32);
AT(muster_task_v1, name_size, 40);
AT(muster_task_v1, address, 48);
AT(muster_task_v1, address_size, 56);
AT(muster_task_v1, port, 64);
SIZE(muster_task_v1, 72);

/* muster_missing_v1 */
AT(muster_missing_v1, struct_size, 0);
AT(muster_missing_v1, job, 8);
AT(muster_missing_v1, job_size, 16);
AT(muster_missing_v1, index, 24);
AT(muster_missing_v1, name, 32);
AT(muster_missing_v1, name_size, 40);
AT(muster_missing_v1, reason, 48);
AT(muster_missing_v1, reason_size, 56);
SIZE(muster_missing_v1, 64);

/* muster_identity_v1 */
AT(muster_identity_v1, struct_size, 0);
AT(muster_identity_v1, job, 8);
AT(muster_identity_v1, job_size, 16);
AT(muster_identity_v1, index, 24);
AT(muster_identity_v1, name, 32);
AT(muster_identity_v1, name_size, 40);
AT(muster_identity_v1, evidence, 48);
AT(muster_identity_v1, evidence_size, 56);
SIZE(muster_identity_v1, 64);

/* muster_call_v1 */
AT(muster_call_v1, struct_size, 0);
AT(muster_call_v1, ctx, 8);
AT(muster_call_v1, deadline_ns, 16);
AT(muster_call_v1, is_cancelled, 24);
AT(muster_call_v1, set_progress, 32);
AT(muster_call_v1, add_job, 40);
AT(muster_call_v1, add_task, 48);
AT(muster_call_v1, set_attribute, 56);
AT(muster_call_v1, add_missing, 64);
AT(muster_call_v1, set_expected, 72);
AT(muster_call_v1, set_identity, 80);
AT(muster_call_v1, add_warning, 88);
AT(muster_call_v1, mark_secret, 96);
AT(muster_call_v1, commit, 104);
AT(muster_call_v1, add_permission, 112);
AT(muster_call_v1, set_grant, 120);
AT(muster_call_v1, add_planned, 128);
AT(muster_call_v1, flags, 136);
AT(muster_call_v1, interval_ns, 144);
SIZE(muster_call_v1, 152);

/* muster_permission_v1 */
AT(muster_permission_v1, struct_size, 0);
AT(muster_permission_v1, principal_kind, 8);
AT(muster_permission_v1, principal_kind_size, 16);
AT(muster_permission_v1, principal, 24);
AT(muster_permission_v1, principal_size, 32);
AT(muster_permission_v1, scope, 40);
AT(muster_permission_v1, scope_size, 48);
AT(muster_permission_v1, rule, 56);
AT(muster_permission_v1, rule_size, 64);
SIZE(muster_permission_v1, 72);

/* muster_permissions_request_v1 */
AT(muster_permissions_request_v1, struct_size, 0);
AT(muster_permissions_request_v1, flags, 8);
AT(muster_permissions_request_v1, principal, 16);
AT(muster_permissions_request_v1, principal_size, 24);
SIZE(muster_permissions_request_v1, 32);

/* muster_permissions_v1 */
AT(muster_permissions_v1, struct_size, 0);
AT(muster_permissions_v1, permissions, 8);
SIZE(muster_permissions_v1, 16);

/* muster_planned_v1 */
AT(muster_planned_v1, struct_size, 0);
AT(muster_planned_v1, api, 8);
AT(muster_planned_v1, api_size, 16);
AT(muster_planned_v1, request, 24);
AT(muster_planned_v1, request_size, 32);
AT(muster_planned_v1, reason, 40);
AT(muster_planned_v1, reason_size, 48);
AT(muster_planned_v1, least, 56);
AT(muster_planned_v1, most, 64);
AT(muster_planned_v1, quota, 72);
AT(muster_planned_v1, quota_size, 80);
AT(muster_planned_v1, quota_per_minute, 88);
SIZE(muster_planned_v1, 96);

/* muster_plan_request_v1 */
AT(muster_plan_request_v1, struct_size, 0);
AT(muster_plan_request_v1, members, 8);
SIZE(muster_plan_request_v1, 16);

/* muster_plan_v1 */
AT(muster_plan_v1, struct_size, 0);
AT(muster_plan_v1, plan, 8);
SIZE(muster_plan_v1, 16);

/* muster_watch_v1 */
AT(muster_watch_v1, struct_size, 0);
AT(muster_watch_v1, watch, 8);
SIZE(muster_watch_v1, 16);

/* muster_plugin_v1 */
AT(muster_plugin_v1, struct_size, 0);
AT(muster_plugin_v1, abi_major, 8);
AT(muster_plugin_v1, abi_minor, 12);
AT(muster_plugin_v1, name, 16);
AT(muster_plugin_v1, version, 24);
AT(muster_plugin_v1, create, 32);
AT(muster_plugin_v1, destroy, 40);
AT(muster_plugin_v1, resolve, 48);
AT(muster_plugin_v1, interrupt, 56);
AT(muster_plugin_v1, get_extension, 64);
SIZE(muster_plugin_v1, 72);

/* muster_options_v1 */
AT(muster_options_v1, struct_size, 0);
AT(muster_options_v1, get_text, 8);
AT(muster_options_v1, get_integer, 16);
AT(muster_options_v1, get_boolean, 24);
AT(muster_options_v1, get_size, 32);
AT(muster_options_v1, get_key, 40);
AT(muster_options_v1, get_json, 48);
SIZE(muster_options_v1, 56);

/* muster_clock_v1 */
AT(muster_clock_v1, struct_size, 0);
AT(muster_clock_v1, monotonic_ns, 8);
AT(muster_clock_v1, realtime_ns, 16);
AT(muster_clock_v1, sleep_ns, 24);
SIZE(muster_clock_v1, 32);

/* muster_environment_v1 */
AT(muster_environment_v1, struct_size, 0);
AT(muster_environment_v1, get_variable, 8);
AT(muster_environment_v1, read_file, 16);
AT(muster_environment_v1, get_hostname, 24);
SIZE(muster_environment_v1, 32);

/* muster_address_v1 */
AT(muster_address_v1, struct_size, 0);
AT(muster_address_v1, check, 8);
SIZE(muster_address_v1, 16);

/* muster_http_header_v1 */
AT(muster_http_header_v1, name, 0);
AT(muster_http_header_v1, value, 8);
AT(muster_http_header_v1, value_size, 16);
SIZE(muster_http_header_v1, 24);

/* muster_http_request_v1 */
AT(muster_http_request_v1, struct_size, 0);
AT(muster_http_request_v1, flags, 8);
AT(muster_http_request_v1, method, 16);
AT(muster_http_request_v1, url, 24);
AT(muster_http_request_v1, url_size, 32);
AT(muster_http_request_v1, headers, 40);
AT(muster_http_request_v1, header_count, 48);
AT(muster_http_request_v1, body, 56);
AT(muster_http_request_v1, body_size, 64);
AT(muster_http_request_v1, maximum_body_size, 72);
AT(muster_http_request_v1, purpose, 80);
AT(muster_http_request_v1, ca_pem, 88);
AT(muster_http_request_v1, ca_pem_size, 96);
AT(muster_http_request_v1, client_certificate_pem, 104);
AT(muster_http_request_v1, client_certificate_pem_size, 112);
AT(muster_http_request_v1, client_key_pem, 120);
AT(muster_http_request_v1, client_key_pem_size, 128);
AT(muster_http_request_v1, tls_server_name, 136);
AT(muster_http_request_v1, proxy_url, 144);
AT(muster_http_request_v1, on_body, 152);
AT(muster_http_request_v1, on_body_ctx, 160);
AT(muster_http_request_v1, timeout_ns, 168);
AT(muster_http_request_v1, idle_timeout_ns, 176);
SIZE(muster_http_request_v1, 184);

/* muster_http_response_v1 */
AT(muster_http_response_v1, struct_size, 0);
AT(muster_http_response_v1, status, 8);
AT(muster_http_response_v1, body, 16);
AT(muster_http_response_v1, body_size, 24);
AT(muster_http_response_v1, headers, 32);
AT(muster_http_response_v1, header_count, 40);
AT(muster_http_response_v1, ctx, 48);
SIZE(muster_http_response_v1, 56);

/* muster_http_v1 */
AT(muster_http_v1, struct_size, 0);
AT(muster_http_v1, send, 8);
AT(muster_http_v1, get_header, 16);
AT(muster_http_v1, release, 24);
SIZE(muster_http_v1, 32);

/* muster_process_request_v1 */
AT(muster_process_request_v1, struct_size, 0);
AT(muster_process_request_v1, flags, 8);
AT(muster_process_request_v1, arguments, 16);
AT(muster_process_request_v1, argument_count, 24);
AT(muster_process_request_v1, environment, 32);
AT(muster_process_request_v1, environment_count, 40);
AT(muster_process_request_v1, maximum_output_size, 48);
AT(muster_process_request_v1, timeout_ns, 56);
SIZE(muster_process_request_v1, 64);

/* muster_process_result_v1 */
AT(muster_process_result_v1, struct_size, 0);
AT(muster_process_result_v1, exit_status, 8);
AT(muster_process_result_v1, output, 16);
AT(muster_process_result_v1, output_size, 24);
AT(muster_process_result_v1, error_output, 32);
AT(muster_process_result_v1, error_output_size, 40);
AT(muster_process_result_v1, keep, 48);
SIZE(muster_process_result_v1, 56);

/* muster_http_streams_v1 */
AT(muster_http_streams_v1, struct_size, 0);
AT(muster_http_streams_v1, begin, 8);
AT(muster_http_streams_v1, next, 16);
AT(muster_http_streams_v1, end, 24);
SIZE(muster_http_streams_v1, 32);

/* muster_process_v1 */
AT(muster_process_v1, struct_size, 0);
AT(muster_process_v1, has_terminal, 8);
AT(muster_process_v1, run, 16);
SIZE(muster_process_v1, 24);

/* muster_transport_v1 */
AT(muster_transport_v1, struct_size, 0);
AT(muster_transport_v1, abi_major, 8);
AT(muster_transport_v1, abi_minor, 12);
AT(muster_transport_v1, exchange, 16);
AT(muster_transport_v1, release, 24);
AT(muster_transport_v1, close_idle, 32);
SIZE(muster_transport_v1, 40);

/* Numbers that callers were compiled with. */
_Static_assert(MUSTER_OK == 0 && MUSTER_E_CANCELLED == 1 && MUSTER_E_UNKNOWN == 2,
               "a code changed");
_Static_assert(MUSTER_E_INVALID_ARGUMENT == 3 && MUSTER_E_DEADLINE_EXCEEDED == 4 &&
                   MUSTER_E_NOT_FOUND == 5,
               "a code changed");
_Static_assert(MUSTER_E_ALREADY_EXISTS == 6 && MUSTER_E_PERMISSION_DENIED == 7 &&
                   MUSTER_E_RESOURCE_EXHAUSTED == 8,
               "a code changed");
_Static_assert(MUSTER_E_FAILED_PRECONDITION == 9 && MUSTER_E_ABORTED == 10 &&
                   MUSTER_E_OUT_OF_RANGE == 11,
               "a code changed");
_Static_assert(MUSTER_E_UNIMPLEMENTED == 12 && MUSTER_E_INTERNAL == 13 &&
                   MUSTER_E_UNAVAILABLE == 14,
               "a code changed");
_Static_assert(MUSTER_E_DATA_LOSS == 15 && MUSTER_E_UNAUTHENTICATED == 16, "a code changed");
_Static_assert(MUSTER_LOG_DEBUG == 0 && MUSTER_LOG_INFO == 1 && MUSTER_LOG_WARNING == 2 &&
                   MUSTER_LOG_ERROR == 3,
               "a level changed");
_Static_assert(MUSTER_LOG_HOST_MISBEHAVES == 4, "a level changed");
_Static_assert(MUSTER_PLUGIN_ABI_MAJOR == 1, "another major is another header");
_Static_assert(MUSTER_UNRANKED == -1 && MUSTER_NUL_TERMINATED == UINT64_MAX &&
                   MUSTER_TASKS_MAXIMUM == 1048576,
               "a value changed");
_Static_assert(MUSTER_NO_DEADLINE == INT64_C(4611686018427387903), "a value changed");
_Static_assert(MUSTER_PERMISSIONS_WATCH == 1, "a flag changed");
_Static_assert(MUSTER_FILE_SECRET == 1 && MUSTER_PROCESS_TERMINAL == 1, "a flag changed");
_Static_assert(MUSTER_HTTP_IDEMPOTENT == 1 && MUSTER_HTTP_NO_RETRY == 2 &&
                   MUSTER_HTTP_FOLLOW_REDIRECTS == 4,
               "a flag changed");
_Static_assert(MUSTER_HTTP_SECRET_BODY == 8 && MUSTER_HTTP_INSECURE == 16 &&
                   MUSTER_HTTP_NO_PROXY == 32,
               "a flag changed");

int main(void) { return 0; }

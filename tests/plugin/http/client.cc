// The other side of libmuster-http.so in a test.
#include "client.h"

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct muster_error {
  int32_t code = 0;
  std::string message;
  std::map<std::string, std::string> details;
};

namespace muster::test {

namespace {

struct NameServers {
  uint64_t struct_size;
  const char *servers;
};

struct Host {
  muster_host_v1 table{};
  NameServers name_servers{sizeof(NameServers), nullptr};
};

std::string text(const char *data, uint64_t size) {
  return size == MUSTER_NUL_TERMINATED ? std::string(data) : std::string(data, size);
}

void log_line(const muster_host_v1 *, int32_t, const char *data, uint64_t size) {
  std::fprintf(stderr, "log: %s\n", text(data, size).c_str());
}

int32_t set_error(muster_error *error, int32_t code, const char *message, uint64_t size) {
  if (error) *error = {code, text(message, size), {}};
  return code;
}

void add_detail(muster_error *error, const char *key, const char *value, uint64_t size) {
  if (error) error->details[key] = text(value, size);
}

const void *get_service(const muster_host_v1 *host, const char *id) {
  const auto *name_servers = static_cast<const NameServers *>(host->ctx);
  if (std::strcmp(id, "muster.http.name-servers/1") == 0 && name_servers->servers)
    return name_servers;
  return nullptr;
}

void set_up(Host &host, const char *servers) {
  host.name_servers.servers = servers;
  host.table.struct_size = sizeof host.table;
  host.table.abi_major = MUSTER_PLUGIN_ABI_MAJOR;
  host.table.abi_minor = MUSTER_PLUGIN_ABI_MINOR;
  host.table.ctx = &host.name_servers;
  host.table.log = log_line;
  host.table.set_error = set_error;
  host.table.add_detail = add_detail;
  host.table.get_service = get_service;
}

int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

int32_t is_cancelled(const muster_call_v1 *call) {
  return now_ns() >= *static_cast<const int64_t *>(call->ctx) ? 1 : 0;
}

int32_t on_body(void *ctx, const char *data, uint64_t size) {
  return (*static_cast<const std::function<int32_t(const char *, uint64_t)> *>(ctx))(data, size);
}

}  // namespace

const muster_transport_v1 &transport() {
  static const muster_transport_v1 &loaded = *[] {
    void *library = dlopen(MUSTER_TRANSPORT_PATH, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::fprintf(stderr, "cannot load: %s\n", dlerror());
      std::abort();
    }
    auto *entry = reinterpret_cast<decltype(&muster_service_entry_v1)>(
        dlsym(library, MUSTER_TRANSPORT_ENTRY_V1));
    Host host;
    set_up(host, nullptr);
    return entry(&host.table);
  }();
  return loaded;
}

std::string Answer::header(const std::string &name) const {
  for (const auto &[key, value] : headers) {
    if (key == name) return value;
  }
  return "(none)";
}

Answer ask(const Ask &wanted) {
  Host host;
  set_up(host, wanted.name_servers.empty() ? nullptr : wanted.name_servers.c_str());
  const int64_t start = now_ns();
  int64_t cancel_at = wanted.cancel_after.count() == 0
                          ? INT64_MAX
                          : start + wanted.cancel_after.count() * 1'000'000;
  muster_call_v1 call{};
  call.struct_size = sizeof call;
  call.ctx = &cancel_at;
  call.deadline_ns = start + wanted.timeout.count() * 1'000'000;
  call.is_cancelled = is_cancelled;

  std::vector<muster_http_header_v1> headers;
  for (const auto &[name, value] : wanted.headers)
    headers.push_back({name.c_str(), value.data(), value.size()});
  muster_http_request_v1 request{};
  request.struct_size = sizeof request;
  request.flags = wanted.flags;
  request.method = wanted.method.c_str();
  request.url = wanted.url.data();
  request.url_size = wanted.url.size();
  request.headers = headers.data();
  request.header_count = headers.size();
  request.body = wanted.body.data();
  request.body_size = wanted.body.size();
  request.maximum_body_size = wanted.limit;
  request.ca_pem = wanted.ca.data();
  request.ca_pem_size = wanted.ca.size();
  request.client_certificate_pem = wanted.certificate.data();
  request.client_certificate_pem_size = wanted.certificate.size();
  request.client_key_pem = wanted.key.data();
  request.client_key_pem_size = wanted.key.size();
  request.tls_server_name = wanted.server_name.empty() ? nullptr : wanted.server_name.c_str();
  request.proxy_url = wanted.proxy.empty() ? nullptr : wanted.proxy.c_str();
  if (wanted.on_body) {
    request.on_body = on_body;
    request.on_body_ctx =
        const_cast<std::function<int32_t(const char *, uint64_t)> *>(&wanted.on_body);
  }

  muster_http_response_v1 response{};
  response.struct_size = sizeof response;
  muster_error error;
  Answer answer;
  answer.code = transport().exchange(&host.table, &call, &request, &response, &error);
  answer.took = std::chrono::milliseconds((now_ns() - start) / 1'000'000);
  answer.message = error.message;
  answer.details = error.details;
  if (answer.code == MUSTER_OK) {
    answer.status = response.status;
    answer.body.assign(response.body, response.body_size);
    answer.zeros_behind =
        std::all_of(response.body + response.body_size, response.body + response.body_size + 64,
                    [](char c) { return c == 0; });
    for (uint64_t i = 0; i < response.header_count; ++i) {
      answer.headers.emplace_back(
          response.headers[i].name,
          std::string(response.headers[i].value, response.headers[i].value_size));
    }
    transport().release(&response);
  }
  return answer;
}

Answer get(const std::string &url) {
  Ask wanted;
  wanted.url = url;
  return ask(wanted);
}

}  // namespace muster::test

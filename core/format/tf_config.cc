// TF_CONFIG, written.
#include <charconv>
#include <cstring>

#include "core/format/renderers.h"

namespace muster {
namespace {

void append_member(std::string& out, const char* key, std::string_view value) {
  if (value.empty()) return;
  out += ", \"";
  out += key;
  out += "\": ";
  append_json(out, value);
}

// Copies a short text: two overlapping words for the sizes that hosts mostly have, where a call of memcpy costs more than the copy.
char* put(char* to, const char* from, size_t size) {
  if (size >= 8 && size <= 16) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4 && size < 8) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else {
    std::memcpy(to, from, size);
  }
  return to + size;
}

char* put(char* to, std::string_view text) { return put(to, text.data(), text.size()); }

char* put_number(char* to, uint32_t value) { return std::to_chars(to, to + 10, value).ptr; }

// Bytes around a host, at most.
constexpr size_t kAround = sizeof(R"(, "2147483647": "[]:65535")");

// Writes `"ADDRESS"` items, or `"INDEX": "ADDRESS"` ones. Not through Emitter: this is the path of a hundred thousand tasks. An
// address has no character that JSON escapes. Neighbours mostly share their port, so its digits are kept; items are put
// together in a small buffer, which stays in the processor's cache.
void append_tasks(std::string& out, const Job& job, bool dense) {
  char buffer[8192];
  char* to = buffer;
  char tail[8];  // :65535"
  size_t tail_size = 0;
  uint32_t tail_port = 0;
  for (const Task& task : job.tasks) {
    const Address& address = task.address;
    const size_t host_size =
        address.host().size();  // at most 320: a name's 254, or IPv6 with its zone
    if (static_cast<size_t>(buffer + sizeof buffer - to) < host_size + kAround) {
      out.append(buffer, static_cast<size_t>(to - buffer));
      to = buffer;
    }
    if (&task != job.tasks.data()) to = put(to, ", ");
    *to++ = '"';
    if (!dense) {
      to = put_number(to, static_cast<uint32_t>(task.index));
      to = put(to, "\": \"");
    }
    if (address.port() != tail_port) {
      tail_port = address.port();
      tail[0] = ':';
      char* end = put_number(tail + 1, tail_port);
      *end++ = '"';
      tail_size = static_cast<size_t>(end - tail);
    }
    if (address.is_ipv6()) *to++ = '[';
    to = put(to, address.host().data(), host_size);
    if (address.is_ipv6()) *to++ = ']';
    to = put(to, tail, tail_size);
  }
  out.append(buffer, static_cast<size_t>(to - buffer));
}

// At most the bytes that append_cluster adds, names with escapes in them aside.
size_t cluster_size(const ClusterSpec& spec) {
  size_t size = sizeof("{}");
  for (const Job& job : spec.jobs()) {
    const bool dense = job.dense();
    const size_t around = dense ? sizeof(R"(, "[]:65535")") : kAround;
    size += job.name.size() + sizeof(R"(, "": [])") + job.tasks.size() * around;
    for (const Task& task : job.tasks) size += task.address.host().size();
  }
  return size;
}

void append_cluster(std::string& out, const ClusterSpec& spec) {
  out.reserve(out.size() + cluster_size(spec));
  out += '{';
  bool first = true;
  for (const Job& job : spec.jobs()) {
    if (!first) out += ", ";
    first = false;
    append_json(out, job.name);
    const bool dense = job.dense();
    out += dense ? ": [" : ": {";
    append_tasks(out, job, dense);
    out += dense ? ']' : '}';
  }
  out += '}';
}

}  // namespace

std::string cluster_to_json(const ClusterSpec& spec) {
  std::string out;
  append_cluster(out, spec);
  return out;
}

Result<std::string> render_tf_config(const Snapshot& snapshot, const FormatOptions& options) {
  auto task = speaking_task(snapshot, options);
  if (!task) return std::move(task).error();

  std::string out = "{\"cluster\": ";
  append_cluster(out, snapshot.spec);
  if (task->known() || !task->type.empty()) {
    out += ", \"task\": {";
    if (!task->type.empty()) {
      out += "\"type\": ";
      append_json(out, task->type);
    }
    if (task->known()) {
      out += task->type.empty() ? "\"index\": " : ", \"index\": ";
      append_number(out, task->index);
    }
    out += '}';
  }
  append_member(out, "rpc_layer", options.rpc_layer ? *options.rpc_layer : snapshot.rpc_layer);
  append_member(out, "environment", snapshot.environment);
  // TensorFlow's master() says session_master whatever it is asked, so it stands only where this process's source says so.
  const bool as_itself = !options.task_type && !options.task_id;
  if (const auto said = source_master(snapshot, options.rpc_layer); said && as_itself)
    append_member(out, "session_master", *said);
  out += "}\n";
  return out;
}

}  // namespace muster

#include "plugins/kubernetes/pod_list.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using simdjson::error_code;
using simdjson::SUCCESS;
using simdjson::ondemand::array;
using simdjson::ondemand::json_type;
using simdjson::ondemand::object;
using simdjson::ondemand::value;

// Go leaves out what is empty or writes it as null: both mean "not there".
error_code present(value& value, json_type wanted, bool& there) {
  json_type type;
  if (auto error = value.type().get(type)) return error;
  there = type == wanted;
  if (there) return SUCCESS;
  if (type != json_type::null) return simdjson::INCORRECT_TYPE;
  bool null = false;
  return value.is_null().get(null);
}

error_code read_text(value& value, std::string& out) {
  bool there = false;
  if (auto error = present(value, json_type::string, there); error || !there) return error;
  std::string_view text;
  if (auto error = value.get_string().get(text)) return error;
  // No name, address or reason has a NUL in it, and none may cross with one (MP-4).
  if (text.find('\0') != std::string_view::npos) return simdjson::STRING_ERROR;
  out.assign(text);
  return SUCCESS;
}

// Calls `take(key, value)` for each field of an object; a null is one without fields.
template <typename Take>
error_code each_field(value& value, const Take& take) {
  bool there = false;
  if (auto error = present(value, json_type::object, there); error || !there) return error;
  object fields;
  if (auto error = value.get_object().get(fields)) return error;
  for (auto field : fields) {
    simdjson::ondemand::raw_json_string key;
    if (auto error = field.key().get(key)) return error;
    simdjson::ondemand::value inside;
    if (auto error = field.value().get(inside)) return error;
    if (auto error = take(key, inside)) return error;
  }
  return SUCCESS;
}

template <typename Take>
error_code each_element(value& value, const Take& take) {
  bool there = false;
  if (auto error = present(value, json_type::array, there); error || !there) return error;
  array elements;
  if (auto error = value.get_array().get(elements)) return error;
  for (auto element : elements) {
    simdjson::ondemand::value inside;
    if (auto error = element.get(inside)) return error;
    if (auto error = take(inside)) return error;
  }
  return SUCCESS;
}

// A label's text as an index; others leave `out` alone.
error_code read_index(value& value, int64_t& out) {
  std::string text;
  if (auto error = read_text(value, text)) return error;
  if (const auto number = support::parse_digits(text, 2147483647)) out = *number;
  return SUCCESS;
}

// Labels and annotations: the platforms put the index into either.
error_code read_labels(value& value, Pod& pod) {
  return each_field(value, [&](const auto& key, auto& inside) -> error_code {
    if (key == "batch.kubernetes.io/job-completion-index" ||
        key == "apps.kubernetes.io/pod-index" || key == "training.kubeflow.org/replica-index" ||
        key == "leaderworkerset.sigs.k8s.io/worker-index")
      return read_index(inside, pod.index);
    if (key == "jobset.sigs.k8s.io/job-index" || key == "leaderworkerset.sigs.k8s.io/group-index")
      return read_index(inside, pod.group);
    if (key == "leaderworkerset.sigs.k8s.io/size") return read_index(inside, pod.group_size);
    if (key == "training.kubeflow.org/replica-type" ||
        key == "jobset.sigs.k8s.io/replicatedjob-name")
      return read_text(inside, pod.role);
    return SUCCESS;
  });
}

error_code read_metadata(value& value, Pod& pod) {
  return each_field(value, [&](const auto& key, auto& inside) -> error_code {
    if (key == "name") return read_text(inside, pod.name);
    if (key == "namespace") return read_text(inside, pod.name_space);
    if (key == "uid") return read_text(inside, pod.uid);
    if (key == "creationTimestamp") return read_text(inside, pod.created);
    if (key == "deletionTimestamp") return read_text(inside, pod.deleted);
    if (key == "labels" || key == "annotations") return read_labels(inside, pod);
    if (key == "ownerReferences")
      return each_element(inside, [&](auto& reference) -> error_code {
        std::string kind, name;
        bool controller = false;
        const auto error = each_field(reference, [&](const auto& field, auto& what) -> error_code {
          if (field == "kind") return read_text(what, kind);
          if (field == "name") return read_text(what, name);
          if (field == "controller") {
            bool there = false;
            if (auto wrong = present(what, json_type::boolean, there); wrong || !there)
              return wrong;
            return what.get_bool().get(controller);
          }
          return SUCCESS;
        });
        if (!error && controller) pod.owner = kind + "/" + name;
        return error;
      });
    return SUCCESS;
  });
}

// A quantity of devices: "4", or 4 as some servers write it.
error_code read_quantity(value& value, int64_t& sum) {
  json_type type;
  if (auto error = value.type().get(type)) return error;
  int64_t count = 0;
  if (type == json_type::number) {
    if (auto error = value.get_int64().get(count)) return error;
    if (count > 0 && count <= 1000000) sum += count;
    return SUCCESS;
  }
  std::string text;
  if (auto error = read_text(value, text)) return error;
  if (const auto number = support::parse_digits(text, 1000000)) sum += *number;
  return SUCCESS;
}

error_code read_container(value& value, Pod& pod) {
  return each_field(value, [&](const auto& key, auto& resources) -> error_code {
    if (!(key == "resources")) return SUCCESS;
    return each_field(resources, [&](const auto& name, auto& limits) -> error_code {
      if (!(name == "limits")) return SUCCESS;
      return each_field(limits, [&](const auto& resource, auto& quantity) -> error_code {
        if (resource == "nvidia.com/gpu" || resource == "amd.com/gpu")
          return read_quantity(quantity, pod.gpus);
        if (resource == "google.com/tpu") return read_quantity(quantity, pod.tpus);
        return SUCCESS;
      });
    });
  });
}

error_code read_spec(value& value, Pod& pod) {
  return each_field(value, [&](const auto& key, auto& inside) -> error_code {
    if (key == "nodeName") return read_text(inside, pod.node);
    if (key == "hostname") return read_text(inside, pod.hostname);
    if (key == "containers")
      return each_element(inside, [&](auto& container) { return read_container(container, pod); });
    return SUCCESS;
  });
}

error_code read_condition(value& value, Pod& pod) {
  std::string type, status, reason, message;
  const auto error = each_field(value, [&](const auto& key, auto& inside) -> error_code {
    if (key == "type") return read_text(inside, type);
    if (key == "status") return read_text(inside, status);
    if (key == "reason") return read_text(inside, reason);
    if (key == "message") return read_text(inside, message);
    return SUCCESS;
  });
  if (!error && type == "PodScheduled" && status == "False")
    pod.unschedulable = message.empty() ? reason : message;
  return error;
}

error_code read_container_status(value& value, Pod& pod) {
  return each_field(value, [&](const auto& key, auto& state) -> error_code {
    if (!(key == "state")) return SUCCESS;
    return each_field(state, [&](const auto& kind, auto& inside) -> error_code {
      const bool waiting = kind == "waiting", terminated = kind == "terminated";
      if (!waiting && !terminated) return SUCCESS;
      std::string reason, message;
      int64_t exit_code = 0;
      if (auto error = each_field(inside, [&](const auto& name, auto& what) -> error_code {
            if (name == "reason") return read_text(what, reason);
            if (name == "message") return read_text(what, message);
            if (name == "exitCode") {
              bool there = false;
              if (auto wrong = present(what, json_type::number, there); wrong || !there)
                return wrong;
              return what.get_int64().get(exit_code);
            }
            return SUCCESS;
          }))
        return error;
      if (waiting && pod.waiting.empty() && reason != "PodInitializing")
        pod.waiting = message.empty() ? reason : fmt::format("{}: {}", reason, message);
      if (terminated && exit_code != 0 && pod.terminated.empty())
        pod.terminated =
            fmt::format("{}{}exit code {}", reason, reason.empty() ? "" : ", ", exit_code);
      return SUCCESS;
    });
  });
}

error_code read_pod_status(value& value, Pod& pod) {
  return each_field(value, [&](const auto& key, auto& inside) -> error_code {
    if (key == "phase") return read_text(inside, pod.phase);
    if (key == "podIP") return read_text(inside, pod.ip);
    if (key == "reason") return read_text(inside, pod.reason);
    if (key == "message") return read_text(inside, pod.message);
    if (key == "conditions")
      return each_element(inside, [&](auto& condition) { return read_condition(condition, pod); });
    if (key == "containerStatuses" || key == "initContainerStatuses")
      return each_element(inside, [&](auto& status) { return read_container_status(status, pod); });
    return SUCCESS;
  });
}

error_code read_pod(value& value, Pod& pod) {
  return each_field(value, [&](const auto& key, auto& inside) -> error_code {
    if (key == "metadata") return read_metadata(inside, pod);
    if (key == "spec") return read_spec(inside, pod);
    if (key == "status") return read_pod_status(inside, pod);
    return SUCCESS;
  });
}

sdk::Failure not_understood(const std::string& why) {
  return {MUSTER_E_DATA_LOSS, "the answer of the API server cannot be understood: " + why, {}};
}

bool is_ip(const std::string& text) {
  in6_addr address;  // large enough for both
  if (text.find('\0') != std::string::npos) return false;
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

// What no pod of a real server is like; "" when it is fine.
std::string oddity(const Pod& pod) {
  if (pod.name.empty()) return "a pod has no name";
  if (!pod.ip.empty() && !is_ip(pod.ip))
    return fmt::format("pod {} has the podIP {}, which is no IP address", support::quote(pod.name),
                       support::quote(pod.ip));
  if (pod.phase.empty()) return fmt::format("pod {} has no phase", support::quote(pod.name));
  return "";
}

}  // namespace

sdk::Result<PodPage> PodListReader::read(std::string_view body) {
  const simdjson::padded_string_view text(body.data(), body.size(),
                                          body.size() + simdjson::SIMDJSON_PADDING);
  PodPage page;
  std::string kind, odd;
  bool has_items = false;
  simdjson::ondemand::document document;
  const auto walk = [&]() -> error_code {
    if (auto error = parser_.iterate(text).get(document)) return error;
    value root;
    if (auto error = document.get_value().get(root)) return error;
    return each_field(root, [&](const auto& key, auto& inside) -> error_code {
      if (key == "kind") return read_text(inside, kind);
      if (key == "metadata")
        return each_field(inside, [&](const auto& name, auto& what) -> error_code {
          return name == "continue" ? read_text(what, page.next) : SUCCESS;
        });
      if (key == "items") {
        has_items = true;
        return each_element(inside, [&](auto& item) -> error_code {
          Pod pod;
          if (auto error = read_pod(item, pod)) return error;
          if (odd.empty()) odd = oddity(pod);
          page.pods.push_back(std::move(pod));
          return SUCCESS;
        });
      }
      return SUCCESS;
    });
  };
  if (auto error = walk())
    return not_understood(
        fmt::format("{} ({} bytes)", simdjson::error_message(error), body.size()));
  const char* rest = nullptr;
  if (!document.current_location().get(rest)) return not_understood("something follows its end");
  if (!kind.empty() && kind != "PodList")
    return not_understood(fmt::format("it is a {}, not a PodList", support::quote(kind)));
  if (!has_items) return not_understood("it has no 'items'");
  if (!odd.empty()) return not_understood(odd);
  return page;
}

ApiStatus read_status(std::string_view body) {
  ApiStatus status;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  const simdjson::padded_string copy(body);
  value root;
  if (parser.iterate(copy).get(document) || document.get_value().get(root)) return {};
  std::string kind;
  const auto error = each_field(root, [&](const auto& key, auto& inside) -> error_code {
    if (key == "kind") return read_text(inside, kind);
    if (key == "message") return read_text(inside, status.message);
    if (key == "reason") return read_text(inside, status.reason);
    return SUCCESS;
  });
  if (error || kind != "Status") return {};
  return status;
}

}  // namespace muster::kubernetes

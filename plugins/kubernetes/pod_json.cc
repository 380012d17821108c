#include "plugins/kubernetes/pod_json.h"

#include <algorithm>
#include <vector>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using namespace json;

class PodReader {
 public:
  PodReader(const Wanted& wanted, PodList& list, Pod& pod, std::string* version)
      : wanted_(wanted), list_(list), pod_(pod), version_(version) {}

  error_code read(value& value) {
    return each_field(value, [&](const auto& key, auto& inside) -> error_code {
      if (key == "metadata") return read_metadata(inside);
      if (key == "spec") return read_spec(inside);
      if (key == "status") return read_status(inside);
      return SUCCESS;
    });
  }

 private:
  error_code add(value& value, Text& out) {
    std::string_view text;
    if (auto error = read_view(value, text)) return error;
    out = list_.texts.add(text);
    return SUCCESS;
  }

  // For texts that many pods have.
  error_code share(value& value, Text& out) {
    std::string_view text;
    if (auto error = read_view(value, text)) return error;
    out = list_.texts.shared(text);
    return SUCCESS;
  }

  // Of the status' troubles, which mostly are not there.
  error_code add_trouble(value& value, Text Trouble::*field) {
    std::string_view text;
    if (auto error = read_view(value, text)) return error;
    if (!text.empty()) list_.trouble_of(pod_).*field = list_.texts.add(text);
    return SUCCESS;
  }

  error_code read_time(value& value, int64_t& out) {
    std::string_view text;
    if (auto error = read_view(value, text)) return error;
    if (text.empty()) return SUCCESS;
    const auto time = parse_time(text);
    if (!time) return simdjson::INCORRECT_TYPE;
    out = *time;
    return SUCCESS;
  }

  error_code read_labels(value& value) {
    return each_field(value, [&](const auto& key, auto& inside) -> error_code {
      std::string_view text;
      if (auto error = read_view(inside, text)) return error;
      take_label(pod_, list_.texts, key.view(), text);
      return SUCCESS;
    });
  }

  error_code read_annotations(value& value) {
    return each_field(value, [&](const auto& key, auto& inside) -> error_code {
      const std::string_view name = key.view();
      std::string_view text;
      if (auto error = read_view(inside, text)) return error;
      take_label(pod_, list_.texts, name, text);
      for (size_t n = 0; n < wanted_.annotations.size(); ++n) {
        if (wanted_.annotations[n] != name) continue;
        if (annotations_ == nullptr)
          pod_.annotations = annotations_ =
              list_.texts.template make<Text>(wanted_.annotations.size());
        annotations_[n] = list_.texts.add(text);
      }
      return SUCCESS;
    });
  }

  error_code read_owner(value& value) {
    return each_element(value, [&](auto& reference) -> error_code {
      std::string_view kind, name, uid;
      bool controller = false;
      const auto error = each_field(reference, [&](const auto& field, auto& what) -> error_code {
        if (field == "kind") return read_view(what, kind);
        if (field == "name") return read_view(what, name);
        if (field == "uid") return read_view(what, uid);
        if (field == "controller") return read_flag(what, controller);
        return SUCCESS;
      });
      if (!error && controller) {
        owner_.assign(kind).append("/").append(name);
        pod_.owner = list_.texts.shared(owner_);
        pod_.owner_uid = list_.texts.shared(uid);
      }
      return error;
    });
  }

  error_code read_metadata(value& value) {
    return each_field(value, [&](const auto& key, auto& inside) -> error_code {
      if (key == "name") return add(inside, pod_.name);
      if (key == "namespace") return share(inside, pod_.name_space);
      if (key == "uid") return add(inside, pod_.uid);
      if (key == "creationTimestamp") return read_time(inside, pod_.created);
      if (key == "deletionTimestamp") return read_time(inside, pod_.deleted);
      if (key == "labels") return read_labels(inside);
      if (key == "annotations") return read_annotations(inside);
      if (key == "ownerReferences") return read_owner(inside);
      if (version_ != nullptr && key == "resourceVersion") return read_text(inside, *version_);
      return SUCCESS;
    });
  }

  // A quantity of devices: "4", or 4 as some servers write it.
  error_code read_limit(std::string_view resource, value& value) {
    if (is_number(value)) {
      int64_t count = 0;
      if (auto error = read_number(value, count)) return error;
      take_limit(pod_, resource, count);
      return SUCCESS;
    }
    std::string_view text;
    if (auto error = read_view(value, text)) return error;
    if (const auto count = support::parse_digits(text, 1000000)) take_limit(pod_, resource, *count);
    return SUCCESS;
  }

  error_code read_port(value& value) {
    std::string_view name;
    int64_t number = 0, host = 0;
    if (auto error = each_field(value, [&](const auto& key, auto& inside) -> error_code {
          if (key == "name") return read_view(inside, name);
          if (key == "containerPort") return read_number(inside, number);
          if (key == "hostPort") return read_number(inside, host);
          return SUCCESS;
        }))
      return error;
    if (number < 1 || number > 65535 || host < 0 || host > 65535) return simdjson::NUMBER_ERROR;
    ports_.push_back(
        {list_.texts.shared(name), static_cast<uint16_t>(number), static_cast<uint16_t>(host)});
    return SUCCESS;
  }

  error_code read_container(value& value) {
    return each_field(value, [&](const auto& key, auto& inside) -> error_code {
      if (key == "ports" && wanted_.ports)
        return each_element(inside, [&](auto& port) { return read_port(port); });
      if (!(key == "resources")) return SUCCESS;
      return each_field(inside, [&](const auto& name, auto& limits) -> error_code {
        if (!(name == "limits")) return SUCCESS;
        return each_field(limits, [&](const auto& resource, auto& quantity) -> error_code {
          const std::string_view device = resource.view();
          return is_device(device) ? read_limit(device, quantity) : SUCCESS;
        });
      });
    });
  }

  error_code read_spec(value& value) {
    const auto error = each_field(value, [&](const auto& key, auto& inside) -> error_code {
      if (key == "nodeName") return share(inside, pod_.node);
      if (key == "hostname") return add(inside, pod_.hostname);
      if (key == "subdomain") return share(inside, pod_.subdomain);
      if (key == "hostNetwork") return read_flag(inside, pod_.host_network);
      if (key == "nodeSelector")
        return each_field(inside, [&](const auto& label, auto& what) -> error_code {
          std::string_view text;
          if (auto wrong = read_view(what, text)) return wrong;
          take_node_label(pod_, list_.texts, label.view(), text);
          return SUCCESS;
        });
      if (key == "containers")
        return each_element(inside, [&](auto& container) { return read_container(container); });
      return SUCCESS;
    });
    if (!error && !ports_.empty()) {
      auto* ports = list_.texts.make<ContainerPort>(ports_.size());
      std::copy(ports_.begin(), ports_.end(), ports);
      pod_.ports = ports;
      pod_.port_count = static_cast<uint16_t>(ports_.size());
    }
    return error;
  }

  error_code read_condition(value& value) {
    std::string_view type, status, reason, message;
    int64_t since = 0;
    const auto error = each_field(value, [&](const auto& key, auto& inside) -> error_code {
      if (key == "type") return read_view(inside, type);
      if (key == "status") return read_view(inside, status);
      if (key == "reason") return read_view(inside, reason);
      if (key == "message") return read_view(inside, message);
      if (key == "lastTransitionTime") return read_time(inside, since);
      return SUCCESS;
    });
    if (!error) take_condition(pod_, list_, type, status, reason, message, since);
    return error;
  }

  error_code read_state(value& value, ContainerKind container, bool of_the_run_before) {
    return each_field(value, [&](const auto& kind, auto& inside) -> error_code {
      if (kind == "running" && !of_the_run_before) take_running(pod_, container);
      const bool waiting = kind == "waiting", terminated = kind == "terminated";
      if (!waiting && !terminated) return SUCCESS;
      std::string_view reason, message;
      int64_t exit_code = 0, finished = 0;
      if (auto error = each_field(inside, [&](const auto& name, auto& what) -> error_code {
            if (name == "reason") return read_view(what, reason);
            if (name == "message") return read_view(what, message);
            if (name == "exitCode") return read_number(what, exit_code);
            if (name == "finishedAt") return read_time(what, finished);
            return SUCCESS;
          }))
        return error;
      if (waiting) take_waiting(pod_, list_, reason, message);
      if (terminated) take_terminated(pod_, list_, reason, exit_code, of_the_run_before);
      if (terminated && !of_the_run_before) take_finished(pod_, container, exit_code, finished);
      return SUCCESS;
    });
  }

  error_code read_container_status(value& value, ContainerKind container) {
    return each_field(value, [&](const auto& key, auto& inside) -> error_code {
      if (key == "state") return read_state(inside, container, false);
      if (key == "lastState") return read_state(inside, container, true);
      if (key == "restartCount") {
        int64_t count = 0;
        if (auto error = read_number(inside, count)) return error;
        take_restarts(pod_, count);
      }
      return SUCCESS;
    });
  }

  error_code read_ips(value& value, Text& first, Text& second) {
    return each_element(value, [&](auto& one) {
      return each_field(one, [&](const auto& name, auto& inside) -> error_code {
        if (!(name == "ip")) return SUCCESS;
        std::string_view ip;
        if (auto error = read_view(inside, ip)) return error;
        take_ip(first, second, list_.texts, ip);
        return SUCCESS;
      });
    });
  }

  error_code read_status(value& value) {
    return each_field(value, [&](const auto& key, auto& inside) -> error_code {
      if (key == "phase") {
        std::string_view text;
        if (auto error = read_view(inside, text)) return error;
        pod_.phase = parse_phase(text);
        return SUCCESS;
      }
      if (key == "podIP") return add(inside, pod_.ip);
      if (key == "hostIP") return share(inside, pod_.host_ip);
      if (key == "podIPs") return read_ips(inside, pod_.ip, pod_.second_ip);
      if (key == "hostIPs") return read_ips(inside, pod_.host_ip, pod_.second_host_ip);
      if (key == "reason") return add_trouble(inside, &Trouble::reason);
      if (key == "message") return add_trouble(inside, &Trouble::message);
      if (key == "conditions")
        return each_element(inside, [&](auto& condition) { return read_condition(condition); });
      if (key == "containerStatuses" || key == "initContainerStatuses") {
        const auto kind =
            key == "containerStatuses" ? ContainerKind::kOwn : ContainerKind::kInitial;
        return each_element(inside, [&](auto& one) { return read_container_status(one, kind); });
      }
      return SUCCESS;
    });
  }

  const Wanted& wanted_;
  PodList& list_;
  Pod& pod_;
  std::string* version_;
  Text* annotations_ = nullptr;
  std::string owner_;
  std::vector<ContainerPort> ports_;
};

}  // namespace

simdjson::error_code read_pod(json::value& value, const Wanted& wanted, PodList& list, Pod& pod,
                              std::string* version) {
  return PodReader(wanted, list, pod, version).read(value);
}

}  // namespace muster::kubernetes

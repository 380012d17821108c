#include "plugins/kubernetes/slices.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <unordered_map>

#include "plugins/support/json_at.h"
#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using support::text_at;

bool flag_at(element at, const char* pointer, bool otherwise) {
  bool flag = false;
  return at.at_pointer(pointer).get_bool().get(flag) ? otherwise : flag;
}

class SliceReader {
 public:
  // What is wrong with it; "" when nothing is.
  std::string read(element root) {
    if (text_at(root, "/kind") != "EndpointSliceList") return "it is no EndpointSliceList";
    array items;
    if (root.at_pointer("/items").get_array().get(items)) return "it has no 'items'";
    for (const element slice : items) {
      read_ports(slice);
      array endpoints;  // null or absent in an empty slice
      if (slice.at_pointer("/endpoints").get_array().get(endpoints)) continue;
      for (const element endpoint : endpoints) {
        std::string odd = read_endpoint(slice, endpoint);
        if (!odd.empty()) return odd;
      }
    }
    return "";
  }

  ServiceEndpoints take() { return std::move(out_); }

 private:
  void read_ports(element slice) {
    ports_ = nullptr;
    port_count_ = 0;
    array ports;
    if (slice.at_pointer("/ports").get_array().get(ports) || ports.size() == 0) return;
    ports_ = out_.pods.texts.make<ContainerPort>(ports.size());
    for (const element port : ports) {
      int64_t number = 0;
      if (port.at_pointer("/port").get_int64().get(number) || number < 1 || number > 65535)
        continue;
      const std::string_view name = text_at(port, "/name");
      ports_[port_count_++] = {out_.pods.texts.shared(name), static_cast<uint16_t>(number), 0};
      out_.ports.emplace(name);
    }
  }

  std::string read_endpoint(element slice, element endpoint) {
    array addresses;
    std::string_view address;  // all of one endpoint are alike; clients use the first
    if (endpoint.at_pointer("/addresses").get_array().get(addresses) || addresses.size() == 0 ||
        addresses.at(0).get_string().get(address) || !support::is_text(address))
      return "an endpoint has no address";
    const bool of_pod = text_at(endpoint, "/targetRef/kind") == "Pod";
    const std::string_view uid = of_pod ? text_at(endpoint, "/targetRef/uid") : std::string_view();
    const auto [at, added] = places_.emplace(uid.empty() ? address : uid, out_.pods.pods.size());
    if (added) out_.pods.pods.emplace_back();
    Pod& pod = out_.pods.pods[at->second];
    TextArena& texts = out_.pods.texts;
    take_ip(pod.ip, pod.second_ip, texts, address);
    // An endpoint that is in two slices for a moment is what the better one says.
    const bool going = flag_at(endpoint, "/conditions/terminating", false);
    const bool ready = flag_at(endpoint, "/conditions/ready", true);
    pod.deleted = going && (added || pod.deleted != 0) ? kSomeTime : 0;
    pod.ready = added ? ready : pod.ready || ready;
    if (!added) return "";
    pod.phase = Phase::kRunning;
    pod.uid = texts.add(uid);
    pod.hostname = texts.add(text_at(endpoint, "/hostname"));
    pod.node = texts.shared(text_at(endpoint, "/nodeName"));
    pod.name_space = texts.shared(text_at(slice, "/metadata/namespace"));
    pod.ports = ports_;
    pod.port_count = port_count_;
    const std::string_view name = of_pod ? text_at(endpoint, "/targetRef/name") : "";
    pod.name = !name.empty() ? texts.add(name) : pod.hostname.empty() ? pod.ip : pod.hostname;
    return text_at(slice, "/addressType") == "FQDN" ? "" : oddity(pod);
  }

  ServiceEndpoints out_;
  std::unordered_map<std::string_view, size_t> places_;
  ContainerPort* ports_ = nullptr;
  uint16_t port_count_ = 0;
};

}  // namespace

sdk::Result<ServiceEndpoints> read_slices(std::string_view json) {
  simdjson::dom::parser parser;
  element root;
  std::string why;
  SliceReader reader;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    why = simdjson::error_message(error);
  } else {
    why = reader.read(root);
  }
  if (!why.empty())
    return sdk::Failure{
        MUSTER_E_DATA_LOSS, "the API server's endpoint slices cannot be understood: " + why, {}};
  return reader.take();
}

}  // namespace muster::kubernetes

#include "plugins/kubernetes/endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/support/text.h"

namespace muster::kubernetes {
namespace {

using support::quote;

bool is_ipv6(std::string_view ip) { return ip.find(':') != std::string_view::npos; }

Endpoint none(std::string why) { return {"", 0, std::move(why)}; }

const char* family_name(IpFamily family) {
  return family == IpFamily::kIpv4 ? "IPv4 " : family == IpFamily::kIpv6 ? "IPv6 " : "";
}

std::string dns_name(const Pod& pod, std::string_view domain) {
  return fmt::format("{}.{}.{}.svc.{}", pod.hostname.view(), pod.subdomain.view(),
                     pod.name_space.view(), domain);
}

// The container's port that a rule means; null when there is none. Without a rule, the one with a port on the node.
const ContainerPort* container_port(const Pod& pod, const PortRule& rule) {
  for (const ContainerPort* port = pod.ports; port != pod.ports + pod.port_count; ++port) {
    const bool fits = !rule.name.empty() ? port->name == rule.name
                      : rule.number != 0 ? port->number == rule.number
                                         : port->host_port != 0;
    if (fits) return port;
  }
  return nullptr;
}

}  // namespace

std::string_view of_family(IpFamily family, std::string_view first, std::string_view second) {
  if (family == IpFamily::kAny) return first;
  for (const std::string_view ip : {first, second})
    if (!ip.empty() && is_ipv6(ip) == (family == IpFamily::kIpv6)) return ip;
  return {};
}

Endpoint endpoint_of(const Pod& pod, const std::string& job, const Options& options,
                     const Wanted& wanted, std::string_view domain) {
  Endpoint out;
  switch (options.address) {
    case AddressKind::kPodIp:
      out.host = of_family(options.family, pod.ip, pod.second_ip);
      if (out.host.empty())
        return none(fmt::format("it has no {}address", family_name(options.family)));
      break;
    case AddressKind::kNodeIp:
    case AddressKind::kHostPort:
      out.host = of_family(options.family, pod.host_ip, pod.second_host_ip);
      if (out.host.empty())
        return none(fmt::format("its node has no {}address", family_name(options.family)));
      break;
    case AddressKind::kDns:
      if (pod.hostname.empty() || pod.subdomain.empty())
        return none("it has no DNS name: its spec lacks hostname or subdomain");
      out.host = dns_name(pod, domain);
      break;
  }

  const PortRule& rule = options.port_of(job);
  if (!rule.annotation.empty()) {
    const auto key =
        std::find(wanted.annotations.begin(), wanted.annotations.end(), rule.annotation);
    const Text said = pod.annotations == nullptr || key == wanted.annotations.end()
                          ? Text()
                          : pod.annotations[key - wanted.annotations.begin()];
    if (said.empty()) return none(fmt::format("it has no annotation {}", quote(rule.annotation)));
    const auto number = support::parse_digits(said, 65535);
    if (!number || *number == 0)
      return none(fmt::format("its annotation {} says {}, which is no port", quote(rule.annotation),
                              quote(said)));
    out.port = *number;
    return out;
  }
  if (options.address == AddressKind::kHostPort || !rule.name.empty()) {
    const ContainerPort* port = container_port(pod, rule);
    if (port == nullptr && !rule.name.empty())
      return none(fmt::format("it has no port called {}", quote(rule.name)));
    if (options.address == AddressKind::kHostPort) {
      if (port == nullptr || port->host_port == 0)
        return none("its containers have no such port with a hostPort");
      out.port = port->host_port;
      return out;
    }
    out.port = port->number;
    return out;
  }
  if (rule.only) {
    if (pod.port_count == 0) return none("it has no port");
    out.port = pod.ports[0].number;
    return out;
  }
  out.port = rule.number != 0 ? rule.number : options.port;
  return out;
}

std::string cluster_domain_of(std::string_view resolv_conf) {
  while (!resolv_conf.empty()) {
    const size_t end = std::min(resolv_conf.find('\n'), resolv_conf.size());
    std::string_view line = support::trimmed(resolv_conf.substr(0, end));
    resolv_conf.remove_prefix(std::min(end + 1, resolv_conf.size()));
    if (line.substr(0, 7) != "search " && line.substr(0, 7) != "search\t") continue;
    line.remove_prefix(7);
    while (!line.empty()) {
      const size_t word_end = std::min(line.find_first_of(" \t"), line.size());
      std::string_view word = line.substr(0, word_end);
      line.remove_prefix(std::min(word_end + 1, line.size()));
      if (!word.empty() && word.back() == '.') word.remove_suffix(1);
      if (word.substr(0, 4) == "svc." && word.size() > 4) return std::string(word.substr(4));
    }
  }
  return "";
}

}  // namespace muster::kubernetes

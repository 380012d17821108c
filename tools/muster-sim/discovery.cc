// What the server says it offers.
#include "discovery.h"

#include "json.h"

namespace muster::sim {
namespace {

std::string version_document(const std::string& version) {
  // "v1.32.4" has major 1 and minor 32.
  const auto first = version.find('.');
  const auto second = first == std::string::npos ? first : version.find('.', first + 1);
  JsonWriter out;
  out.open_object();
  out.member("major", version.starts_with('v') && first != std::string::npos
                          ? version.substr(1, first - 1)
                          : "1");
  out.member("minor",
             second == std::string::npos ? "" : version.substr(first + 1, second - first - 1));
  out.member("gitVersion", version);
  out.member("gitCommit", "0000000000000000000000000000000000000000");
  out.member("gitTreeState", "clean");
  out.member("buildDate", "2026-01-01T00:00:00Z");
  out.member("goVersion", "none");
  out.member("compiler", "none");
  out.member("platform", "linux/amd64");
  out.close_object();
  return out.str();
}

std::string api_versions(const std::string& server_address) {
  JsonWriter out;
  out.open_object();
  out.member("kind", "APIVersions");
  out.key("versions");
  out.open_array();
  out.value("v1");
  out.close_array();
  out.key("serverAddressByClientCIDRs");
  out.open_array();
  out.open_object();
  out.member("clientCIDR", "0.0.0.0/0");
  out.member("serverAddress", server_address);
  out.close_object();
  out.close_array();
  out.close_object();
  return out.str();
}

constexpr std::string_view kGroups = R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})";

constexpr std::string_view kResources =
    R"({"kind":"APIResourceList","groupVersion":"v1","resources":[)"
    R"({"name":"namespaces","singularName":"namespace","namespaced":false,"kind":"Namespace",)"
    R"("verbs":["get","list"],"shortNames":["ns"]},)"
    R"({"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod",)"
    R"("verbs":["get","list","watch"],"shortNames":["po"],"categories":["all"]}]})";

}  // namespace

std::optional<std::string> discovery_document(std::string_view path, const std::string& version,
                                              const std::string& server_address) {
  if (path == "/version" || path == "/version/") return version_document(version);
  if (path == "/api" || path == "/api/") return api_versions(server_address);
  if (path == "/apis" || path == "/apis/") return std::string(kGroups);
  if (path == "/api/v1" || path == "/api/v1/") return std::string(kResources);
  return std::nullopt;
}

}  // namespace muster::sim

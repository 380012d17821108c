// The kubernetes backend's `service`: endpoints of EndpointSlices.
#include <doctest/doctest.h>

#include "tests/plugin/kubernetes/api.h"

using fake::ask;
using fake::lab;
using fake::query;
using fake::World;

namespace {

std::string endpoint(const std::string& name, const std::string& ip,
                     const std::string& conditions = "") {
  return R"({"addresses": [")" + ip + R"("], "conditions": {)" + conditions +
         R"(}, "nodeName": "node-1", "targetRef": {"kind": "Pod", "name": ")" + name +
         R"(", "uid": "uid-)" + name + "\"}}";
}

std::string slice(const std::string& endpoints,
                  const std::string& ports = R"([{"name": "rpc", "port": 7000}])",
                  const char* type = "IPv4") {
  return R"({"metadata": {"name": "s", "namespace": "default"}, "addressType": ")" +
         std::string(type) + R"(", "endpoints": )" + endpoints + R"(, "ports": )" + ports + "}";
}

World with(const std::string& slices) {
  return lab(
      {},
      {{"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
        R"({"kind": "EndpointSliceList", "apiVersion": "discovery.k8s.io/v1", "metadata": {}, "items": [)" +
            slices + "]}"}});
}

}  // namespace

TEST_CASE("service: its endpoints with its port, from as many slices as there are") {
  World world =
      with(slice("[" + endpoint("w-10", "10.8.0.10") + "," + endpoint("w-2", "10.8.0.2") + "]") +
           "," + slice("null") + "," + slice("[" + endpoint("w-2", "10.8.0.2") + "]"));
  world.variables["POD_NAME"] = "w-2";
  const auto answer = ask("kubernetes", R"({"service": "train"})", world);
  CHECK(answer.cluster() == "worker:w-10=10.8.0.10:7000 worker:w-2=10.8.0.2:7000");
  CHECK(answer.tasks[0].attributes.at("uid") == "uid-w-10");
  CHECK(answer.tasks[0].attributes.at("host") == "node-1");
  REQUIRE(answer.identities.size() == 1);
  CHECK(answer.identities[0].name == "w-2");
  REQUIRE(answer.requests.size() == 1);
  CHECK(query(answer.requests[0].url, "labelSelector") == "kubernetes.io/service-name=train");
}

TEST_CASE(
    "service: one of two families is one endpoint, with the address of the family asked for") {
  const World world = with(
      slice("[" + endpoint("w-0", "10.8.0.1") + "]") + "," +
      slice("[" + endpoint("w-0", "fd00::1") + "]", R"([{"name": "rpc", "port": 7000}])", "IPv6"));
  CHECK(ask("kubernetes", R"({"service": "train"})", world).cluster() ==
        "worker:w-0=10.8.0.1:7000");
  CHECK(ask("kubernetes", R"({"service": "train", "ip_family": "ipv6"})", world).cluster() ==
        "worker:w-0=[fd00::1]:7000");
}

TEST_CASE("service: several ports need a choice, none at all is tf_server_port") {
  const std::string two = R"([{"name": "http", "port": 80}, {"name": "rpc", "port": 7000}])";
  const World several = with(slice("[" + endpoint("w-0", "10.8.0.1") + "]", two));
  const auto open = ask("kubernetes", R"({"service": "train"})", several);
  CHECK(open.code == MUSTER_E_INVALID_ARGUMENT);
  CHECK(open.message ==
        "Service 'train' has the ports 'http', 'rpc': say with 'port' which one is that of the "
        "tasks");
  CHECK(ask("kubernetes", R"({"service": "train", "port": "rpc"})", several).cluster() ==
        "worker:w-0=10.8.0.1:7000");
  CHECK(
      ask("kubernetes", R"({"service": "train", "port": 99, "as_job": "ps"})", several).cluster() ==
      "ps:w-0=10.8.0.1:99");
  CHECK(ask("kubernetes", R"({"service": "train"})",
            with(slice("[" + endpoint("w-0", "10.8.0.1") + "]", "null")))
            .cluster() == "worker:w-0=10.8.0.1:8470");
}

TEST_CASE("service: what goes away is missing, and with 'require: ready' what is not ready") {
  const World world =
      with(slice("[" + endpoint("w-0", "10.8.0.1", R"("ready": false)") + "," +
                 endpoint("w-1", "10.8.0.2", R"("ready": false, "terminating": true)") + "]"));
  const auto answer = ask("kubernetes", R"({"service": "train"})", world);
  CHECK(answer.cluster() == "worker:w-0=10.8.0.1:7000");
  CHECK(answer.missing_text() == "worker w-1 (being deleted)");
  CHECK(ask("kubernetes", R"({"service": "train", "require": "ready"})", world).missing_text() ==
        "worker w-0 (Running, not ready)\nworker w-1 (being deleted)");
}

TEST_CASE(
    "service: without endpoints it is not found, and what is no list of slices is not taken for "
    "one") {
  const auto none = ask("kubernetes", R"({"service": "train"})", with(slice("[]")));
  CHECK(none.code == MUSTER_E_NOT_FOUND);
  CHECK(none.details.at("hint") ==
        "kubectl get endpointslices -n default -l kubernetes.io/service-name=train");
  for (
      const char* body :
      {"", "{}", R"({"kind": "EndpointSliceList"})", R"({"kind": "PodList", "items": []})",
       R"({"kind": "EndpointSliceList", "items": [{"endpoints": [{}]}]})",
       R"({"kind": "EndpointSliceList", "items": [{"addressType": "IPv4", "endpoints": [{"addresses": ["x"]}]}]})"}) {
    CAPTURE(body);
    CHECK(ask("kubernetes", R"({"service": "train"})",
              lab({}, {{"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", body}}))
              .code == MUSTER_E_DATA_LOSS);
  }
}

TEST_CASE("service: a field of another type is told, and no endpoint is passed over for it") {
  const auto why = [](const std::string& slices) {
    const auto answer = ask("kubernetes", R"({"service": "train"})", with(slices));
    CHECK_MESSAGE(answer.code == MUSTER_E_DATA_LOSS, slices);
    const std::string head = "the API server's endpoint slices cannot be understood: ";
    CHECK(answer.message.rfind(head, 0) == 0);
    return answer.message.substr(std::min(head.size(), answer.message.size()));
  };
  const std::string good = endpoint("w-0", "10.8.0.1");
  CHECK(why("4") == "items[0] is a number, where a map is expected");
  CHECK(why(slice("{}")) == "items[0].endpoints is a map, where a list is expected");
  CHECK(why(slice("[" + good + ", 4]")) ==
        "items[0].endpoints[1] is a number, where a map is expected");
  CHECK(why(slice(R"([{"addresses": "10.8.0.1"}])")) ==
        "items[0].endpoints[0].addresses is a text, where a list is expected");
  CHECK(why(slice(R"([{"addresses": []}])")) == "items[0].endpoints[0].addresses is empty");
  CHECK(why(slice(R"([{"addresses": [null]}])")) ==
        "items[0].endpoints[0].addresses[0] is null, where a text is expected");
  CHECK(why(slice("[" + endpoint("w-0", "10.8.0.1", R"("terminating": "true")") + "]")) ==
        "items[0].endpoints[0].conditions.terminating is a text, where true or false is expected");
  CHECK(why(slice("[" + good + "]", R"([{"port": 0}])")) ==
        "items[0].ports[0].port is 0, where a whole number from 1 to 65535 is expected");
  CHECK(why(slice("[" + good + "]", R"([{"port": "7000"}])")) ==
        "items[0].ports[0].port is a text, where a number is expected");
}

TEST_CASE("service: a condition that is null is unknown, and an unknown one is ready") {
  const World world =
      with(slice("[" + endpoint("w-0", "10.8.0.1", R"("ready": null, "terminating": null)") + "]"));
  CHECK(ask("kubernetes", R"({"service": "train", "require": "ready"})", world).cluster() ==
        "worker:w-0=10.8.0.1:7000");
}

TEST_CASE("service: a list that says it goes on is not taken for a whole one") {
  const auto answer =
      ask("kubernetes", R"({"service": "train"})",
          lab({}, {{"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
                    R"({"kind": "EndpointSliceList", "metadata": {"continue": "abc"}, "items": [)" +
                        slice("[" + endpoint("w-0", "10.8.0.1") + "]") + "]}"}}));
  CHECK(answer.code == MUSTER_E_DATA_LOSS);
  CHECK(answer.message ==
        "the API server's endpoint slices cannot be understood: metadata.continue says that this "
        "is not all of it");
}

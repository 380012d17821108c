// What the kubernetes backend needs to be allowed, by its options and without asking the server.
#include <doctest/doctest.h>

#include "plugins/support/base64.h"
#include "tests/plugin/kubernetes/api.h"

using fake::Answer;
using fake::ask_permissions;
using fake::lab;
using fake::World;

namespace {

constexpr const char* kAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

// "get jobs.batch, list pods in namespace ml for ServiceAccount ml:trainer"; the lines of an error.
std::string needed(const std::string& options, const std::string& principal = "ml:trainer",
                   const World& world = {}, bool watch = false) {
  const Answer answer = ask_permissions("kubernetes", options, world, principal, watch);
  if (answer.code != MUSTER_OK) return answer.message;
  CHECK(answer.requests.empty());
  CHECK(answer.programs.empty());
  CHECK(answer.grant_command == "kubectl apply -f -");
  std::string rules, rest;
  for (const fake::Permission& one : answer.permissions) {
    rules += (rules.empty() ? "" : ", ") + one.rule;
    const std::string where =
        " in " + one.scope + " for " + one.principal_kind + " " + one.principal;
    CHECK((rest.empty() || rest == where));
    rest = where;
  }
  return rules + rest;
}

// A pod's world, whose token has these claims.
World pod(const std::string& claims) {
  World world;
  world.variables = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  std::string payload = muster::support::base64_encode(claims);
  while (!payload.empty() && payload.back() == '=') payload.pop_back();
  world.files[std::string(kAccount) + "token"] = "eyJhbGciOiJSUzI1NiJ9." + payload + ".c2ln\n";
  world.files[std::string(kAccount) + "namespace"] = "ml";
  return world;
}

}  // namespace

TEST_CASE("each finder needs its object and the pods, in one namespace") {
  const std::string tail = " in namespace ml for ServiceAccount ml:trainer";
  CHECK(needed("{}") == "list pods" + tail);
  CHECK(needed(R"({"job": "t"})") == "get jobs.batch, list pods" + tail);
  CHECK(needed(R"({"jobset": "t"})") == "get jobsets.jobset.x-k8s.io, list pods" + tail);
  CHECK(needed(R"({"leaderworkerset": "t"})") ==
        "get leaderworkersets.leaderworkerset.x-k8s.io, list pods" + tail);
  CHECK(needed(R"({"statefulset": "t"})") == "get statefulsets.apps, list pods" + tail);
  CHECK(needed(R"({"trainjob": "t"})") ==
        "get jobsets.jobset.x-k8s.io, list pods, get trainjobs.trainer.kubeflow.org" + tail);
  CHECK(needed(R"({"pytorchjob": "t"})") == "get pytorchjobs.kubeflow.org, list pods" + tail);
  CHECK(needed(R"({"tfjob": "t"})") == "get tfjobs.kubeflow.org, list pods" + tail);
  CHECK(needed(R"({"vcjob": "t"})") == "get jobs.batch.volcano.sh, list pods" + tail);
  CHECK(needed(R"({"service": "t"})") == "list endpointslices.discovery.k8s.io" + tail);
}

TEST_CASE("a watch needs the verb watch on all that is asked for") {
  CHECK(needed(R"({"job": "t"})", "ml:t", {}, true) ==
        "get jobs.batch, watch jobs.batch, list pods, watch pods in namespace ml for "
        "ServiceAccount ml:t");
  CHECK(needed(R"({"trainjob": "t"})", "ml:t", {}, true) ==
        "get jobsets.jobset.x-k8s.io, watch jobsets.jobset.x-k8s.io, list pods, watch pods, "
        "get trainjobs.trainer.kubeflow.org in namespace ml for ServiceAccount ml:t");
  CHECK(needed(R"({"service": "t"})", "ml:t", {}, true) ==
        "list endpointslices.discovery.k8s.io, watch endpointslices.discovery.k8s.io in namespace "
        "ml for ServiceAccount ml:t");
}

TEST_CASE("the namespace is the options', else the account's own, else kubectl's") {
  const auto where = [](const std::string& options, const std::string& principal,
                        const World& world) { return needed(options, principal, world); };
  CHECK(where(R"({"namespace": "lab"})", "ml:t", lab({})) ==
        "list pods in namespace lab for ServiceAccount ml:t");
  CHECK(where("{}", "ml:t", lab({})) == "list pods in namespace ml for ServiceAccount ml:t");
  CHECK(where(R"({"executable_location": "off_cluster"})", "ml:t", lab({})) ==
        "list pods in namespace default for ServiceAccount ml:t");
  CHECK(where("{}", "t", lab({})) == "list pods in namespace default for ServiceAccount default:t");
  CHECK(where("{}", "t", pod("{}")) == "list pods in namespace ml for ServiceAccount ml:t");
  CHECK(where(R"({"all_namespaces": true})", "ml:t", {}) ==
        "list pods in all namespaces for ServiceAccount ml:t");
}

TEST_CASE("users and groups are named as such, and anybody by the name that RBAC knows") {
  CHECK(needed("{}", "user:alice", lab({})) == "list pods in namespace default for User alice");
  CHECK(needed("{}", "group:trainers", lab({})) ==
        "list pods in namespace default for Group trainers");
  CHECK(needed("{}", "system:serviceaccount:ml:t") ==
        "list pods in namespace ml for ServiceAccount ml:t");
}

TEST_CASE("in a pod it is for the pod's own service account") {
  const World world = pod(R"({"sub": "system:serviceaccount:ml:trainer"})");
  CHECK(needed("{}", "", world) == "list pods in namespace ml for ServiceAccount ml:trainer");
  CHECK(needed(R"({"namespace": "other"})", "", world) ==
        "list pods in namespace other for ServiceAccount ml:trainer");
  const Answer answer = ask_permissions("kubernetes", "{}", world);
  REQUIRE(answer.secrets.size() > 0);
  CHECK(answer.grant.find("eyJ") == std::string::npos);
  // A token that cannot be read names nobody.
  CHECK(needed("{}", "", pod("no JSON")) == "list pods in namespace ml for  ");
}

TEST_CASE("the grant is a Role and its binding, to be applied as they stand") {
  CHECK(ask_permissions("kubernetes", R"({"job": "t"})", {}, "ml:trainer", true).grant ==
        R"(---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: "muster-get-watch-jobs.batch-list-watch-pods", namespace: "ml"}
rules:
- {apiGroups: ["batch"], resources: [jobs], verbs: [get, watch]}
- {apiGroups: [""], resources: [pods], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: "muster-get-watch-jobs.batch-list-watch-pods-system:serviceaccount:ml:trainer", namespace: "ml"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "muster-get-watch-jobs.batch-list-watch-pods"}
subjects:
- {kind: ServiceAccount, namespace: "ml", name: "trainer"}
)");
}

TEST_CASE("where nobody is known the place is left free, and the text says so") {
  const Answer answer = ask_permissions("kubernetes", "{}", lab({}));
  REQUIRE(answer.permissions.size() == 1);
  CHECK(answer.permissions[0].principal.empty());
  CHECK(answer.grant.find("# Nobody said who is to be allowed: put a name in place of "
                          "NAME-OF-THE-SERVICE-ACCOUNT below.\n") == 0);
  CHECK(answer.grant.find("namespace: \"default\", name: \"NAME-OF-THE-SERVICE-ACCOUNT\"}") !=
        std::string::npos);
}

TEST_CASE("who is nobody that could be allowed something is refused") {
  for (const char* principal : {"a b", "ml:", ":t", "ml:t:u", "UPPER",
                                "system:serviceaccount:ml:", "user:", "t\nkind: Role"}) {
    CAPTURE(principal);
    CHECK(ask_permissions("kubernetes", "{}", lab({}), principal).code ==
          MUSTER_E_INVALID_ARGUMENT);
  }
  CHECK(needed(R"({"all_namespaces": true})", "t", lab({})).find("says no namespace") !=
        std::string::npos);
}

TEST_CASE("where no namespace can be found the options that say one are named") {
  const Answer answer =
      ask_permissions("kubernetes", R"({"executable_location": "within_cluster"})", lab({}), "t");
  CHECK(answer.code == MUSTER_E_FAILED_PRECONDITION);
  CHECK(answer.details.at("hint").find("NAMESPACE:NAME") != std::string::npos);
  CHECK(needed(R"({"executable_location": "within_cluster"})", "ml:t", lab({})) ==
        "list pods in namespace ml for ServiceAccount ml:t");
}

TEST_CASE("backends that ask nobody else need nothing, and say so") {
  for (const auto& [plugin, options] :
       {std::pair{"static", R"({"cluster_spec": {}})"}, std::pair{"tf_config", "{}"}}) {
    const Answer answer = ask_permissions(plugin, options);
    CHECK(answer.code == MUSTER_OK);
    CHECK(answer.permissions.empty());
    CHECK(answer.grant.empty());
  }
}

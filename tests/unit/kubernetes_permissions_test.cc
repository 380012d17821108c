#include <doctest/doctest.h>

#include "plugins/kubernetes/permissions.h"

using muster::kubernetes::how_to_permit;
using muster::kubernetes::needed_permissions;
using muster::kubernetes::read_options;
using muster::kubernetes::refused_user;

namespace {
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
}  // namespace

TEST_CASE("the refused user is the one in the server's words") {
  CHECK(refused_user("pods is forbidden: User \"alice\" cannot list resource \"pods\" in API group "
                     "\"\" in the namespace \"ml\"") == "alice");
  CHECK(refused_user("User \"a \\\"b\\\" \\\\c\" cannot list resource") == "a \"b\" \\c");
  CHECK(refused_user("forbidden").empty());
  CHECK(refused_user("User \"alice").empty());
}

TEST_CASE("a user gets a Role in the namespace, and a binding of his own") {
  CHECK(how_to_permit({{"", "pods", {"list"}}}, "alice", "ml") ==
        "an administrator of the cluster allows it with\n"
        "kubectl apply -f - <<'END'\n"
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: Role\n"
        "metadata: {name: \"muster-list-pods\", namespace: \"ml\"}\n"
        "rules:\n"
        "- {apiGroups: [\"\"], resources: [pods], verbs: [list]}\n"
        "---\n"
        "apiVersion: rbac.authorization.k8s.io/v1\n"
        "kind: RoleBinding\n"
        "metadata: {name: \"muster-list-pods-alice\", namespace: \"ml\"}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: \"muster-list-pods\"}\n"
        "subjects:\n"
        "- {kind: User, apiGroup: rbac.authorization.k8s.io, name: \"alice\"}\n"
        "END");
}

TEST_CASE("several verbs are one rule, and a Role of their own") {
  const std::string text = how_to_permit({{"", "pods", {"list", "watch"}}}, "alice", "ml");
  CHECK(has(text, "metadata: {name: \"muster-list-watch-pods\", namespace: \"ml\"}\n"));
  CHECK(has(text, "verbs: [list, watch]}"));
}

TEST_CASE("what the options need is one Role, whose name says it all") {
  const auto needed = [](const char* options, bool watching) {
    return how_to_permit(needed_permissions(*read_options(options), watching), "alice", "ml");
  };
  CHECK(has(needed(R"({"vcjob": "t"})", false),
            "name: \"muster-get-jobs.batch.volcano.sh-list-pods\", namespace: \"ml\"}\n"
            "rules:\n"
            "- {apiGroups: [\"batch.volcano.sh\"], resources: [jobs], verbs: [get]}\n"
            "- {apiGroups: [\"\"], resources: [pods], verbs: [list]}\n---"));
  CHECK(has(needed(R"({"job": "t"})", true), "resources: [pods], verbs: [list, watch]}"));
  CHECK(has(needed("{}", true), "resources: [pods], verbs: [list, watch]}"));
}

TEST_CASE("a watch needs the verb on all that is asked for") {
  for (const char* options : {R"({"service": "t"})", R"({"job": "t"})",
                              R"({"job_to_label_mapping": {"a": "x", "b": "y"}})"}) {
    CAPTURE(options);
    for (const auto& one : needed_permissions(*read_options(options), true))
      CHECK(one.verbs.back() == "watch");
    for (const auto& one : needed_permissions(*read_options(options), false))
      CHECK(one.verbs.size() == 1);
  }
}

TEST_CASE("a service account is bound as one") {
  CHECK(has(how_to_permit({{"", "pods", {"list"}}}, "system:serviceaccount:ml:trainer", "ml"),
            "- {kind: ServiceAccount, namespace: \"ml\", name: \"trainer\"}\nEND"));
}

TEST_CASE("all namespaces take a ClusterRole, which is in none") {
  const std::string text = how_to_permit({{"batch", "jobs", {"get"}}}, "alice", "");
  CHECK(has(text, "kind: ClusterRole\nmetadata: {name: \"muster-get-jobs.batch\"}\n"));
  CHECK(has(text, "kind: ClusterRoleBinding\n"));
  CHECK(has(text, "apiGroups: [\"batch\"]"));
  CHECK_FALSE(has(text, "namespace:"));
}

TEST_CASE("a name that means something to YAML, to a shell or to a path stays one name") {
  const std::string text = how_to_permit({{"", "pods", {"list"}}}, "https://id/#a\"\nEND\nb", "ml");
  CHECK(has(text, "name: \"https://id/#a\\\"\\x0aEND\\x0ab\"}"));
  CHECK(has(text, "\"muster-list-pods-https:--id-#a"));
}

TEST_CASE("where the server names nobody, the place is left free and said to be") {
  const std::string text = how_to_permit({{"", "pods", {"list"}}}, "", "ml");
  CHECK(has(text, "with the user's name for NAME-OF-THE-USER, "));
  CHECK(has(text, "name: \"NAME-OF-THE-USER\"}"));
}

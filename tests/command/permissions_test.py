"""muster permissions: what a config needs to be allowed, without asking anybody."""
import json

from world import World, main

TREE = """cluster:
  merge:
    - backend: kubernetes
      options: {job: train, namespace: ml}
    - chain:
        - {backend: tf_config}
        - {backend: kubernetes, options: {service: ps, namespace: other}}
"""


class Permissions(World):
    def test_the_whole_tree_is_told_each_resolver_by_its_place(self):
        path = self.file("m.yaml", TREE)
        run = self.muster("permissions", "-f", path, "--principal", "ml:trainer")
        self.assertEqual(run.stderr, "")
        self.assertEqual([line for line in run.stdout.splitlines() if line.startswith("#")], [
            "# cluster.merge[0] (kubernetes), for the standard input of: kubectl apply -f -",
            "# cluster.merge[1].chain[0] (tf_config): needs no permission",
            "# cluster.merge[1].chain[1] (kubernetes), for the standard input of: kubectl apply -f -"])
        for words in ("kind: Role\nmetadata: {name: \"muster-get-jobs.batch-list-pods\", namespace: \"ml\"}",
                      "kind: Role\nmetadata: {name: \"muster-list-endpointslices.discovery.k8s.io\", namespace: \"other\"}",
                      '- {kind: ServiceAccount, namespace: "ml", name: "trainer"}'):
            self.assertIn(words, run.stdout)

    def test_as_json_it_is_a_list_for_programs(self):
        run = self.muster("permissions", "-f", self.file("m.yaml", TREE), "--principal", "ml:trainer", "--watch", "--json")
        first, second, third = json.loads(run.stdout)
        self.assertEqual((first["path"], first["backend"], first["known"], first["command"]),
                         ("cluster.merge[0]", "kubernetes", True, "kubectl apply -f -"))
        mine = {"principal_kind": "ServiceAccount", "principal": "ml:trainer", "scope": "namespace ml"}
        self.assertEqual(first["permissions"], [{**mine, "rule": rule}
                                                 for rule in ("get jobs.batch", "watch jobs.batch", "list pods", "watch pods")])
        self.assertTrue(first["text"].startswith("---\napiVersion: rbac"), first["text"])
        self.assertEqual((second["known"], second["permissions"]), (True, []))
        self.assertEqual(third["permissions"][0]["rule"], "list endpointslices.discovery.k8s.io")

    def test_without_a_config_and_without_a_name_the_free_place_is_told(self):
        run = self.muster("permissions", "--backend", "kubernetes", "-O", "jobset=train", "-O", "namespace=ml")
        self.assertIn("NAME-OF-THE-SERVICE-ACCOUNT", run.stdout)
        self.assertIn("resources: [jobsets], verbs: [get]", run.stdout)
        self.assertIn("nobody said who is to be allowed", run.stderr)
        self.assertIn("--principal", run.stderr)
        self.assertEqual(self.muster("permissions", "-q", "--backend", "kubernetes", "-O", "namespace=ml").stderr, "")

    def test_a_backend_that_does_not_say_is_status_10_and_the_others_are_told(self):
        directory = self.plugin("bad")
        path = self.file("m.yaml", "cluster:\n  chain:\n    - {backend: kubernetes, options: {namespace: ml}}\n    - {backend: bad}\n")
        run = self.muster("permissions", "--plugin-dir", directory, "-f", path, "--principal", "t", status=10)
        self.assertIn("cluster.chain[1] (bad): this backend does not say what it needs", run.stderr)
        self.assertIn("# cluster.chain[1] (bad): this backend does not say what it needs\n", run.stdout)
        self.assertIn("kind: RoleBinding", run.stdout)

    def test_of_a_chain_one_that_cannot_find_out_is_named_and_the_others_are_told(self):
        path = self.file("m.yaml", "cluster:\n  chain:\n    - {backend: kubernetes, options: {job: train}}\n"
                                   "    - {backend: kubernetes, options: {service: ps, namespace: other}}\n")
        nowhere = {"KUBECONFIG": "/not/there"}
        run = self.muster("permissions", "-f", path, "--principal", "t", status=10, env=nowhere)
        self.assertIn("cluster.chain[0] (kubernetes): it cannot be found out what this needs: ", run.stderr)
        self.assertIn("the option 'namespace' says where", run.stderr)
        self.assertIn("# cluster.chain[1] (kubernetes), for the standard input of: kubectl apply -f -", run.stdout)
        self.assertIn("list-endpointslices", run.stdout)
        for line in run.stdout.split("# cluster.chain[1]")[0].splitlines():
            self.assertTrue(line.startswith("#"), line)
        first, second = json.loads(self.muster("permissions", "-f", path, "--principal", "t", "--json", status=10,
                                               env=nowhere).stdout)
        self.assertEqual((first["known"], second["known"]), (False, True))
        self.assertIn("there is no kubeconfig", first["error"])
        self.assertIn("the option 'namespace' says where", "".join(first["hints"]))
        self.assertNotIn("error", second)

    def test_a_wrong_principal_is_status_12_and_prints_nothing(self):
        run = self.muster("permissions", "--backend", "kubernetes", "-O", "namespace=ml", "--principal", "a b", status=12)
        self.assertEqual(run.stdout, "")
        self.assertIn("'a b' is nobody whom Kubernetes can allow something", run.stderr)

    def test_where_nothing_says_the_namespace_it_is_an_error_with_what_to_say(self):
        run = self.muster("permissions", "--backend", "kubernetes", status=12, env={"KUBECONFIG": "/not/there"})
        self.assertEqual(run.stdout, "")
        self.assertIn("the option 'namespace' says where", run.stderr)

    def test_the_namespace_is_that_of_kubectls_context_and_no_program_or_server_is_asked(self):
        config = self.file("kubeconfig", json.dumps({
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "lab"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/not/there",
                                                      "interactiveMode": "Never"}}}]}))
        run = self.muster("permissions", "--backend", "kubernetes", "--principal", "t", env={"KUBECONFIG": config})
        self.assertIn('subjects:\n- {kind: ServiceAccount, namespace: "lab", name: "t"}', run.stdout)


if __name__ == "__main__":
    main()

"""muster plan: how many requests a config's resolves make, without making one."""
import json

from world import World, main

TREE = """cluster:
  merge:
    - backend: kubernetes
      options: {job: train, namespace: ml, page_size: 100}
    - chain:
        - {backend: tf_config}
        - {backend: gce, options: {project: p, zone: z, instance_group: g, credentials: none}}
        - {backend: gce, options: {project: p, region: r, instance_group: g, credentials: none}}
"""


class Plan(World):
    def test_the_whole_tree_is_told_for_each_size_and_the_quotas_at_the_end(self):
        run = self.muster("plan", "-f", self.file("m.yaml", TREE), "--members", "10,1000")
        self.assertEqual(run.stderr, "")
        lines = [" ".join(line.split()) for line in run.stdout.splitlines()]
        self.assertEqual([line for line in lines if line.startswith("cluster")], [
            "cluster.merge[0] (kubernetes): requests of one resolve, by its members",
            "cluster.merge[1].chain[0] (tf_config): makes no requests",
            "cluster.merge[1].chain[1] (gce): requests of one resolve, by its members",
            "cluster.merge[1].chain[2] (gce): requests of one resolve, by its members"])
        for line in ("API REQUEST 10 1000 WHY", "Kubernetes API server list pods 1 10-11 100 a page", "together 2 11-12",
                     "together 2-3 3-6", "compute.googleapis.com instanceGroups.listInstances 0-1 0-2 500 a page, of a group that is not managed",
                     "API QUOTA 10 1000", "compute.googleapis.com 1500 read requests of the project a minute 300 150"):
            self.assertIn(line, lines)

    def test_as_json_it_is_a_list_with_one_plan_for_each_size(self):
        run = self.muster("plan", "-f", self.file("m.yaml", TREE), "--json")
        plans = json.loads(run.stdout)
        self.assertEqual([plan["members"] for plan in plans], [10, 100, 1000])
        first, second, third, _ = plans[2]["resolvers"]
        self.assertEqual((first["path"], first["backend"], first["known"]), ("cluster.merge[0]", "kubernetes", True))
        self.assertEqual(first["requests"][1], {"api": "Kubernetes API server", "request": "list pods", "least": 10, "most": 11,
                                                "reason": "100 a page"})
        self.assertEqual((second["known"], second["requests"]), (True, []))
        self.assertEqual(third["requests"][0]["quota"], "read requests of the project")
        self.assertEqual(plans[2]["quotas"], [{"api": "compute.googleapis.com", "quota": "read requests of the project",
                                               "per_minute": 1500, "most": 10, "resolves_per_minute": 150}])

    def test_a_backend_that_does_not_say_is_status_10_and_the_others_are_told(self):
        path = self.file("m.yaml", "cluster:\n  chain:\n    - {backend: bad}\n    - {backend: kubernetes}\n")
        run = self.muster("plan", "--plugin-dir", self.plugin("bad"), "-f", path, "--members", "5", status=10)
        self.assertIn("cluster.chain[0] (bad): this backend does not say how many requests it makes\n", run.stdout)
        self.assertIn("list pods", run.stdout)

    def test_of_a_chain_one_that_cannot_find_out_is_named_and_the_others_are_told(self):
        path = self.file("m.yaml", "cluster:\n  chain:\n    - {backend: tpu}\n    - {backend: kubernetes}\n")
        run = self.muster("plan", "-f", path, "--members", "5,50", status=10, env={"TPU_SKIP_MDS_QUERY": "1"})
        self.assertIn("cluster.chain[0] (tpu): it cannot be found out how many requests this makes: NOT_FOUND: nothing says which "
                      "TPU it is", run.stderr)
        self.assertEqual(run.stderr.count("cannot be found out"), 1)
        self.assertIn("hint: ", run.stderr)
        self.assertIn("cluster.chain[0] (tpu): it cannot be found out", run.stdout)
        self.assertIn("list pods", run.stdout)

    def test_a_wrong_number_of_members_is_wrong_usage(self):
        for text in ("0", "-1", "ten", "10,", "", "10;20", "99999999999999999999"):
            with self.subTest(text):
                run = self.muster("plan", "--backend", "kubernetes", f"--members={text}", status=2)
                self.assertEqual(run.stdout, "")
        run = self.muster("plan", "--backend", "kubernetes", "--members", "1048577", status=12)
        self.assertIn("no cluster has 1048577 members: it has 1 to 1048576", run.stderr)


if __name__ == "__main__":
    main()

"""Which pods are tasks, in what order, and what is told of the others."""
import os
import unittest

from asking import ask, lists, world

WORKERS = """  pods:
    - {name: "worker-{0..11}", namespace: ml, labels: {app: t}, ip: "10.8.0.{10..21}", node: node-a, limits: {google.com/tpu: 4}}
    - {name: stranger, namespace: other, labels: {app: t}, ip: 10.9.9.9}
"""


class Pods(unittest.TestCase):
    def test_every_page_is_followed_and_worker_2_is_before_worker_10(self):
        with world(WORKERS) as sim:
            run = ask(sim, options=["page_size=5"])
            asked = lists(sim)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.cluster(), {"worker": [f"10.8.0.{n}:8470" for n in range(10, 22)]})
        self.assertEqual([task["name"] for task in run.answer["tasks"]], [f"worker-{n}" for n in range(12)])
        self.assertEqual(len(asked), 3)
        self.assertTrue(all("limit=5" in request["query"] for request in asked))
        self.assertEqual(run.answer["sources"][0]["requests"], 3)
        self.assertEqual(len({request["connection"] for request in asked}), 1)

    def test_a_server_that_gives_smaller_pages_than_asked_for_is_followed_too(self):
        with world("  page_size: 2\n" + WORKERS) as sim:
            run = ask(sim)
            self.assertEqual(len(lists(sim)), 6)
        self.assertEqual(len(run.cluster()["worker"]), 12, run)

    def test_ipv6_pods_are_bracketed(self):
        with world("""  pods: [{name: "w-{0..1}", namespace: ml, labels: {app: t}, ip: "fd00:10:8::{1..2}"}]\n""") as sim:
            self.assertEqual(ask(sim).cluster(), {"worker": ["[fd00:10:8::1]:8470", "[fd00:10:8::2]:8470"]})

    def test_two_selectors_of_a_job_are_one_after_the_other(self):
        with world("""  pods:
    - {name: "a-{0..1}", namespace: ml, labels: {set: a}, ip: "10.8.0.{1..2}"}
    - {name: "b-{0..1}", namespace: ml, labels: {set: b}, ip: "10.8.0.{3..4}"}\n""") as sim:
            run = ask(sim, "{worker: [set=b, set=a]}", options=["tf_server_port=99"])
            self.assertEqual(run.cluster(), {"worker": ["10.8.0.3:99", "10.8.0.4:99", "10.8.0.1:99", "10.8.0.2:99"]})
            self.assertEqual(len(lists(sim)), 2)

    def test_a_pod_in_two_jobs_is_an_error_and_its_selector_is_asked_once(self):
        with world(WORKERS) as sim:
            run = ask(sim, "{worker: [app=t], ps: [app=t]}")
            self.assertEqual(len(lists(sim)), 1)
        self.assertEqual(run.code, 12, run)
        self.assertEqual(run.out, "")
        self.assertIn("matches the selectors of both job", run.err)

    def test_pods_that_are_no_tasks_are_told_with_the_reason_and_status_10(self):
        with world("""  pods:
    - {name: w-0, namespace: ml, labels: {app: t}, ip: 10.8.0.1}
    - {name: w-1, namespace: ml, labels: {app: t}, phase: Pending, reason: "Unschedulable: 0/4 nodes are available"}
    - {name: w-2, namespace: ml, labels: {app: t}, phase: Failed, reason: "Evicted: the node was low on memory"}
    - {name: w-3, namespace: ml, labels: {app: t}, deleting: true}
    - {name: w-4, namespace: ml, labels: {app: t}, phase: Succeeded}
    - {name: w-5, namespace: ml, labels: {app: t}, phase: Pending, node: node-a, reason: "ImagePullBackOff: no such image"}
    - {name: w-6, namespace: ml, labels: {app: t}, ip: none}\n""") as sim:
            run = ask(sim)
        self.assertEqual(run.code, 10, run)
        self.assertFalse(run.answer["complete"])
        self.assertEqual([task["address"] for task in run.answer["tasks"]], ["10.8.0.1:8470"])
        missing = {m["name"]: m["reason"] for m in run.answer["jobs"]["worker"]["missing"]}
        self.assertEqual(sorted(missing), ["w-1", "w-2", "w-3", "w-5", "w-6"])
        self.assertIn("0/4 nodes are available", missing["w-1"])
        self.assertIn("low on memory", missing["w-2"])
        self.assertIn("being deleted", missing["w-3"])
        self.assertIn("ImagePullBackOff", missing["w-5"])
        self.assertIn("no IP", missing["w-6"])

    def test_fewer_than_expected_is_incomplete_and_as_many_is_complete(self):
        with world(WORKERS) as sim:
            few = ask(sim, "{worker: [app=t]}", "--expect", "worker=16")
            all_there = ask(sim, "{worker: [app=t]}", "--expect", "worker=12")
            no_answer = ask(sim, "{worker: [app=t]}", "--expect", "worker=16", form="tf_config")
        self.assertEqual((few.code, all_there.code, no_answer.code), (10, 0, 10))
        self.assertEqual(few.answer["jobs"]["worker"]["expected"], 16)
        self.assertEqual(no_answer.out, "")

    def test_this_process_is_found_by_POD_NAME_or_POD_IP_or_in_a_cluster_HOSTNAME(self):
        here = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "POD_NAMESPACE": "ml"}
        with world(WORKERS) as sim:
            for env in ({"POD_NAME": "worker-10", "POD_NAMESPACE": "ml"}, {"POD_IP": "10.8.0.20"},
                        {"HOSTNAME": "worker-10", **here}):
                task = ask(sim, env=env).answer["task"]
                self.assertEqual((task["type"], task["index"]), ("worker", 10), env)
            for env in ({"HOSTNAME": "worker-10"}, {"POD_NAME": "worker-10", "POD_NAMESPACE": "other"}):
                self.assertIsNone(ask(sim, env=env).answer["task"]["type"], env)

    def test_limits_are_accelerators_and_the_node_is_the_host(self):
        with world(WORKERS) as sim:
            run = ask(sim, env={"POD_NAME": "worker-3"})
        attributes = run.answer["tasks"][3]["attributes"]
        self.assertEqual(attributes["accelerator.type"], "TPU")
        self.assertEqual(attributes["accelerator.count"], "4")
        self.assertEqual(attributes["host"], "node-a")
        self.assertEqual(attributes["namespace"], "ml")
        self.assertEqual(run.answer["accelerators"], {"TPU": 4})

    def test_ten_thousand_pods_are_all_there(self):
        with world("  generate: {count: 10000, name: \"bulk-{i}\", namespace: ml, labels: {app: t}, bytes: 3000}\n") as sim:
            run = ask(sim)
            self.assertEqual(len(lists(sim)), 20)
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(len(set(run.cluster()["worker"])), 10000)
        self.assertEqual([task["name"] for task in run.answer["tasks"]], [f"bulk-{n}" for n in range(10000)])

    def test_a_large_page_comes_compressed_and_is_read(self):
        generate = "  generate: {count: 100, name: \"bulk-{i}\", namespace: ml, labels: {app: t}, bytes: 6000}\n"
        sizes = {}
        for gzip in ("true", "false"):
            with world(f"  gzip: {gzip}\n" + generate) as sim:
                # Another name of this machine, for one of its own is not asked to compress.
                path = os.path.join(sim.folder.name, "far.kubeconfig")
                with open(sim.ready["kubeconfig"]) as near, open(path, "w") as far:
                    far.write(near.read().replace("//127.0.0.1", "//0.0.0.0")
                              .replace("    certificate-authority", "    tls-server-name: localhost\n    certificate-authority"))
                run = ask(sim, options=[f"kubeconfig={path}"])
                sizes[gzip] = lists(sim)[0]["bytes"]
            self.assertEqual(len(run.cluster()["worker"]), 100, run)
        self.assertLess(sizes["true"], sizes["false"] / 2)


if __name__ == "__main__":
    unittest.main()

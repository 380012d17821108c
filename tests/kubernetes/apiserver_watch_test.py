"""The events of the real kube-apiserver: what they make of an answer is what a list would."""
import time
import unittest

from apiserver import started
from asking import PLUGINS
from library import Cluster


RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def setUpModule():
    global server
    server = started()


def cluster_of(namespace):
    return Cluster(f"cluster: {{backend: kubernetes, options: {{namespace: {namespace}, require: ready, job_to_label_mapping: "
                   f"{{worker: [app=t]}}, kubeconfig: '{server.ready['kubeconfig']}'}}}}", plugin_dir=PLUGINS, watch_interval="1h")


def names(snapshot):
    return [task["name"] for task in snapshot["tasks"]]


class Watching(unittest.TestCase):
    def follow(self, watch, holds, within=60):
        """The first snapshot of which that holds; none may be stale."""
        end = time.monotonic() + within
        while True:
            self.assertLess(time.monotonic(), end)
            snapshot = watch.next(int(within * 1000))
            self.assertFalse(snapshot["stale"], snapshot["warnings"])
            if holds(snapshot):
                return snapshot

    def test_pods_that_come_become_ready_and_go_leave_what_a_list_says(self):
        namespace = server.namespace("coming")
        server.pod(namespace, "w-200", {"app": "t"}, "10.9.0.1", status=RUNNING)
        path = f"/api/v1/namespaces/{namespace}/pods"
        with cluster_of(namespace) as cluster, cluster.watch() as watch:
            self.assertEqual(names(watch.next()), ["w-200"])
            for n in range(200):
                server.pod(namespace, f"w-{n}", {"app": "t"}, f"10.8.0.{n}", status=RUNNING if n % 2 else None)
            for n in range(0, 200, 2):
                server.must("PATCH", f"{path}/w-{n}/status", {"status": RUNNING}, "application/merge-patch+json")
            whole = self.follow(watch, lambda snapshot: len(names(snapshot)) == 201)
            self.assertEqual(whole["tasks"], cluster.resolve()["tasks"])
            for n in range(0, 200, 3):
                server.must("DELETE", f"{path}/w-{n}?gracePeriodSeconds=0")
            for n in (1, 4):
                server.must("PATCH", f"{path}/w-{n}", {"metadata": {"labels": {"app": "other"}}}, "application/merge-patch+json")
            left = self.follow(watch, lambda snapshot: len(names(snapshot)) == 201 - 67 - 2)
            fresh = cluster.resolve()
            self.assertEqual((left["tasks"], left["jobs"]), (fresh["tasks"], fresh["jobs"]))

    def test_a_cut_connection_and_a_forgotten_version_are_not_noticed(self):
        namespace = server.namespace("cut")
        server.pod(namespace, "w-0", {"app": "t"}, "10.8.0.1", status=RUNNING)
        with cluster_of(namespace) as cluster, cluster.watch() as watch:
            self.assertEqual(names(watch.next()), ["w-0"])
            for n, command in enumerate(("drop", "compact"), 1):
                with self.subTest(after=command):
                    server.command(command)
                    server.pod(namespace, f"w-{n}", {"app": "t"}, f"10.8.0.{n + 1}", status=RUNNING)
                    self.follow(watch, lambda snapshot: len(names(snapshot)) == n + 1)


if __name__ == "__main__":
    unittest.main()

"""Long lists of the real kube-apiserver: pages of one moment, also when the server forgets that moment in between."""
import unittest

from apiserver import started
from asking import PLUGINS, ask
from between import Between
from library import Cluster


def setUpModule():
    global server
    # Without snapshots in its cache the server notices a compaction at once, and not some seconds later.
    server = started("--feature-gates=ListFromCacheSnapshot=false")


class Pages(unittest.TestCase):
    def test_every_size_of_page_gives_the_same_members(self):
        server.command("seed 30")
        answers = {}
        for size, requests in ((500, 1), (7, 5), (1, 30)):
            run = ask(server, "{worker: [job-name=bulk]}", options=["namespace=bulk", f"page_size={size}"])
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.answer["sources"][0]["requests"], requests)
            answers[size] = run.answer["tasks"]
        self.assertEqual([task["name"] for task in answers[500]], [f"bulk-worker-{n}" for n in range(30)])
        self.assertEqual(answers[7], answers[500])
        self.assertEqual(answers[1], answers[500])

    def world(self, namespace):
        """Nine pods, and what moves them all to the next addresses: 10.1.0.x, 10.2.0.x, ..."""
        server.namespace(namespace)
        for n in range(9):
            server.pod(namespace, f"w-{n}", {"app": "t"}, f"10.1.0.{n}")
        moved = [1]

        def move():
            moved[0] += 1
            for n in range(9):
                server.must("PATCH", f"/api/v1/namespaces/{namespace}/pods/w-{n}/status", {"status": {
                    "podIP": f"10.{moved[0]}.0.{n}", "podIPs": [{"ip": f"10.{moved[0]}.0.{n}"}]}}, "application/merge-patch+json")

        return moved, move

    def of_one_moment(self, moment, run):
        self.assertEqual((run.code, run.answer and run.cluster()),
                         (0, {"worker": [f"10.{moment}.0.{n}:8470" for n in range(9)]}), run)

    def test_what_changes_between_pages_is_not_in_them(self):
        _, move = self.world("moving")
        between = Between(server, move)
        self.of_one_moment(1, between.ask("moving", options=["page_size=4"]))
        self.assertEqual(between.statuses, [200, 200, 200])
        self.assertEqual(between.kinds, {"application/vnd.kubernetes.protobuf"})

    def test_a_moment_forgotten_between_pages_is_not_mixed_with_the_next(self):
        moved, move = self.world("forgotten-once")

        def forget():
            if moved[0] == 1:
                move()
                server.command("compact")

        between = Between(server, forget)
        self.of_one_moment(2, between.ask("forgotten-once", options=["page_size=4"]))
        self.assertEqual(between.statuses, [200, 410, 200, 200, 200])

    def test_a_server_that_forgets_again_and_again_is_asked_for_all_at_once(self):
        moved, move = self.world("forgotten-always")

        def forget():
            move()
            server.command("compact")

        between = Between(server, forget)
        run = between.ask("forgotten-always", options=["page_size=4"])
        self.of_one_moment(moved[0], run)
        self.assertGreater(between.statuses.count(410), 1)
        self.assertEqual(between.statuses[-2:], [410, 200])


class Connections(unittest.TestCase):
    def test_a_cut_connection_and_a_restarted_server_are_not_noticed(self):
        server.namespace("kept")
        server.pod("kept", "w-0", {"app": "t"}, "10.8.0.1")
        config = ("cluster: {backend: kubernetes, options: {namespace: kept, job_to_label_mapping: {worker: [app=t]}, "
                  f"kubeconfig: '{server.ready['kubeconfig']}'}}}}")
        with Cluster(config, plugin_dir=PLUGINS) as cluster:
            for command in (None, "drop", "restart"):
                if command:
                    server.command(command)
                with self.subTest(after=command):
                    self.assertEqual(cluster.resolve()["cluster"], {"worker": ["10.8.0.1:8470"]})


if __name__ == "__main__":
    unittest.main()

"""A launcher in Python that knows libmuster only by ctypes: resolves, watches, cancels, frees everything.

    python3 launcher.py LIBMUSTER.so PLUGIN_DIR
"""

import os
import sys
import tempfile
import threading
import unittest

from muster_by_ctypes import Cluster, MusterError, load

LIBRARY, PLUGIN_DIR = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
load(LIBRARY)


def static_cluster(config, **settings):
    return Cluster(config, plugin_dir=PLUGIN_DIR, **settings)


class Launcher(unittest.TestCase):
    STATIC = "cluster: {backend: static, options: {cluster_spec: {worker: ['10.0.0.1:8470', '10.0.0.2:8470']}}}"

    def test_it_resolves_a_static_cluster(self):
        with static_cluster(self.STATIC, task_type="worker", task_id="1") as cluster:
            answer = cluster.resolve()
        self.assertEqual(answer["cluster"], {"worker": ["10.0.0.1:8470", "10.0.0.2:8470"]})
        self.assertEqual(answer["task"]["index"], 1)
        self.assertTrue(answer["complete"])

    def test_an_error_of_the_config_says_where_it_is(self):
        with self.assertRaises(MusterError) as raised:
            static_cluster("cluster: {backend: static}\ntimeuot: 3s\n")
        self.assertEqual(raised.exception.code, "INVALID_ARGUMENT")
        self.assertIn("<text>:2:1", str(raised.exception))
        self.assertIn("timeout", str(raised.exception))

    def test_it_says_what_a_config_needs_to_be_allowed(self):
        config = "cluster: {chain: [{backend: static, options: {cluster_spec: {}}}, {backend: kubernetes, options: {namespace: ml}}]}"
        with static_cluster(config) as cluster:
            own, pods = cluster.permissions("trainer", watch=True)
            _, refused = cluster.permissions("no name")
        self.assertEqual((own["backend"], own["known"], own["permissions"]), ("static", True, []))
        self.assertEqual([(one["principal"], one["scope"], one["rule"]) for one in pods["permissions"]],
                         [("ml:trainer", "namespace ml", "list pods"), ("ml:trainer", "namespace ml", "watch pods")])
        self.assertEqual((refused["known"], refused["code"]), (False, "INVALID_ARGUMENT"))

    def test_it_says_how_many_requests_a_config_makes(self):
        config = "cluster: {chain: [{backend: static, options: {cluster_spec: {}}}, {backend: kubernetes, options: {namespace: ml}}]}"
        with static_cluster(config) as cluster:
            plan = cluster.plan(1200)
            with self.assertRaises(MusterError) as raised:
                cluster.plan(0)
        own, pods = plan["resolvers"]
        self.assertEqual((own["known"], own["requests"]), (True, []))
        self.assertEqual([(one["request"], one["least"], one["most"]) for one in pods["requests"]], [("list pods", 3, 3)])
        self.assertEqual(raised.exception.code, "INVALID_ARGUMENT")

    def test_many_threads_resolve_one_cluster(self):
        answers, errors = [], []

        def work(cluster):
            try:
                for _ in range(10):
                    answers.append(cluster.resolve()["digest"])
            except MusterError as error:
                errors.append(error)

        with static_cluster(self.STATIC) as cluster:
            threads = [threading.Thread(target=work, args=(cluster,)) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(errors, [])
        self.assertEqual(len(answers), 80)
        self.assertEqual(len(set(answers)), 1)

    def test_a_watch_gives_a_snapshot_at_each_change_and_tells_stale_from_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            roster = os.path.join(folder, "roster")
            write(roster, "worker 0 10.0.0.1:1\n")
            config = f"cluster: {{backend: static, options: {{file: '{roster}'}}}}"
            with static_cluster(config, watch_interval="30ms") as cluster, cluster.watch() as watch:
                self.assertEqual(watch.next()["cluster"], {"worker": ["10.0.0.1:1"]})
                write(roster, "worker 0 10.0.0.9:1\n")
                self.assertEqual(watch.next()["cluster"], {"worker": ["10.0.0.9:1"]})
                write(roster, "worker zero\n")
                stale = watch.next()
                self.assertEqual((stale["stale"], stale["state"]), (True, "stale"))
                self.assertEqual(stale["cluster"], {"worker": ["10.0.0.9:1"]})
                os.remove(roster)
                gone = watch.next()
                self.assertEqual((gone["stale"], gone["state"], gone["complete"]), (False, "gone", False))
                self.assertEqual(gone["cluster"], {})
                self.assertEqual((gone["jobs"]["worker"]["found"], gone["jobs"]["worker"]["expected"]), (0, 1))
                self.assertIn("gone since", gone["jobs"]["worker"]["missing"][0]["reason"])
                write(roster, "worker 0 10.0.0.9:1\n")
                back = watch.next()
                self.assertEqual((back["state"], back["complete"]), ("fresh", True))


def write(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


if __name__ == "__main__":
    unittest.main()

"""Worlds that change, and the watch of an answer over them."""
import time
import unittest

from asking import PLUGINS
from library import Cluster, MusterError

HEAD = "tls: true\nkubernetes:\n  namespaces: [ml, other]\n"


def pods(*entries):
    """A world of such pods: "0", or "1 phase: Pending" with further keys."""
    text = "  pods:\n"
    for entry in entries:
        number, _, more = entry.partition(" ")
        address = "" if "Pending" in more else f", ip: 10.8.0.{int(number) + 1}"
        text += f"    - {{name: w-{number}, namespace: ml, labels: {{app: t}}{address}{', ' if more else ''}{more}}}\n"
    return text


def change(sim, text):
    answer = sim.get("/_sim/scenario", method="PUT", body=HEAD + text)
    assert answer.status // 100 == 2, answer.body


def watched(sim, options="job_to_label_mapping: {worker: [app=t]}", **settings):
    """The watch of a cluster whose polls are too rare to be seen; its cluster lives as long."""
    config = f"cluster: {{backend: kubernetes, options: {{kubeconfig: '{sim.ready['kubeconfig']}', namespace: ml, {options}}}}}"
    cluster = Cluster(config, plugin_dir=PLUGINS, **{"watch_interval": "1h", **settings})
    watch = cluster.watch()
    watch.cluster = cluster
    return watch


def addresses(*numbers):
    return {"worker": [f"10.8.0.{n + 1}:8470" for n in numbers]}


def asked(sim, of="pods"):
    """The requests for them in order: "list 200", "watch 410"; of "jobs/train": "get 200"."""
    verb = "get" if "/" in of else "list"
    return [("watch" if "watch=1" in r["query"] else verb) + f" {r['status']}"
            for r in sim.requests() if r["path"].endswith("/" + of)]


def parameter(request, name):
    return dict(part.split("=", 1) for part in request["query"].split("&"))[name]


def job(parallelism, *names):
    """A world of that Job and of such pods of its, "train-0" for 0."""
    text = ("  objects: [{apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: ml, uid: u1}, "
            f"spec: {{completionMode: Indexed, completions: {parallelism}, "
            f"parallelism: {parallelism}, selector: {{matchLabels: {{job-name: train}}}}}}}}]\n  pods:\n")
    for n in names:
        text += (f"    - {{name: train-{n}, namespace: ml, labels: {{job-name: train, "
                 f"batch.kubernetes.io/job-name: train, batch.kubernetes.io/controller-uid: u1}}, "
                 f"annotations: {{batch.kubernetes.io/job-completion-index: '{n}'}}, "
                 f"owner: {{kind: Job, name: train, uid: u1}}, ip: 10.8.0.{n + 1}}}\n")
    return text


def endpoints(**slices):
    """A world of a Service's slices: their pods' numbers by the slices' names."""
    text = "  objects:\n"
    for name, numbers in slices.items():
        listed = ", ".join("{addresses: [10.8.0.%d], conditions: {ready: true}, targetRef: {kind: Pod, name: w-%d, uid: u%d}}" % (n + 1, n, n)
                           for n in numbers)
        text += (f"    - {{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, metadata: {{name: {name}, namespace: ml, "
                 f"labels: {{kubernetes.io/service-name: train}}}}, ports: [{{port: 7000}}], endpoints: [{listed}]}}\n")
    return text


class Watching(unittest.TestCase):
    def becomes(self, watch, cluster, stale=False, within=20, missing=False):
        """The snapshot with that cluster; none before it may be stale unless this one is. `missing`: until then it may be NOT_FOUND."""
        until = time.monotonic() + within
        seen = []
        while time.monotonic() < until:
            try:
                seen.append(watch.next(int(max(1, until - time.monotonic()) * 1000)))
            except MusterError as error:
                if not missing or error.code != "NOT_FOUND":
                    raise
                continue
            self.assertLessEqual(seen[-1]["stale"], stale, seen[-1])
            if seen[-1]["cluster"] == cluster and seen[-1]["stale"] == stale:
                return seen[-1]
        self.fail(seen)

    def becomes_gone(self, watch):
        """The snapshot without members that says that the source has none any longer."""
        gone = self.becomes(watch, {})
        self.assertEqual((gone["state"], gone["complete"]), ("gone", False))
        return gone

    def nothing_new(self, watch):
        """Says so after a second."""
        with self.assertRaises(MusterError) as raised:
            watch.next(1000)
        self.assertEqual(raised.exception.code, "DEADLINE_EXCEEDED")

    def until(self, holds, within=20):
        end = time.monotonic() + within
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

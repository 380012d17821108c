"""An answer that the API server's events keep up to date: one list, then one stream, and nothing is lost where that ends."""
import contextlib
import os
import sys
import time
import unittest

from asking import PLUGINS, lists, world

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launcher"))
from muster_by_ctypes import Cluster, MusterError, load  # noqa: E402

load(os.environ["MUSTER_TEST_LIBRARY"])
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
    def becomes(self, watch, cluster, stale=False, within=20):
        """The snapshot with that cluster; none before it may be stale unless this one is."""
        until = time.monotonic() + within
        seen = []
        while time.monotonic() < until:
            seen.append(watch.next(int(max(1, until - time.monotonic()) * 1000)))
            self.assertLessEqual(seen[-1]["stale"], stale, seen[-1])
            if seen[-1]["cluster"] == cluster and seen[-1]["stale"] == stale:
                return seen[-1]
        self.fail(seen)

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


class Events(Watching):
    def test_a_pod_that_appears_runs_and_goes_is_told_without_another_list(self):
        with world(pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 2)
            change(sim, pods("0", "1 phase: Pending"))
            missing = watch.next()
            self.assertEqual(missing["cluster"], addresses(0))
            self.assertIn("w-1", str(missing["jobs"]), missing)
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))
            change(sim, pods("1"))
            self.becomes(watch, addresses(1))
            self.assertEqual(asked(sim), ["list 200", "watch 200"])

    def test_what_does_not_match_any_longer_is_gone(self):
        with world(pods("0", "1")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0, 1))
            self.until(lambda: len(lists(sim)) == 2)
            change(sim, pods("0") + "    - {name: w-1, namespace: ml, labels: {app: other}, ip: 10.8.0.2}\n")
            self.becomes(watch, addresses(0))

    def test_a_burst_of_events_is_told_whole(self):
        many = '  generate: {{count: 500, name: "w-{{i}}", namespace: ml, labels: {{app: t}}, ip: "10.{}.{{i/250}}.{{i%250+1}}", bytes: 6144}}\n'
        with world(many.format(8)) as sim, watched(sim) as watch:
            first = watch.next()["cluster"]["worker"]
            self.assertEqual(len(first), 500)
            self.until(lambda: len(lists(sim)) == 2)
            change(sim, many.format(9))
            self.becomes(watch, {"worker": [address.replace("10.8.", "10.9.") for address in first]})

    def test_texts_that_no_pod_has_any_longer_are_let_go_by_a_new_list(self):
        def long(n):
            return (f'  generate: {{count: 100, name: "w-{{i}}", namespace: ml, labels: {{app: t}}, ip: "10.{n}.0.{{i+1}}", '
                    f"message: {'x' * 150_000}}}\n")
        with world(long(0)) as sim, watched(sim) as watch:
            for n in range(4):
                if n > 0:
                    change(sim, long(n))
                self.becomes(watch, {"worker": [f"10.{n}.0.{i + 1}:8470" for i in range(100)]})
                self.until(lambda: "watch 200" in asked(sim))
            self.until(lambda: asked(sim).count("list 200") == 2)

    def test_bookmarks_move_the_version_alone(self):
        head = "  bookmark_every: 100ms\n"
        with world(head + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            time.sleep(0.5)
            change(sim, head + pods("0", "1"))
            self.becomes(watch, addresses(0, 1))
            self.assertEqual(asked(sim), ["list 200", "watch 200"])

    def test_it_ends_at_once_when_nobody_needs_it(self):
        with world(pods("0")) as sim:
            with watched(sim) as watch:
                self.becomes(watch, addresses(0))
                self.until(lambda: len(lists(sim)) == 2)
                began = time.monotonic()
            self.assertLess(time.monotonic() - began, 1)

    def test_an_object_is_followed_beside_its_pods(self):
        with world(job(2, 0, 1)) as sim, watched(sim, "job: train") as watch:
            self.becomes(watch, addresses(0, 1))
            self.until(lambda: asked(sim) == ["list 200", "watch 200"] and asked(sim, "jobs") == ["watch 200"])
            change(sim, job(2, 1))
            lacking = watch.next()
            self.assertIn("no pod yet", str(lacking["jobs"]), lacking)
            change(sim, job(3, 0, 1, 2))
            self.becomes(watch, addresses(0, 1, 2))
            self.assertEqual(asked(sim), ["list 200", "watch 200"])
            self.assertEqual(asked(sim, "jobs"), ["watch 200"])

    def test_a_changed_count_of_an_object_is_seen_within_a_second(self):
        with world(job(2, 0, 1)) as sim, watched(sim, "job: train") as watch:
            self.assertTrue(self.becomes(watch, addresses(0, 1))["complete"])
            self.until(lambda: asked(sim, "jobs") == ["watch 200"])
            began = time.monotonic()
            change(sim, job(4, 0, 1))
            more = watch.next()
            self.assertLess(time.monotonic() - began, 1)
            self.assertEqual((more["complete"], more["jobs"]["worker"]["expected"]), (False, 4), more)
            change(sim, job(2, 0, 1))
            self.assertTrue(watch.next()["complete"])
            self.assertEqual(asked(sim, "jobs/train"), ["get 200"])

    def test_an_object_that_is_deleted_is_no_answer_any_longer(self):
        with world(job(1, 0)) as sim, watched(sim, "job: train") as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: asked(sim, "jobs") == ["watch 200"])
            change(sim, job(1, 0).replace("name: train,", "name: other,", 1))
            stale = self.becomes(watch, addresses(0), stale=True)
            self.assertIn("there is no Job 'train'", str(stale["warnings"]))

    def test_pods_without_a_place_in_the_object_are_told_and_the_object_is_read_once_more(self):
        with world(job(2, 0, 1)) as sim, watched(sim, "job: train") as watch:
            self.becomes(watch, addresses(0, 1))
            self.until(lambda: asked(sim, "jobs") == ["watch 200"] and "watch 200" in asked(sim))
            change(sim, job(2, 0, 1, 5))
            odd = watch.next()
            self.assertIn("has no place", str(odd["warnings"]))
            change(sim, job(2, 1, 5))
            watch.next()
            self.assertEqual(asked(sim, "jobs/train"), ["get 200", "get 200"])

    def test_several_selectors_are_followed_by_a_stream_each(self):
        def both(a, b):
            text = "  pods:\n"
            for name, numbers in (("t", a), ("p", b)):
                for n in numbers:
                    text += f"    - {{name: {name}-{n}, namespace: ml, labels: {{app: {name}}}, ip: 10.8.0.{n + 1}}}\n"
            return text
        with world(both([0], [1])) as sim, watched(sim, "job_to_label_mapping: {worker: [app=t], ps: [app=p]}") as watch:
            self.becomes(watch, {**addresses(0), "ps": ["10.8.0.2:8470"]})
            self.until(lambda: len(lists(sim)) == 4)
            change(sim, both([0, 2], [1]))
            self.becomes(watch, {**addresses(0, 2), "ps": ["10.8.0.2:8470"]})
            change(sim, both([0, 2], [1, 3]))
            self.becomes(watch, {**addresses(0, 2), "ps": ["10.8.0.2:8470", "10.8.0.4:8470"]})
            # Of both lists in one moment: one snapshot.
            change(sim, both([2], [3]))
            self.assertEqual(watch.next()["cluster"], {**addresses(2), "ps": ["10.8.0.4:8470"]})
            self.assertEqual(sorted(asked(sim)), ["list 200"] * 2 + ["watch 200"] * 2)

    def test_a_pod_that_goes_from_one_selector_to_another_is_never_in_both(self):
        def labelled(app):
            return ("  pods:\n    - {name: w-0, namespace: ml, labels: {app: t}, ip: 10.8.0.1}\n"
                    "    - {name: w-2, namespace: ml, labels: {app: p}, ip: 10.8.0.3}\n"
                    f"    - {{name: w-1, namespace: ml, labels: {{app: {app}}}, ip: 10.8.0.2}}\n")
        with world(labelled("t")) as sim, watched(sim, "job_to_label_mapping: {worker: [app=t], ps: [app=p]}") as watch:
            self.becomes(watch, {**addresses(0, 1), "ps": ["10.8.0.3:8470"]})
            self.until(lambda: len(lists(sim)) == 4)
            for _ in range(5):
                change(sim, labelled("p"))
                self.becomes(watch, {**addresses(0), "ps": ["10.8.0.2:8470", "10.8.0.3:8470"]})
                change(sim, labelled("t"))
                self.becomes(watch, {**addresses(0, 1), "ps": ["10.8.0.3:8470"]})

    def test_a_service_is_followed_by_its_slices(self):
        def told(*numbers):
            return {"worker": [f"10.8.0.{n + 1}:7000" for n in numbers]}
        with world(endpoints(a=[0, 1])) as sim, watched(sim, "service: train") as watch:
            self.becomes(watch, told(0, 1))
            self.until(lambda: len(asked(sim, "endpointslices")) == 2)
            change(sim, endpoints(a=[0, 1], b=[2]))
            self.becomes(watch, told(0, 1, 2))
            change(sim, endpoints(b=[2, 3]))
            self.becomes(watch, told(2, 3))
            self.assertEqual(asked(sim, "endpointslices"), ["list 200", "watch 200"])


class Endings(Watching):
    def test_a_stream_that_is_cut_goes_on_where_it_was_without_a_list(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, drop_after_bytes: 60, reset: true}]\n'
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 2)
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))
            self.until(lambda: len(lists(sim)) == 3)
            requests = lists(sim)
            self.assertEqual(asked(sim)[0], "list 200")
            self.assertEqual([kind.split()[0] for kind in asked(sim)], ["list", "watch", "watch"])
            self.assertEqual(parameter(requests[1], "resourceVersion"), parameter(requests[2], "resourceVersion"))

    def test_a_stream_that_ends_goes_on_from_its_last_event(self):
        # The body is one event and then the end.
        event = ('{"type":"ADDED","object":{"metadata":{"name":"w-9","namespace":"ml","resourceVersion":"999"},'
                 '"status":{"phase":"Running","podIP":"10.8.0.10"}}}')
        fault = "  faults: [{match: \"GET *pods?*watch=1*\", times: 1, body: '" + event + "\n\n'}]\n"
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0, 9))
            self.until(lambda: len(lists(sim)) >= 3)
            self.assertEqual(parameter(lists(sim)[2], "resourceVersion"), "999")

    def test_a_forgotten_version_is_listed_again_and_the_answer_is_never_stale(self):
        expired = ('{"type":"ERROR","object":{"kind":"Status","message":"too old resource version","reason":"Expired","code":410}}')
        protobuf = "status: 410, content_type: application/vnd.kubernetes.protobuf, body: none"
        for keys in ("status: 410", "body: '" + expired + "\n\n'", protobuf):
            fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, delay: 500ms, ' + keys + "}]\n"
            with self.subTest(keys), world(fault + pods("0")) as sim, watched(sim) as watch:
                self.becomes(watch, addresses(0))
                self.nothing_new(watch)
                self.until(lambda: len(lists(sim)) >= 4)
                self.assertEqual([kind.split()[0] for kind in asked(sim)], ["list", "watch", "list", "watch"])
                self.nothing_new(watch)
                change(sim, pods("0", "1"))
                self.becomes(watch, addresses(0, 1))

    def test_a_hundred_watchers_whose_streams_end_at_once_cost_one_request_each(self):
        bookmark = '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1002"}}}'
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 100, delay: 5s, body: \'' + bookmark + "\n\n'}]\n"
        with world(fault + pods("0")) as sim, contextlib.ExitStack() as stack:
            watches = [stack.enter_context(watched(sim)) for _ in range(100)]
            for watch in watches:
                self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) >= 300, 30)
            change(sim, pods("0", "1"))
            for watch in watches:
                self.becomes(watch, addresses(0, 1))
            self.assertEqual((asked(sim).count("list 200"), asked(sim).count("watch 200")), (100, 200))

    def test_an_event_that_breaks_off_is_as_if_it_had_never_begun(self):
        part = '{"type":"ADDED","object":{"metadata":{"name":"w-9","namespace":"ml","resourceVersion":"999"},"sta'
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, body: \'' + part + "'}]\n"
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 3)
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))
            requests = lists(sim)
            self.assertEqual(parameter(requests[1], "resourceVersion"), parameter(requests[2], "resourceVersion"))
            self.assertEqual(asked(sim), ["list 200", "watch 200", "watch 200"])

    def test_a_server_with_too_much_to_do_is_asked_again_when_it_says(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, status: 429, retry_after: 3}]\n'
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 3)
            self.assertEqual(asked(sim), ["list 200", "watch 429", "watch 200"])
            times = [r["time_ms"] for r in lists(sim)]
            self.assertGreaterEqual(times[2] - times[1], 2900)
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))

    def test_credentials_that_are_refused_later_are_found_anew_without_a_stale_answer(self):
        bookmark = '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"1002"}}}'
        faults = ('  faults: [{match: "GET *pods?*watch=1*", times: 1, body: \'' + bookmark + "\n\n'}, "
                  '{match: "GET *pods?*watch=1*", times: 1, status: 401}]\n')
        with world(faults + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 5)
            self.assertEqual(asked(sim), ["list 200", "watch 200", "watch 401", "list 200", "watch 200"])
            change(sim, pods("0", "1"))
            self.becomes(watch, addresses(0, 1))

    def test_what_changed_before_the_list_was_forgotten_is_in_the_next(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, delay: 1s, status: 410}]\n'
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            change(sim, fault.replace("times: 1", "after: 9") + pods("2"))
            self.becomes(watch, addresses(2))


class Failures(Watching):
    def test_a_403_on_watch_makes_the_answer_stale_and_names_both_verbs(self):
        slow = '  faults: [{match: "GET *pods?*watch=1*", delay: 300ms}]\n'
        with world("  forbid: [{verb: watch, resource: pods}]\n" + slow + pods("0")) as sim, watched(sim) as watch:
            stale = self.becomes(watch, addresses(0), stale=True)
            self.assertIn("may not watch pods", str(stale["warnings"]), stale)
            self.assertIn("verbs: [list, watch]", str(stale["warnings"]), stale)
            time.sleep(5)
            self.assertLessEqual(asked(sim).count("watch 403"), 4)

    def test_a_403_on_the_list_of_a_watch_names_both_verbs_too(self):
        with world("  forbid: [{verb: list, resource: pods}]\n" + pods("0")) as sim, watched(sim) as watch:
            with self.assertRaises(MusterError) as raised:
                watch.next()
            self.assertIn("verbs: [list, watch]", raised.exception.details["hint"])

    def test_what_is_no_stream_of_events_makes_the_answer_stale(self):
        for name, keys in (("garbage", 'body: "<html>\\n"'), ("wrong type", 'content_type: text/html, body: "<html>login</html>\\n"'),
                           ("another form", 'content_type: application/vnd.kubernetes.protobuf, body: "k8s\\n"'),
                           ("a list", "body: '{\"kind\":\"PodList\",\"items\":[]}\n\n'"),
                           ("huge", "body: '" + "x" * (17 << 20) + "'")):
            fault = '  faults: [{match: "GET *pods?*watch=1*", delay: 300ms, ' + keys + "}]\n"
            with self.subTest(name), world(fault + pods("0")) as sim, watched(sim) as watch:
                stale = self.becomes(watch, addresses(0), stale=True)
                self.assertIn("cannot be understood", str(stale["warnings"])[:2000])

    def test_a_401_makes_the_answer_stale_until_the_next_attempt(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, delay: 300ms, status: 401}]\n'
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            stale = self.becomes(watch, addresses(0), stale=True)
            self.assertIn("refuses the credentials", str(stale["warnings"]))
            self.assertFalse(watch.next()["stale"])

    def test_a_server_that_streams_nothing_is_asked_a_few_times_and_then_the_answer_is_stale(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", status: 503}]\n'
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            stale = self.becomes(watch, addresses(0), stale=True)
            self.assertIn("503", str(stale["warnings"]), stale)
            self.assertGreaterEqual(asked(sim).count("watch 503"), 3)

    def test_no_pod_any_longer_is_no_answer_and_a_new_one_is_seen(self):
        with world(pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 2)
            change(sim, "  pods: []\n")
            stale = self.becomes(watch, addresses(0), stale=True)
            self.assertIn("no pod", str(stale["warnings"]))
            change(sim, pods("1"))
            self.becomes(watch, addresses(1))

    def test_one_stream_of_several_that_is_refused_makes_the_answer_stale(self):
        options = "job_to_label_mapping: {worker: [app=t], ps: [app=p]}"
        two = pods("0") + "    - {name: p-0, namespace: ml, labels: {app: p}, ip: 10.8.0.9}\n"
        fault = '  faults: [{match: "GET *pods?*app=p*watch=1*", delay: 300ms, status: 403}]\n'
        with world(fault + two) as sim, watched(sim, options) as watch:
            stale = self.becomes(watch, {**addresses(0), "ps": ["10.8.0.9:8470"]}, stale=True)
            self.assertIn("may not watch pods", str(stale["warnings"]))

    def test_a_403_on_the_watch_of_an_object_prints_what_it_needs(self):
        with world("  forbid: [{verb: watch, resource: jobs}]\n" + job(1, 0)) as sim, watched(sim, "job: train") as watch:
            stale = self.becomes(watch, addresses(0), stale=True)
            self.assertIn('resources: [jobs], verbs: [get, watch]', str(stale["warnings"]), stale)

    def test_a_silent_stream_is_given_up_for_a_new_list(self):
        fault = '  faults: [{match: "GET *pods?*watch=1*", times: 1, delay: 60s}]\n'
        with world("  bookmark_every: 500ms\n" + fault + pods("0")) as sim:
            with watched(sim, "watch_silence: 2, job_to_label_mapping: {worker: [app=t]}") as watch:
                self.becomes(watch, addresses(0))
                change(sim, "  bookmark_every: 500ms\n" + fault.replace("times: 1", "after: 9") + pods("0", "1"))
                began = time.monotonic()
                self.becomes(watch, addresses(0, 1))
                self.assertGreater(time.monotonic() - began, 1)
                # One list and one watch more, and then the bookmarks say that the stream lives.
                time.sleep(3)
                self.assertEqual([kind.split()[0] for kind in asked(sim)], ["list", "watch", "list", "watch"])

    def test_a_replay_has_no_stream_and_is_its_answer(self):
        with world(pods("0")) as sim:
            recording = os.path.join(sim.folder.name, "recording")
            config = ("cluster: {backend: kubernetes, options: {namespace: ml, job_to_label_mapping: {worker: [app=t]}, "
                      f"kubeconfig: '{sim.ready['kubeconfig']}'}}}}")
            with Cluster(config, plugin_dir=PLUGINS, record=recording) as cluster:
                cluster.resolve()
            with Cluster(config, plugin_dir=PLUGINS, replay=recording, watch_interval="50ms") as cluster, cluster.watch() as watch:
                self.assertEqual(watch.next()["cluster"], addresses(0))
                self.nothing_new(watch)
            self.assertEqual(asked(sim), ["list 200"])

    def test_one_selector_of_two_jobs_is_an_error_as_ever(self):
        with world(pods("0")) as sim, watched(sim, "job_to_label_mapping: {a: [app=t], b: [app=t]}") as watch:
            with self.assertRaises(MusterError) as raised:
                watch.next()
            self.assertIn("can be a task of one alone", str(raised.exception))


if __name__ == "__main__":
    unittest.main()

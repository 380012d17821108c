"""What makes a followed answer stale, with the reason."""
import os
import time
import unittest

from asking import PLUGINS, lists, world
from library import Cluster, MusterError
from watching import Watching, addresses, asked, change, pods, watched


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
        for name, keys in (("garbage", 'body: "<html>\\n"'), ("without an end of a line", 'body: "<html>login</html>"'),
                           ("a list without an end of a line", "body: '{\"kind\":\"PodList\",\"items\":[]}'"), ("wrong type", 'content_type: text/html, body: "<html>login</html>\\n"'),
                           ("another form", 'content_type: application/vnd.kubernetes.protobuf, body: "k8s\\n"'),
                           ("a list", "body: '{\"kind\":\"PodList\",\"items\":[]}\n\n'"),
                           ("huge", "body: '" + "x" * (17 << 20) + "'")):
            fault = '  faults: [{match: "GET *pods?*watch=1*", delay: 300ms, ' + keys + "}]\n"
            with self.subTest(name), world(fault + pods("0")) as sim, watched(sim) as watch:
                stale = self.becomes(watch, addresses(0), stale=True)
                self.assertIn("cannot be understood", str(stale["warnings"])[:2000])
                self.assertLess(len(lists(sim)), 20)

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

    def test_streams_of_the_same_event_and_an_end_are_not_asked_for_without_a_pause(self):
        event = ('{"type":"ADDED","object":{"metadata":{"name":"w-9","namespace":"ml","resourceVersion":"999"},'
                 '"status":{"phase":"Running","podIP":"10.8.0.10"}}}')
        fault = "  faults: [{match: \"GET *pods?*watch=1*\", body: '" + event + "\n\n'}]\n"
        with world(fault + pods("0")) as sim, watched(sim) as watch:
            until = time.monotonic() + 20
            while not (told := watch.next(20_000))["stale"]:
                self.assertLess(time.monotonic(), until)
            self.assertIn("end at once, without anything new", str(told["warnings"]))
            self.assertLess(len(lists(sim)), 10)

    def test_no_pod_any_longer_is_no_answer_and_a_new_one_is_seen(self):
        with world(pods("0")) as sim, watched(sim) as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 2)
            change(sim, "  pods: []\n")
            self.assertIn("no pod", str(self.becomes_gone(watch)["warnings"]))
            change(sim, pods("1"))
            self.becomes(watch, addresses(1))

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

if __name__ == "__main__":
    unittest.main()

"""Pods that an answer follows by the API server's events: one list, then one stream."""
import time
import unittest

from asking import lists, world
from watching import Watching, addresses, asked, change, pods, watched


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

    def test_ten_thousand_pods_that_come_become_ready_and_go_leave_what_a_fresh_list_says(self):
        def many(count, more):
            return (f'  generate: {{count: {count}, name: "m-{{i}}", namespace: ml, labels: {{app: t}}, bytes: 4096, {more}}}\n')
        ready = 'ip: "10.{i/62500%250}.{i/250%250}.{i%250+1}"'
        with world(pods("0")) as sim, watched(sim, "require: ready, job_to_label_mapping: {worker: [app=t]}") as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: len(lists(sim)) == 2)
            for text, members in ((many(10_000, "phase: Pending"), 1), (many(10_000, ready + ", ready: false"), 1),
                                  (many(10_000, ready), 10_001), (many(4_000, ready), 4_001), (many(2, ready), 3)):
                change(sim, text + pods("0"))
                fresh = watch.cluster.resolve()
                self.assertEqual(len(fresh["tasks"]), members)
                until = time.monotonic() + 60
                while (told := watch.next(60_000))["digest"] != fresh["digest"] or told["jobs"] != fresh["jobs"]:
                    self.assertFalse(told["stale"], told["warnings"])
                    self.assertLess(time.monotonic(), until)
                self.assertEqual((told["tasks"], told["warnings"]), (fresh["tasks"], fresh["warnings"]))
            self.assertEqual(asked(sim).count("watch 200"), 1)

    def test_texts_that_no_pod_has_any_longer_are_let_go_without_a_new_list(self):
        def long(n):
            return (f'  generate: {{count: 100, name: "w-{{i}}", namespace: ml, labels: {{app: t}}, ip: "10.{n}.0.{{i+1}}", '
                    f"message: {'x' * 150_000}}}\n")
        with world(long(0)) as sim, watched(sim) as watch:
            for n in range(4):
                if n > 0:
                    change(sim, long(n))
                self.becomes(watch, {"worker": [f"10.{n}.0.{i + 1}:8470" for i in range(100)]})
                self.until(lambda: "watch 200" in asked(sim))
            self.assertEqual(asked(sim), ["list 200", "watch 200"])

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

if __name__ == "__main__":
    unittest.main()

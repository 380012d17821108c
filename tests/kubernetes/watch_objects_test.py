"""What is followed beside pods: an object, a Service's slices, and several selectors by a stream each."""
import time
import unittest

from asking import lists, world
from library import MusterError
from watching import Watching, addresses, asked, change, endpoints, job, pods, watched


class Objects(Watching):
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
            self.assertIn("there is no Job 'train'", str(self.becomes_gone(watch)["warnings"]))

    def test_an_object_that_is_not_there_yet_is_told_and_its_creation_is_an_event(self):
        with world(job(1).replace("name: train,", "name: other,", 1)) as sim, watched(sim, "job: train") as watch:
            with self.assertRaises(MusterError) as raised:
                watch.next()
            self.assertEqual(raised.exception.code, "NOT_FOUND")
            self.until(lambda: asked(sim, "jobs") == ["watch 200"])
            # Longer than the core waits between two attempts.
            time.sleep(3)
            self.assertEqual(asked(sim, "jobs/train"), ["get 404", "get 404"])
            began = time.monotonic()
            change(sim, job(2, 0, 1))
            self.assertTrue(self.becomes(watch, addresses(0, 1), missing=True)["complete"])
            self.assertLess(time.monotonic() - began, 1)
            self.assertEqual(asked(sim, "jobs"), ["watch 200"])

    def test_an_object_that_is_deleted_and_made_anew_is_an_answer_again(self):
        with world(job(1, 0)) as sim, watched(sim, "job: train") as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: asked(sim, "jobs") == ["watch 200"])
            change(sim, job(1, 0).replace("name: train,", "name: other,", 1))
            self.until(lambda: asked(sim, "jobs").count("watch 200") == 2)
            began = time.monotonic()
            change(sim, job(1, 3).replace("job-completion-index: '3'", "job-completion-index: '0'"))
            while (told := watch.next(10_000))["cluster"] != addresses(3) or told["stale"]:
                pass
            self.assertLess(time.monotonic() - began, 2)

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

    def test_a_pod_without_a_place_of_an_object_that_has_gone_unseen_ends_in_words(self):
        def groups(name, *numbers):
            return ('  faults: [{match: "GET *sets?*watch=1*", delay: 30s}]\n'
                    "  objects: [{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, "
                    f"metadata: {{name: {name}, namespace: ml, uid: u1}}, spec: {{replicas: 1, leaderWorkerTemplate: {{size: 1}}}}}}]\n  pods:\n" + "".join(
                        f"    - {{name: train-{n}, namespace: ml, ip: 10.8.0.{n + 1}, labels: {{leaderworkerset.sigs.k8s.io/name: train, "
                        f"leaderworkerset.sigs.k8s.io/group-index: '{n}', leaderworkerset.sigs.k8s.io/worker-index: '0'}}}}\n" for n in numbers))
        with world(groups("train", 0)) as sim, watched(sim, "leaderworkerset: train, watch_silence: 30") as watch:
            self.becomes(watch, addresses(0))
            self.until(lambda: "watch 200" in asked(sim))
            change(sim, groups("other", 0, 5))
            while "there is no LeaderWorkerSet 'train'" not in str(watch.next(10_000)):
                pass

    def test_a_403_on_the_watch_of_an_object_prints_what_it_needs(self):
        with world("  forbid: [{verb: watch, resource: jobs}]\n" + job(1, 0)) as sim, watched(sim, "job: train") as watch:
            stale = self.becomes(watch, addresses(0), stale=True)
            self.assertIn('resources: [jobs], verbs: [get, watch]', str(stale["warnings"]), stale)

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

    def test_a_service_without_endpoints_is_told_and_the_first_ones_are_an_event(self):
        other = endpoints(b=[5]).replace("service-name: train", "service-name: other")
        with world(other) as sim, watched(sim, "service: train") as watch:
            with self.assertRaises(MusterError) as raised:
                watch.next()
            self.assertEqual(raised.exception.code, "NOT_FOUND")
            self.until(lambda: "watch 200" in asked(sim, "endpointslices"))
            time.sleep(3)
            began = time.monotonic()
            change(sim, endpoints(a=[0]))
            self.becomes(watch, {"worker": ["10.8.0.1:7000"]}, missing=True)
            self.assertLess(time.monotonic() - began, 1)
            self.assertEqual(asked(sim, "endpointslices").count("list 200"), 2)


class Selectors(Watching):
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

    def test_one_stream_of_several_that_is_refused_makes_the_answer_stale(self):
        options = "job_to_label_mapping: {worker: [app=t], ps: [app=p]}"
        two = pods("0") + "    - {name: p-0, namespace: ml, labels: {app: p}, ip: 10.8.0.9}\n"
        fault = '  faults: [{match: "GET *pods?*app=p*watch=1*", delay: 300ms, status: 403}]\n'
        with world(fault + two) as sim, watched(sim, options) as watch:
            stale = self.becomes(watch, {**addresses(0), "ps": ["10.8.0.9:8470"]}, stale=True)
            self.assertIn("may not watch pods", str(stale["warnings"]))

    def test_one_selector_of_two_jobs_is_an_error_as_ever(self):
        with world(pods("0")) as sim, watched(sim, "job_to_label_mapping: {a: [app=t], b: [app=t]}") as watch:
            with self.assertRaises(MusterError) as raised:
                watch.next()
            self.assertIn("can be a task of one alone", str(raised.exception))

if __name__ == "__main__":
    unittest.main()

"""A watch on a VM: what its metadata server says of its end is an event at once, and nothing else of that server's is."""
import signal
import time
import unittest

from asking import ZONE, api_requests, endpoint, group, world
from google_watching import METADATA, Watching, change, metadata_requests

HEAD = f"  machine: {{instance: w-1, zone: {ZONE}}}\n"


def machine(more=""):
    return HEAD.replace("}", f", {more}}}") if more else HEAD


class Preemption(Watching):
    def watch(self, sim, **settings):
        given = [f"endpoint={endpoint(sim)}", "project=orchard", f"zone={ZONE}", "instance_group=grape"]
        return self.watch_backend("gce", sim, given, **settings)

    def test_a_preemption_is_an_event_within_a_second_and_costs_no_question_for_the_group(self):
        with world(machine() + group(3)) as sim:
            process = self.watch(sim)
            first = self.event(process, 1)
            self.assertEqual((self.missing(first), first["task"]["index"]), ({}, 1))
            self.listening(sim, process)
            asked = len(api_requests(sim))
            began = time.monotonic()
            change(sim, machine("preempted: true") + group(3))
            second = self.event(process, 2)
            self.assertLess(process.events[1][0] - began, 1)
            self.assertEqual(self.missing(second), {"w-1": "being preempted: the metadata server of this VM says so"})
            self.assertEqual(second["jobs"]["worker"]["found"], 2)
            self.assertEqual((second["complete"], second["stale"], second["task"]["index"]), (False, False, 1))
            self.assertEqual(len(api_requests(sim)), asked)

    def test_one_that_is_preempted_already_is_told_so_at_first(self):
        with world(machine("preempted: true") + group(3)) as sim:
            self.assertEqual(list(self.missing(self.event(self.watch(sim), 1))), ["w-1"])

    def test_maintenance_is_an_attribute_of_the_task_and_a_warning(self):
        for event, words in (("TERMINATE_ON_HOST_MAINTENANCE", "about to be stopped"), ("MIGRATE_ON_HOST_MAINTENANCE", "moved to another host"),
                             ("SOMETHING_NEW", "told to be ready")):
            with self.subTest(event), world(machine() + group(3)) as sim:
                process = self.watch(sim)
                self.assertNotIn("maintenance", self.attributes(self.event(process, 1), "w-1"))
                self.listening(sim, process)
                began = time.monotonic()
                change(sim, machine(f"maintenance_event: {event}") + group(3))
                second = self.event(process, 2)
                self.assertLess(process.events[1][0] - began, 1)
                self.assertEqual(self.attributes(second, "w-1")["maintenance"], event)
                self.assertEqual(self.missing(second), {})
                self.assertTrue(any("'w-1', this VM" in one and words in one for one in second["warnings"]), second["warnings"])
                change(sim, machine() + group(3))
                self.assertNotIn("maintenance", self.attributes(self.event(process, 3), "w-1"))

    def test_a_long_poll_that_ends_with_nothing_new_is_asked_again_without_an_event(self):
        for body, status in (("FALSE", 200), ("busy", 503), ("what?", 412)):
            faults = (f'  faults: [{{match: "{METADATA}preempted*", after: 1, times: 1, delay: 1200ms, status: {status}, body: "{body}", '
                      'headers: {Metadata-Flavor: Google, ETag: another}}]\n')
            with self.subTest(status), world(faults + machine() + group(3)) as sim:
                process = self.watch(sim)
                self.event(process, 1)
                # The first tells what holds, the second ends, and the third knows the ETag of the second.
                self.until(lambda: len(metadata_requests(sim, "preempted")) >= 2, process)
                time.sleep(1.5)
                self.event(process, 1)
                change(sim, machine("preempted: true") + group(3))
                self.assertEqual(list(self.missing(self.event(process, 2))), ["w-1"])
                etags = [one["query"].split("last_etag=")[1] for one in metadata_requests(sim, "preempted")]
                self.assertEqual(etags[0], "NONE")
                self.assertEqual("NONE" in etags[1:], status == 412)  # which says that it is no ETag
                self.assertLessEqual(len(etags), 4)

    def test_an_answer_without_the_flavour_says_nothing(self):
        with world(f'  faults: [{{match: "{METADATA}preempted*", status: 200, body: "TRUE"}}]\n' + machine() + group(3)) as sim:
            self.assertEqual(self.missing(self.event(self.watch(sim), 1)), {})

    def test_a_metadata_server_that_does_not_wait_is_not_asked_all_the_time(self):
        faults = (f'  faults: [{{match: "{METADATA}preempted*", status: 200, body: "FALSE", headers: {{Metadata-Flavor: Google, ETag: same}}}}]\n')
        with world(faults + machine() + group(3)) as sim:
            process = self.watch(sim)
            self.event(process, 1)
            time.sleep(2)
            # The first says the ETag, the second that the server does not wait for another.
            self.assertEqual(len(metadata_requests(sim, "preempted")), 2)

    def test_a_metadata_server_that_vanishes_ends_neither_the_watch_nor_the_answer(self):
        with world(group(3)) as sim:
            with world(machine() + group(3)) as server:
                process = self.watch(sim, interval="1s", server=server)
                self.event(process, 1)
                self.listening(server, process)
            # The group is still asked for, and what changes in it is told.
            asked = len(api_requests(sim))
            self.until(lambda: len(api_requests(sim)) >= asked + 4, process)
            self.event(process, 1)
            change(sim, group(4))
            second = self.event(process, 2)
            self.assertEqual((len(second["cluster"]["worker"]), second["stale"], second["task"]["index"]), (4, False, 1))

    def test_the_group_is_asked_for_again_at_the_interval(self):
        with world(machine() + group(3)) as sim:
            process = self.watch(sim, interval="1s")
            self.event(process, 1)
            began = time.monotonic()
            change(sim, machine() + group(4))
            self.assertEqual(len(self.event(process, 2)["cluster"]["worker"]), 4)
            self.assertLess(process.events[1][0] - began, 6)
            change(sim, machine("preempted: true") + group(4))
            self.until(lambda: any(self.missing(one) for _, one in process.events), process)

    def test_a_preemption_while_the_group_is_asked_for_is_told_after_that(self):
        slow = '  faults: [{match: "/compute/*", delay: 2s}]\n'
        with world(machine() + group(3)) as sim:
            process = self.watch(sim, interval="2s")
            self.event(process, 1)
            self.listening(sim, process)
            change(sim, slow + machine() + group(3))
            asked = len(api_requests(sim))
            time.sleep(3.2)
            change(sim, slow + machine("preempted: true") + group(3))
            self.assertEqual(list(self.missing(self.event(process, 2))), ["w-1"])
            self.assertGreater(len(api_requests(sim)), asked)
            self.assertEqual([line for line in process.talk if "failed" in line], [])

    def test_after_a_failure_it_asks_and_listens_again(self):
        with world(machine() + group(3)) as sim:
            process = self.watch(sim, interval="1s")
            self.event(process, 1)
            change(sim, '  faults: [{match: "/compute/*", status: 403, body: "{}"}]\n' + machine() + group(3))
            self.until(lambda: any("stale since" in line for line in process.talk), process)
            asked = len(api_requests(sim))
            self.until(lambda: len(api_requests(sim)) >= asked + 4, process)
            self.assertEqual(self.event(process, 2)["state"], "stale")
            change(sim, machine("preempted: true") + group(3))
            self.until(lambda: process.events[-1][1]["warnings"] == [] and any(self.missing(one) for _, one in process.events), process)
            self.assertEqual(list(self.missing(process.events[-1][1])), ["w-1"])

    def test_a_watch_has_a_new_token_before_the_old_one_ends(self):
        # Of which the last 225 seconds are the time for another.
        for server in (None, False):
            with self.subTest(server), world("  token_life: 228s\n" + machine() + group(3)) as sim:
                process = self.watch(sim, interval="500ms", server=server, key="authorized_user.json")
                self.event(process, 1)
                tokens = lambda: [one for one in sim.requests() if one["path"] == "/token"]  # noqa: E731
                self.until(lambda: len(tokens()) >= 3, process)
                spans = [later["time_ms"] - one["time_ms"] for one, later in zip(tokens(), tokens()[1:])]
                self.assertGreaterEqual(min(spans), 2000, spans)
                self.assertEqual({one["status"] for one in api_requests(sim)}, {200})
                self.event(process, 1)

    def test_a_preemption_is_told_while_the_api_fails(self):
        faults = '  faults: [{match: "/compute/*", status: 403, body: "{}"}]\n'
        with world(machine() + group(3)) as sim:
            process = self.watch(sim, interval="4s")
            self.event(process, 1)
            change(sim, faults + machine() + group(3))
            self.until(lambda: any("stale since" in line for line in process.talk), process)
            asked = len(api_requests(sim))
            self.until(lambda: len(api_requests(sim)) > asked, process)
            began = time.monotonic()
            change(sim, faults + machine("preempted: true") + group(3))
            self.until(lambda: any(self.missing(one) for _, one in process.events), process)
            self.assertLess(time.monotonic() - began, 5)
            self.assertIn("the API cannot be asked now", str(process.events[-1][1]["warnings"]))

    def test_elsewhere_the_group_is_polled_and_no_metadata_server_asked(self):
        with world(machine() + group(3)) as sim:
            process = self.watch(sim, server=False, interval="300ms")
            self.event(process, 1)
            change(sim, machine("preempted: true") + group(4))
            second = self.event(process, 2)
            self.assertEqual((len(second["cluster"]["worker"]), self.missing(second)), (4, {}))
            self.assertEqual(second["sources"][0]["requests"], 2)

    def test_in_a_pod_the_group_is_polled(self):
        with world(f"  machine: {{zone: {ZONE}, attributes: {{cluster-name: vineyard}}}}\n" + group(3)) as sim:
            process = self.watch(sim, interval="300ms")
            self.event(process, 1)
            time.sleep(7)  # it would have been asked again
            self.assertGreaterEqual(len(api_requests(sim)), 6)
            self.assertEqual(len([one for one in metadata_requests(sim, "preempted") if "wait_for_change" in one["query"]]), 1)

    def test_it_ends_at_once_when_it_is_interrupted(self):
        with world(machine() + group(3)) as sim:
            process = self.watch(sim)
            self.event(process, 1)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            process.wait(timeout=10)
            self.assertLess(time.monotonic() - began, 2)


if __name__ == "__main__":
    unittest.main()

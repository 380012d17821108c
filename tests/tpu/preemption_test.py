"""A watch on a TPU VM: what its metadata server says of its end is an event at once."""
import time
import unittest

from asking import ZONE, api_requests, tpu, world
from google_watching import Watching, change, metadata_requests


def machine(more=""):
    return f"  machine: {{tpu: plum, worker: 2{', ' + more if more else ''}}}\n"


class Preemption(Watching):
    def watch(self, sim, *given, **settings):
        return self.watch_backend("tpu", sim, [f"endpoint={sim.ready['url']}", "project=orchard", *given], **settings)

    def test_a_preempted_worker_is_missing_within_a_second_whoever_says_the_slice(self):
        for given in ((), (f"zone={ZONE}", "tpu=plum")):
            with self.subTest(given), world(machine() + tpu()) as sim:
                process = self.watch(sim, *given)
                first = self.event(process, 1)
                self.assertEqual((self.missing(first), first["task"]["index"]), ({}, 2))
                self.listening(sim, process)
                asked = len(api_requests(sim))
                began = time.monotonic()
                change(sim, machine("preempted: true") + tpu())
                second = self.event(process, 2)
                self.assertLess(process.events[1][0] - began, 1)
                self.assertEqual(self.missing(second), {"plum-w-2": "being preempted: the metadata server of this VM says so"})
                self.assertEqual((second["jobs"]["worker"]["found"], second["task"]["index"]), (3, 2))
                self.assertEqual(len(api_requests(sim)), asked)

    def test_maintenance_is_a_warning(self):
        with world(machine() + tpu()) as sim:
            process = self.watch(sim)
            self.event(process, 1)
            self.listening(sim, process)
            change(sim, machine("maintenance_event: TERMINATE_ON_HOST_MAINTENANCE") + tpu())
            warnings = self.event(process, 2)["warnings"]
            self.assertTrue(any("'plum-w-2', this VM, is about to be stopped" in one for one in warnings), warnings)

    def test_a_state_that_changes_is_an_event_at_the_interval(self):
        with world(machine() + tpu()) as sim:
            process = self.watch(sim, f"zone={ZONE}", "tpu=plum", interval="1s")
            self.event(process, 1)
            change(sim, machine() + tpu(health="UNHEALTHY_TENSORFLOW"))
            self.assertEqual(len(self.missing(self.event(process, 2))), 4)

    def test_what_cannot_change_is_asked_for_once(self):
        with world(machine() + tpu()) as sim:
            process = self.watch_backend("tpu", sim, [f"endpoint={sim.ready['url']}", f"zone={ZONE}", "tpu=plum"], interval="300ms")
            self.event(process, 1)
            self.until(lambda: len(api_requests(sim)) >= 4, process)
            self.assertEqual([one["path"].rsplit("/", 1)[1] for one in sim.requests() if "project" in one["path"].rsplit("/", 1)[1]], ["project-id"])

    def test_elsewhere_it_is_polled_and_no_metadata_server_asked(self):
        with world(tpu()) as sim:
            process = self.watch(sim, f"zone={ZONE}", "tpu=plum", server=False, interval="300ms")
            self.event(process, 1)
            change(sim, tpu(health="UNHEALTHY_TENSORFLOW"))
            self.assertEqual(len(self.missing(self.event(process, 2))), 4)
            self.assertEqual(metadata_requests(sim), [])


if __name__ == "__main__":
    unittest.main()

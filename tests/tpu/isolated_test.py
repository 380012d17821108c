"""The tpu backend in a process of its own says what it says in this one."""
import unittest

from asking import ZONE, ask, tpu, world
from google_watching import Watching, change
from isolated import essence, here_and_isolated

HEAD = "  machine: {tpu: plum, worker: 2}\n"


class Isolated(Watching):
    def test_answers_are_the_same(self):
        for text, options, code in ((tpu(topology="4x4"), [], 0), (tpu(), ["zone="], 0), (tpu(health="UNHEALTHY_TENSORFLOW"), [], 10)):
            with self.subTest(options, code=code), world(text) as sim:
                run = here_and_isolated(self, lambda env: ask(sim, *options, env=env))
                self.assertEqual(run.code, code, run)

    def test_failures_are_the_same(self):
        for options, code in ((["tpu=plumb"], 11), (["zone=us-central1-b"], 11), (["access_token=wrong-token"], 13)):
            with self.subTest(options), world(tpu()) as sim:
                run = here_and_isolated(self, lambda env: ask(sim, *options, env=env, key=None if "token" in options[0] else "service_account.json"))
                self.assertEqual(run.code, code, run)

    def test_permissions_and_plans_are_the_same(self):
        for verb in ("permissions", "plan"):
            with self.subTest(verb), world(tpu()) as sim:
                here, there = (ask(sim, env={"MUSTER_ISOLATE": isolate}, verb=verb) for isolate in ("false", "true"))
                self.assertEqual((here.code, here.all), (0, there.all))

    def test_a_watch_tells_the_same_changes(self):
        with world(HEAD + tpu()) as sim:
            given = [f"endpoint={sim.ready['url']}", "project=orchard", f"zone={ZONE}", "tpu=plum"]
            watches = [self.watch_backend("tpu", sim, given, interval="1s", isolate=isolate) for isolate in ("false", "true")]
            for number, text in enumerate((None, HEAD + tpu(health="UNHEALTHY_TENSORFLOW"), HEAD + tpu(),
                                           HEAD.replace("}", ", preempted: true}") + tpu()), 1):
                if text:
                    change(sim, text)
                here, there = (essence(self.event(watch, number)) for watch in watches)
                here.pop("sources"), there.pop("sources")
                self.assertEqual(here, there)
            self.assertEqual(list(self.missing(there)), ["plum-w-2"])


if __name__ == "__main__":
    unittest.main()

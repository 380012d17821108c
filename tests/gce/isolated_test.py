"""The gce backend in a process of its own says what it says in this one."""
import unittest

from asking import ZONE, ask, endpoint, group, world
from google_watching import Watching, change
from isolated import essence, here_and_isolated
from members_test import STATES

HEAD = f"  machine: {{instance: w-1, zone: {ZONE}}}\n"


class Isolated(Watching):
    def test_answers_are_the_same(self):
        for text, code in ((group(3), 0), (STATES, 10), (HEAD + group(3), 0)):
            with self.subTest(code=code), world(text) as sim:
                run = here_and_isolated(self, lambda env: ask(sim, env=env))
                self.assertEqual(run.code, code, run)

    def test_failures_are_the_same(self):
        for options, code in ((["instance_group=grapes"], 11), (["zone=nowhere"], 11), (["access_token=wrong-token"], 13)):
            with self.subTest(options), world(group(3)) as sim:
                run = here_and_isolated(self, lambda env: ask(sim, *options, env=env, key=None if "token" in options[0] else "service_account.json"))
                self.assertEqual(run.code, code, run)

    def test_permissions_and_plans_are_the_same(self):
        for verb in ("permissions", "plan"):
            with self.subTest(verb), world(group(3)) as sim:
                here, there = (ask(sim, env={"MUSTER_ISOLATE": isolate}, verb=verb) for isolate in ("false", "true"))
                self.assertEqual((here.code, here.all), (0, there.all))

    def test_a_watch_tells_the_same_changes(self):
        with world(HEAD + group(3)) as sim:
            given = [f"endpoint={endpoint(sim)}", "project=orchard", f"zone={ZONE}", "instance_group=grape"]
            watches = [self.watch_backend("gce", sim, given, interval="1s", isolate=isolate) for isolate in ("false", "true")]
            for number, text in enumerate((None, HEAD + group(4), HEAD + group(2), HEAD.replace("}", ", preempted: true}") + group(2)), 1):
                if text:
                    change(sim, text)
                here, there = (essence(self.event(watch, number)) for watch in watches)
                here.pop("sources"), there.pop("sources")
                self.assertEqual(here, there)
            self.assertEqual(list(self.missing(there)), ["w-1"])


if __name__ == "__main__":
    unittest.main()

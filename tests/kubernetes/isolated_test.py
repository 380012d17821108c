"""The kubernetes backend in a process of its own says what it says in this one."""
import contextlib
import unittest

from asking import ask, world
from isolated import essence, here_and_isolated
from watching import Watching, addresses, change, pods, watched


class Isolated(Watching):
    def test_answers_are_the_same(self):
        for text, code in ((pods("0", "1", "2"), 0), (pods("0", "1 phase: Pending"), 10), ("  page_size: 2\n" + pods("0", "1", "2"), 0)):
            with self.subTest(code=code), world(text) as sim:
                run = here_and_isolated(self, lambda env: ask(sim, env=env))
                self.assertEqual(run.code, code, run)

    def test_failures_are_the_same(self):
        for options, env, code in ((["namespace=other"], {}, 11), (["context=none"], {}, 12), ([], {"KUBECONFIG": "/nowhere/config"}, 12)):
            with self.subTest(options), world(pods("0")) as sim:
                run = here_and_isolated(self, lambda env, more=env: ask(sim, options=options, env={**more, **env}))
                self.assertEqual(run.code, code, run)

    def test_a_watch_tells_the_same_changes(self):
        with world(pods("0")) as sim, contextlib.ExitStack() as stack:
            watches = [stack.enter_context(watched(sim, isolate=isolate)) for isolate in ("false", "true")]
            for text, members in ((None, [0]), (pods("0", "1"), [0, 1]), (pods("1"), [1]), (pods("0", "1", "2"), [0, 1, 2])):
                if text:
                    change(sim, text)
                here, there = (essence(self.becomes(watch, addresses(*members))) for watch in watches)
                here.pop("sources"), there.pop("sources")
                self.assertEqual(here, there)
            change(sim, pods("0", "1 phase: Pending"))
            here, there = (self.becomes(watch, addresses(0)) for watch in watches)
            self.assertEqual((here["jobs"], here["digest"]), (there["jobs"], there["digest"]))
            self.assertIn("w-1", str(there["jobs"]))


if __name__ == "__main__":
    unittest.main()

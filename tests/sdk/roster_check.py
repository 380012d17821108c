"""An executable of a template, backend "roster", by the judgement of muster-check."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "check"))
from checking import Checking, record  # noqa: E402


class CheckedRoster(Checking):
    """Part of a TestCase."""

    def assertKeepsEveryDuty(self, program, folder):
        recording = record(folder, "node-1 10.0.0.1:8470\nnode-2 10.0.0.2:8470\n")
        results = self.check("--options", '{"url": "http://roster.test/members"}', "--recording", recording, program)
        self.assertEqual(self.named(results, "skipped"), set())
        self.assertLessEqual({"backend.recorded", "frames.cancel"}, self.named(results))
        (recorded,) = (result for result in results if result.get("test") == "backend.recorded")
        self.assertIn("2 tasks", recorded["notes"][0])

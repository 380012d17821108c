"""The backend of frames_test.py through the command `muster`: what the core makes of each of its ends."""
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

MUSTER = os.environ["MUSTER"]
COMMAND = json.loads(os.environ["PROBE_COMMAND"])
BROKE = os.environ["PROBE_BROKE"]
SECRET = "a-secret-that-nobody-may-see"
MISBEHAVED = "plugin 'probe' (cluster) misbehaved: "
# Time for a process to begin and end on a busy machine, over what a promise says.
OVERHEAD = float(os.environ.get("MUSTER_TEST_OVERHEAD", "3.0"))


class Core(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="muster-sdk.")
        self.addCleanup(shutil.rmtree, self.folder)
        with open(os.path.join(self.folder, "secret"), "w") as out:
            out.write(SECRET)

    def words(self, command, do):
        path = os.path.join(self.folder, "muster.yaml")
        with open(path, "w") as out:
            json.dump({"cluster": {"backend": "probe", "command": COMMAND, "options": {"do": do}}}, out)
        return [MUSTER, command, "-f", path]

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": self.folder, "SECRET_FILE": os.path.join(self.folder, "secret")}

    def resolve(self, do, status, *more):
        run = subprocess.run([*self.words("resolve", do), "-o", "json", *more], text=True, stdin=subprocess.DEVNULL, capture_output=True,
                             env=self.environment(), timeout=60)
        self.assertNotIn(SECRET, run.stdout + run.stderr)
        self.assertEqual(run.returncode, status, run.stdout[-500:] + run.stderr)
        return run

    def test_100000_tasks_are_an_answer(self):
        self.assertEqual(len(json.loads(self.resolve("many", 0).stdout)["tasks"]), 100000)

    def test_a_failure_is_told_with_its_hint(self):
        self.assertEqual(self.resolve("fail", 13).stderr, "muster: not for you\n  hint: ask\n")

    def test_a_secret_that_was_marked_is_shown_nowhere(self):
        self.assertIn("REDACTED is refused\n  hint: renew REDACTED", self.resolve("leak", 13, "-vv").stderr)

    def test_what_leaves_resolve_is_the_backends_fault(self):
        self.assertIn(f"{MISBEHAVED}resolve failed: {BROKE} (MP-13)", self.resolve("break down", 16).stderr)

    def test_a_refused_push_is_told_in_the_cores_words(self):
        self.assertIn(MISBEHAVED + "job 'worker' has two tasks with index 0", self.resolve("swallow", 16).stderr)

    def test_a_crash_is_told_with_the_last_words(self):
        said = self.resolve("crash", 16).stderr
        self.assertIn(MISBEHAVED + "its process was ended by signal 9 (Killed) during resolve (MP-26)", said)
        self.assertIn("the last that it wrote: on its way", said)

    def test_a_failure_of_create_is_told(self):
        self.assertIn("the option do is wrong", self.resolve("create fails", 12).stderr)

    def at_the_deadline(self, do):
        begin = time.monotonic()
        said = self.resolve(do, 15, "--timeout", "1s").stderr
        self.assertLess(time.monotonic() - begin, 1.5 + OVERHEAD)
        return said

    def test_a_service_that_waits_ends_at_the_deadline(self):
        self.assertEqual(self.at_the_deadline("sleep"), "muster: the deadline has come\n")

    def test_a_loop_ends_at_the_deadline(self):
        self.assertEqual(self.at_the_deadline("spin"), "muster: the deadline has come\n")

    def test_who_does_not_look_is_ended(self):
        self.assertIn("while waiting for: ignoring; its process was ended (MP-12)", self.at_the_deadline("ignore"))

    def test_a_watch_shows_each_commit_and_ends_with_its_launcher(self):
        watch = subprocess.Popen([*self.words("watch", "push"), "-o", "json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, env=self.environment())
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)
        said = b""
        while b"generation-3" not in said:
            self.assertTrue(select.select([watch.stdout], [], [], 20)[0], said)
            said += os.read(watch.stdout.fileno(), 1 << 16)
        watch.send_signal(signal.SIGINT)
        watch.wait(timeout=20)


if __name__ == "__main__":
    unittest.main()

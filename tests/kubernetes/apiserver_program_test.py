"""The program of tests/apiserver itself: it ends with whoever started it, leaves nothing, and says what it does not know."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from apiserver import ApiServer

HERE = os.path.dirname(os.path.abspath(__file__))


class Program(unittest.TestCase):
    def test_it_ends_by_SIGTERM_and_leaves_nothing(self):
        with ApiServer() as server:
            self.assertTrue(os.path.isdir(server.ready["directory"]))
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(timeout=60), 0)
            self.assertEqual(os.listdir(server.folder.name), [])

    def test_it_ends_when_its_test_is_killed(self):
        script = "import time; from apiserver import ApiServer; print(ApiServer().process.pid, flush=True); time.sleep(600)"
        folder = tempfile.TemporaryDirectory(prefix="k8s.")
        self.addCleanup(folder.cleanup)
        test = subprocess.Popen([sys.executable, "-c", script], cwd=HERE, env={**os.environ, "TMPDIR": folder.name},
                                stdout=subprocess.PIPE, text=True)
        pid = int(test.stdout.readline())
        test.kill()
        test.wait()
        test.stdout.close()
        deadline = time.monotonic() + 60
        while self.runs(pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertFalse(self.runs(pid))

    def runs(self, pid):
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def test_an_unknown_command_or_flag_is_told(self):
        with ApiServer() as server:
            with self.assertRaisesRegex(RuntimeError, "there are compact, drop, restart and seed N"):
                server.command("explode")
            self.assertEqual(server.request("GET", "/version")[1]["gitVersion"], "v1.35.4")
        with self.assertRaisesRegex(RuntimeError, "did not start"):
            ApiServer("--no-such-flag")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

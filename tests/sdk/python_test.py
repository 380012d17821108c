"""The Python SDK as its pages say: a copy of the template installs what it is built on and itself, and their tests pass."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from roster_check import CheckedRoster

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))


# Where the setuptools and wheel of Debian's own python3 are: pip is to take them from there instead of from the network.
BUILDERS = "/usr/lib/python3/dist-packages"


class Python(CheckedRoster, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="muster-sdk.")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = temporary.name
        template = os.path.join(cls.folder, "template")
        cls.bin = os.path.join(template, "venv", "bin")
        cls.environment = {"PATH": os.environ["PATH"], "HOME": cls.folder, "PYTHONDONTWRITEBYTECODE": "1"}
        cls.call("cp", "-rL", os.path.join(SOURCE, "sdk", "templates", "python"), template)
        with open(os.path.join(template, "README.md")) as page:
            lines = page.read().split("```sh\n")[1].split("```")[0]
        offline = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PYTHONPATH": BUILDERS, "PATH": "/usr/bin:/bin"}  # 0 is pip's way to say: none
        cls.said = cls.call("bash", "-euc", lines, env=offline, cwd=template)

    @classmethod
    def call(cls, *words, **more):
        run = subprocess.run(words, env={**cls.environment, **more.pop("env", {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=300, **more)
        if run.returncode != 0:
            raise AssertionError(f"{' '.join(words)}:\n{run.stdout}")
        return run.stdout

    def test_the_tests_of_the_package_pass(self):
        tests = os.path.join(self.folder, "template", "muster-backend", "tests")
        self.assertRegex(self.call(os.path.join(self.bin, "python"), "-m", "unittest", "discover", "-s", tests), r"Ran [1-9]\d* tests")

    def test_the_page_of_the_template_ends_with_its_tests(self):
        self.assertRegex(self.said, r"Ran [1-9]\d* tests")

    def test_the_backend_of_the_page_is_one(self):
        with open(os.path.join(SOURCE, "sdk/python-backend/README.md")) as page:
            code = page.read().split("```python\n")[1].split("```")[0]
        run = subprocess.run([os.path.join(self.bin, "python"), "-c", code], env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertIn("roster 1.0.0 is a backend of muster", run.stderr)

    def test_the_package_is_typed_and_has_all_its_files(self):
        where = self.call(os.path.join(self.bin, "python"), "-c", "import muster_backend; print(muster_backend.__path__[0])", cwd=self.folder).strip()
        self.assertTrue(where.startswith(self.folder), where)
        self.assertEqual({name for name in os.listdir(where) if name != "__pycache__"},
                         set(os.listdir(os.path.join(SOURCE, "sdk/python-backend/src/muster_backend"))) - {"__pycache__"})

    def test_it_speaks_the_frames(self):
        self.call(sys.executable, os.path.join(HERE, "frames_test.py"), env={
            "PROBE_COMMAND": json.dumps([os.path.join(self.bin, "python"), os.path.join(HERE, "probe.py")]), "PROBE_BROKE": "ValueError: seven"})

    def test_the_template_does_what_all_templates_do(self):
        self.call(sys.executable, os.path.join(HERE, "roster_test.py"), env={
            "ROSTER_COMMAND": json.dumps([os.path.join(self.bin, "muster-backend-roster")])})

    def test_the_template_keeps_every_duty(self):
        self.assertKeepsEveryDuty(os.path.join(self.bin, "muster-backend-roster"), self.folder)

    def test_the_core_takes_it_for_a_backend(self):
        program = os.path.join(self.folder, "probe")
        with open(program, "w") as out:
            out.write(f"#!/bin/sh\nexec {self.bin}/python {HERE}/probe.py\n")
        os.chmod(program, 0o755)
        self.call(sys.executable, os.path.join(HERE, "core_test.py"), env={
            "MUSTER": os.environ["MUSTER"], "PROBE_COMMAND": json.dumps([program]), "PROBE_BROKE": "ValueError: seven"})


if __name__ == "__main__":
    unittest.main()

"""The Python SDK as its page says: pip installs the package and the template from their folders, and their tests pass."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))


def python_that_builds():
    """A python3 with setuptools and wheel (Debian: python3-setuptools, python3-wheel), which pip would fetch otherwise."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import setuptools, wheel, venv, ensurepip"], capture_output=True).returncode == 0:
            return python
    raise SystemExit("python_test: no python3 has setuptools, wheel and venv; tools/install-deps ci brings them")


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="muster-sdk.")
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = temporary.name
        cls.bin = os.path.join(cls.folder, "venv", "bin")
        cls.environment = {"PATH": os.environ["PATH"], "HOME": cls.folder, "PYTHONDONTWRITEBYTECODE": "1"}
        cls.call(python_that_builds(), "-m", "venv", "--system-site-packages", os.path.join(cls.folder, "venv"))
        for folder in ("sdk/python-backend", "sdk/templates/python"):
            copy = os.path.join(cls.folder, os.path.basename(folder))  # setuptools writes beside its sources
            cls.call("cp", "-rL", os.path.join(SOURCE, folder), copy)
            cls.call(os.path.join(cls.bin, "pip"), "install", "--quiet", "--no-index", "--no-build-isolation", copy)

    @classmethod
    def call(cls, *words, **more):
        run = subprocess.run(words, env={**cls.environment, **more.pop("env", {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=300, **more)
        if run.returncode != 0:
            raise AssertionError(f"{' '.join(words)}:\n{run.stdout}")
        return run.stdout

    def units_of(self, folder):
        out = self.call(os.path.join(self.bin, "python"), "-m", "unittest", "discover", "-s", folder, cwd=os.path.join(self.folder))
        self.assertRegex(out, r"Ran [1-9]\d* tests")

    def test_the_tests_of_the_package_pass(self):
        self.units_of("python-backend/tests")

    def test_the_tests_of_the_template_pass(self):
        self.units_of("python")

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


if __name__ == "__main__":
    unittest.main()

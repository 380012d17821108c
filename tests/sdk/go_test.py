"""The Go SDK as its page says: the module and the template are built and tested with `go` alone, which asks no network."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from roster_check import CheckedRoster

HERE = os.path.dirname(os.path.abspath(__file__))
SDK = os.path.join(os.path.dirname(os.path.dirname(HERE)), "sdk")
FOLDERS = {"module": os.path.join(SDK, "go"), "template": os.path.join(SDK, "templates", "go"), "probe": os.path.join(HERE, "probe")}


class Go(CheckedRoster, unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="muster-sdk.")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def call(self, *words, cwd=None, **variables):
        environment = {**os.environ, "GOPROXY": "off", "GOFLAGS": "", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0", **variables}
        run = subprocess.run(words, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=400)
        self.assertEqual(run.returncode, 0, f"{' '.join(words)}:\n{run.stdout}")
        return run.stdout

    def build(self, what, *words, **variables):
        program = os.path.join(self.folder, what)
        self.call("go", "build", *words, "-o", program, ".", cwd=FOLDERS[what], **variables)
        return json.dumps([program])

    def test_everything_is_formatted_and_vetted(self):
        for folder in FOLDERS.values():
            self.assertEqual(self.call("gofmt", "-l", folder), "")
            self.call("go", "vet", ".", cwd=folder)

    def test_the_tests_of_the_module_pass(self):
        self.assertRegex(self.call("go", "test", "-count=1", ".", cwd=FOLDERS["module"]), r"^ok ")

    def test_the_tests_of_the_template_pass(self):
        self.assertRegex(self.call("go", "test", "-count=1", ".", cwd=FOLDERS["template"]), r"^ok ")

    def test_the_backend_of_the_page_is_one(self):
        with open(os.path.join(FOLDERS["module"], "README.md")) as page:
            code = page.read().split("```go\n")[1].split("```")[0]
        folder = os.path.join(self.folder, "page")
        os.mkdir(folder)
        with open(os.path.join(folder, "main.go"), "w") as out:
            out.write(code)
        with open(os.path.join(folder, "go.mod"), "w") as out:
            out.write(f"module page\n\ngo 1.19\n\nrequire muster/backend v0.0.0\n\nreplace muster/backend => {FOLDERS['module']}\n")
        self.assertEqual(self.call("gofmt", "-l", folder), "")
        self.call("go", "vet", ".", cwd=folder)

    def test_it_speaks_the_frames(self):
        self.call(sys.executable, os.path.join(HERE, "frames_test.py"), PROBE_COMMAND=self.build("probe"), PROBE_BROKE="panic: seven")

    @unittest.skipIf(shutil.which("cc") is None, "the race detector takes a C compiler")
    def test_no_two_goroutines_of_it_race(self):
        self.call("go", "test", "-race", "-count=1", ".", cwd=FOLDERS["module"], CGO_ENABLED="1")
        probe = self.build("probe", "-race", CGO_ENABLED="1")
        self.call(sys.executable, os.path.join(HERE, "frames_test.py"), PROBE_COMMAND=probe, PROBE_BROKE="panic: seven")

    def test_the_core_takes_it_for_a_backend(self):
        self.call(sys.executable, os.path.join(HERE, "core_test.py"), PROBE_COMMAND=self.build("probe"), PROBE_BROKE="panic: seven")

    def test_the_template_does_what_all_templates_do(self):
        self.call(sys.executable, os.path.join(HERE, "roster_test.py"), ROSTER_COMMAND=self.build("template"))

    def test_the_template_keeps_every_duty(self):
        (program,) = json.loads(self.build("template"))
        self.assertKeepsEveryDuty(program, self.folder)


if __name__ == "__main__":
    if shutil.which("go") is None:
        print("go_test: there is no go; tools/install-deps go brings one")
        sys.exit(77)
    unittest.main()

#!/usr/bin/env python3
"""For each duty of an executable one that breaks it, and muster-check says which; a shared object isolated.

    python3 program_test.py MUSTER_CHECK SOURCE_ROOT "CC" MUSTER_ISOLATE ITS_PATH_FROM_BIN
"""
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECK, ROOT, CC, ISOLATE, FROM_BIN = sys.argv[1], sys.argv[2], sys.argv[3].split(), sys.argv[4], sys.argv[5]
del sys.argv[1:]

RECORDING = """\
muster_recording: 1
resolvers:
  - path: ""
    times: ["2026-01-31T12:00:00.123000000Z"]
  - path: "cluster"
    requests:
      - method: "GET"
        url: "http://roster.test/members"
        status: 200
        response: |-
          ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"]
"""

# What is wrong with it, the test that finds it, the duty, and words of the finding.
MISBEHAVIOURS = [
    ("SILENT", "file.descriptor", "MP-19", "5000 ms after its start"),
    ("GREETS_WITH_GARBAGE", "file.descriptor", "MP-29", "frame"),
    ("NO_DESCRIPTOR", "file.descriptor", "MP-2", "MP-2"),
    ("OTHER_NAME", "file.descriptor", "MP-2", "backend 'worse' by its descriptor"),
    ("CHANGING_HELLO", "file.hello", "MP-29", "not the same each time"),
    ("EXITS_IN_CREATE", "life.repeat", "MP-26", "status 3"),
    ("HANGS_IN_CREATE", "sink.answer", "MP-19", "create"),
    ("EXITS_IN_RESOLVE", "sink.answer", "MP-26", "status 5"),
    ("WRITES_GARBAGE", "sink.answer", "MP-29", "frames"),
    ("ANSWERS_NOBODY", "sink.answer", "MP-29", "4711"),
    ("FAILS_SILENTLY", "sink.answer", "MP-11", "why"),
    ("WRONG_ADDRESS", "sink.answer", "MP-7", "10.0.0.1"),
    ("IGNORES_CANCEL", "time.cancel", "MP-12", "after being cancelled"),
    ("IGNORES_CANCEL", "time.deadline", "MP-12", "after its deadline"),
    ("LOGS_SECRET", "input.secrets", "MP-17", "a log line"),
    ("PRINTS_SECRET", "input.secrets", "MP-17", "a log line"),
    ("TELLS_SECRET", "input.secrets", "MP-17", "an error"),
]


class BadPrograms(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.recording = os.path.join(cls.folder, "roster.yaml")
        with open(cls.recording, "w", encoding="utf-8") as file:
            file.write(RECORDING)
        cls.program = os.path.join(cls.folder, "muster-backend-bad")
        shutil.copy(os.path.join(ROOT, "tests/check/plugins/bad.py"), cls.program)
        os.chmod(cls.program, 0o755)

    def check(self, wrong, *arguments, status, file=None, checker=CHECK):
        # Of the launcher's environment a program gets little; LC_* it does.
        environment = {**os.environ, "LC_BAD": wrong, "LC_BAD_PATH": os.path.join(ROOT, "tests/sdk")}
        done = subprocess.run([checker, "--json", *arguments, file or self.program], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=200, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def passed(self, results):
        return {result["test"] for result in results if result.get("status") == "passed"}

    def finding(self, wrong, test, duty, words):
        results = self.check(wrong, "--recording", self.recording, "--options", '{"token": "hush-hush"}', "--include", test, status=1)
        found = [f"{finding['duty']}: {finding['text']}" for finding in results[1]["findings"]]
        self.assertTrue(any(one.startswith(duty + ": ") and words in one for one in found),
                        f"{test} should say {duty} ... {words}; it said {found}")

    def test_each_misbehaviour_is_found_by_its_duty(self):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            done = [(wrong, pool.submit(self.finding, *wrong)) for wrong in MISBEHAVIOURS]
            for wrong, result in done:
                with self.subTest(wrong[0], test=wrong[1]):
                    result.result()

    def test_a_program_that_keeps_every_duty_passes_every_test_that_is_for_one(self):
        passed = self.passed(self.check("", "--recording", self.recording, "--options", '{"token": "hush-hush"}', status=0))
        listed = subprocess.run([CHECK, "--list"], capture_output=True, text=True, check=True).stdout
        not_for_it = {"file.exports", "file.unique", "file.stack", "file.needs", "file.table", "life.create", "sink.refusal"}
        self.assertEqual(passed, {name for name in (line.split()[0] for line in listed.splitlines())
                                  if name not in not_for_it and not name.startswith(("handshake.", "manners."))})

    def test_a_program_that_others_may_write_is_not_run(self):
        file = os.path.join(self.folder, "open")
        shutil.copy(self.program, file)
        os.chmod(file, 0o777)
        self.check("", status=3, file=file)

    def test_an_installed_checker_finds_what_is_installed_with_it(self):
        checker = os.path.join(self.folder, "bin", "muster-check")
        helper = os.path.normpath(os.path.join(self.folder, "bin", FROM_BIN))
        for source, copy in ((CHECK, checker), (ISOLATE, helper)):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(source, copy)
        self.assertEqual(self.passed(self.check("", "--include", "file.hello", status=0, checker=checker)), {"file.hello"})
        os.chmod(helper, 0o777)
        self.check("", status=5, checker=checker)
        os.remove(helper)
        self.check("", status=5, checker=checker)

    def test_a_shared_object_is_run_isolated(self):
        file = os.path.join(self.folder, "libmuster-bad.so")
        subprocess.run([*CC, "-std=c99", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-z,noexecstack",
                        "-I" + os.path.join(ROOT, "sdk/include"), "-DASKS", os.path.join(ROOT, "tests/check/plugins/bad.c"), "-o", file],
                       check=True, timeout=60)
        results = self.check("", "--isolated", "--recording", self.recording, "--include", "file", "--include", "sink", "--include",
                             "backend.recorded", "--include", "manners", status=0, file=file)
        self.assertEqual(self.passed(results),
                         {"file.exports", "file.unique", "file.stack", "file.needs", "file.descriptor", "sink.answer", "backend.recorded"})


if __name__ == "__main__":
    unittest.main(verbosity=1)

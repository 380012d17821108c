#!/usr/bin/env python3
"""For each duty of an executable one that breaks it, and muster-check says which; a shared object isolated.

    python3 program_test.py MUSTER_CHECK SOURCE_ROOT "CC" MUSTER_ISOLATE ITS_PATH_FROM_BIN
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from checking import Checking, record

os.environ["MUSTER_CHECK"], ROOT, CC, ISOLATE, FROM_BIN = sys.argv[1], sys.argv[2], sys.argv[3].split(), sys.argv[4], sys.argv[5]
del sys.argv[1:]

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
    ("CONNECTS", "world.network", "MP-14", "its process 'python3' connected to 127.0.0.1:9 by itself"),
    ("LOGS_SECRET", "input.secrets", "MP-17", "a log line"),
    ("PRINTS_SECRET", "input.secrets", "MP-17", "a log line"),
    ("TELLS_SECRET", "input.secrets", "MP-17", "an error"),
    ("ASKS_FOR_PERMISSIONS", "permissions.told", "MP-24", "asked the network: GET http://roster.test/members"),
    ("CHANGING_GRANT", "permissions.told", "MP-24", "two grants"),
    ("FORGETS_FOR_A_WATCH", "permissions.told", "MP-24", "'list members' in 'roster.test'"),
    ("ASKS_FOR_A_PLAN", "plan.requests", "MP-25", "asked the network: GET http://roster.test/members"),
    ("PLANS_TOO_MUCH", "plan.requests", "MP-25", "for 3 members plan told 2 to 2 requests"),
    ("IGNORES_CANCEL", "frames.cancel", "MP-12", "Run was not answered"),
    ("ANSWERS_CANCEL_LATE", "frames.cancel", "MP-12", "500 are allowed"),
    ("CANCEL_IS_UNAVAILABLE", "frames.cancel", "MP-28", "Run was answered UNAVAILABLE"),
    ("KEEPS_CANCEL", "frames.cancel", "MP-29", "after a Cancel between two calls"),
    ("IGNORES_REFUSED", "frames.refused", "MP-10", "Run was answered OK"),
    ("WAITS_WHEN_REFUSED", "frames.refused", "MP-10", "not answered 1 second after"),
    ("KEEPS_REFUSED", "frames.refused", "MP-29", "the next resolve"),
    ("KNOWS_EVERY_FIELD", "frames.newer_minor", "MP-26", "exit status 4"),
    ("KNOWS_EVERY_REQUEST", "frames.newer_minor", "MP-29", "not answered"),
    ("ANSWERS_EVERY_REQUEST", "frames.newer_minor", "MP-29", "answered OK, not UNIMPLEMENTED"),
    ("SPEAKS_EVERY_MAJOR", "frames.other_major", "MP-29", "had not exited"),
    ("SILENT_ABOUT_MAJOR", "frames.other_major", "MP-29", "did not say both versions"),
    ("READS_ANYTHING", "frames.unreadable", "MP-29", "a frame without a byte: it had not exited"),
    ("CRASHES_ON_GARBAGE", "frames.unreadable", "MP-29", "a frame that is none: its process was ended by signal 6"),
    ("STAYS_IN_RESOLVE", "frames.shutdown", "MP-29", "while its request 2 waits: it had not exited"),
    ("STAYS_WHEN_IDLE", "frames.shutdown", "MP-29", "after a resolve: it had not exited"),
]


class BadPrograms(Checking, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.recording = record(cls.folder)
        cls.program = os.path.join(cls.folder, "muster-backend-bad")
        shutil.copy(os.path.join(ROOT, "tests/check/plugins/bad.py"), cls.program)
        os.chmod(cls.program, 0o755)

    def ask(self, wrong, *words, file=None, **more):
        # Of the launcher's environment a program gets little; LC_* it does.
        environment = {**os.environ, "LC_BAD": wrong, "LC_BAD_PATH": os.path.join(ROOT, "tests/sdk")}
        return self.check(*words, file or self.program, env=environment, **more)

    def finding(self, wrong, test, duty, words):
        results = self.ask(wrong, "--recording", self.recording, "--options", '{"token": "hush-hush"}', "--include", test, status=1)
        self.assertFinds(results, test, duty, words)

    def test_each_misbehaviour_is_found_by_its_duty(self):
        self.each(MISBEHAVIOURS, self.finding)

    def test_a_program_that_keeps_every_duty_passes_every_test_that_is_for_one(self):
        passed = self.named(self.ask("", "--recording", self.recording, "--options", '{"token": "hush-hush"}', status=0))
        listed = subprocess.run([os.environ["MUSTER_CHECK"], "--list"], capture_output=True, text=True, check=True).stdout
        not_for_it = {"file.exports", "file.unique", "file.stack", "file.needs", "file.table", "life.create", "sink.refusal", "world.calls"}
        self.assertEqual(passed, {name for name in (line.split()[0] for line in listed.splitlines())
                                  if name not in not_for_it and not name.startswith(("handshake.", "manners."))})

    def test_a_program_that_others_may_write_is_not_run(self):
        file = os.path.join(self.folder, "open")
        shutil.copy(self.program, file)
        os.chmod(file, 0o777)
        self.ask("", status=3, file=file)

    def test_an_installed_checker_finds_what_is_installed_with_it(self):
        checker = os.path.join(self.folder, "bin", "muster-check")
        helper = os.path.normpath(os.path.join(self.folder, "bin", FROM_BIN))
        for source, copy in ((os.environ["MUSTER_CHECK"], checker), (ISOLATE, helper)):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy(source, copy)
        self.assertEqual(self.named(self.ask("", "--include", "file.hello", status=0, checker=checker)), {"file.hello"})
        os.chmod(helper, 0o777)
        self.ask("", status=5, checker=checker)
        os.remove(helper)
        self.ask("", status=5, checker=checker)

    def test_a_shared_object_is_run_isolated(self):
        file = os.path.join(self.folder, "libmuster-bad.so")
        subprocess.run([*CC, "-std=c99", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-z,noexecstack",
                        "-I" + os.path.join(ROOT, "sdk/include"), "-DASKS", os.path.join(ROOT, "tests/check/plugins/bad.c"), "-o", file],
                       check=True, timeout=60)
        results = self.ask("", "--isolated", "--recording", self.recording, "--include", "file", "--include", "sink", "--include",
                             "backend.recorded", "--include", "manners", status=0, file=file)
        self.assertEqual(self.named(results),
                         {"file.exports", "file.unique", "file.stack", "file.needs", "file.descriptor", "sink.answer", "backend.recorded"})


if __name__ == "__main__":
    unittest.main(verbosity=1)

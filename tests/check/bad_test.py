#!/usr/bin/env python3
"""For each duty a plugin that breaks it, and muster-check says which.

    python3 bad_test.py MUSTER_CHECK SOURCE_ROOT "CC" "CXX"
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from checking import Checking, record

os.environ["MUSTER_CHECK"], ROOT, CC, CXX = sys.argv[1], sys.argv[2], sys.argv[3].split(), sys.argv[4].split()
del sys.argv[1:]
BAD = os.path.join(ROOT, "tests/check/plugins/bad.c")

# What is wrong with it, the test that finds it, the duty, and words of the finding.
MISBEHAVIOURS = [
    ("EXPORTS_MORE", "file.exports", "MP-1", "exports 'bad_helper'"),
    ("NO_ENTRY", "file.exports", "MP-1", "does not export"),
    ('VERSION="1.0.1"', "file.table", "MP-2", "version '1.0.1'"),
    ("SIZE=0", "file.table", "MP-3", "struct_size"),
    ("SIZE=40", "handshake.current", "MP-3", "lacks"),
    ("READS_BEHIND_CALL", "handshake.minor_0", "MP-26", "signal 11"),
    ("WRITES_INTO_CALL", "handshake.current", "MP-26", "signal 11"),
    ("CALLS_LATER_FUNCTION", "handshake.next_minor", "MP-26", "signal 11"),
    ("WANTS_ITS_OWN_MINOR", "handshake.next_minor", "MP-3", "another muster"),
    ("CRASHES_WITHOUT_SERVICES", "handshake.no_services", "MP-26", "'create'"),
    ("ANY_EXTENSION", "handshake.current", "MP-3", "muster.nothing/1"),
    ("CRASHES_IN_CREATE", "life.repeat", "MP-26", "signal 11 (Segmentation fault) in 'create'"),
    ("EXITS_IN_CREATE", "life.repeat", "MP-26", "ended the process with status 0"),
    ("FAILS_SILENTLY", "life.repeat", "MP-11", "did not say why"),
    ("MAKES_NOTHING", "life.repeat", "MP-22", "made no resolver"),
    ("LEAKS_THREAD", "life.repeat", "MP-18", "thread"),
    ("LEAKS_FILE", "life.repeat", "MP-18", "/dev/null"),
    ("HANGS_IN_DESTROY", "life.repeat", "MP-18", "destroy had not returned"),
    ("WAITS_IN_CREATE", "life.create", "MP-19", "create waited for 3"),
    ("MISSTATES_SIZE", "sink.answer", "MP-3", "struct_size of a muster_task_v1 is 20"),
    ('CHANGES_TASK=task.name="\\xff",task.name_size=1', "sink.answer", "MP-4", "UTF-8"),
    ('CHANGES_TASK=task.job="",task.job_size=0', "sink.answer", "MP-5", "job"),
    ("CHANGES_TASK=task.index=-7", "sink.answer", "MP-6", "-7"),
    ("WRONG_ADDRESS", "sink.answer", "MP-7", "10.0.0.1"),
    ("CHANGES_TASK=task.name_size=0", "sink.answer", "MP-8", "name"),
    ("CHANGES_TASK=task.name=memset(calloc(1,70000),'x',69999),task.name_size=69999", "sink.answer", "MP-9", "65536"),
    ("PUSHES_ON_A_THREAD", "sink.answer", "MP-15", "thread"),
    ('PUSHES_FIRST=call->set_identity(call,&(muster_identity_v1){sizeof(muster_identity_v1),TEXT("worker"),99,TEXT(""),TEXT("so")})',
     "sink.answer", "MP-20", "99"),
    ('PUSHES_FIRST=call->set_expected(call,TEXT("worker"),-1)', "sink.answer", "MP-21", "-1"),
    (
        'PUSHES_FIRST=call->set_expected(call,TEXT("worker"),1048577)',
        "sink.answer",
        "MP-21",
        "1048577",
    ),
    ("OK_WITH_ERROR", "sink.answer", "MP-10", "half of it"),
    ("OK_AFTER_REFUSAL", "sink.refusal", "MP-10", "returned OK"),
    ("GOES_ON_AFTER_REFUSAL", "sink.refusal", "MP-10", "more were pushed"),
    ("OTHER_CODE_AFTER_REFUSAL", "sink.refusal", "MP-10", "return the code of the refusal"),
    ("CHANGES_LOCALE", "manners.process", "MP-16", "create changed the locale"),
    ("CHANGES_DIRECTORY", "manners.process", "MP-16", "create changed the working directory"),
    ("CHANGES_ENVIRONMENT", "manners.process", "MP-16", "variable BAD_WAS_HERE"),
    ("CHANGES_UMASK", "manners.process", "MP-16", "create changed the umask"),
    ("HANDLES_SIGNAL", "manners.process", "MP-16", "handler of signal 13"),
    ("BLOCKS_SIGNALS", "sink.answer", "MP-16", "resolve changed the blocked signals"),
    ("FORKS", "manners.process", "MP-16", "resolve started a process"),
    ("RUNS_PROGRAM", "manners.process", "MP-16", "resolve started a process"),
    ("WRITES_TO_STDOUT", "sink.answer", "MP-16", "standard output: resolving"),
    ("WRITES_TO_STDERR", "sink.answer", "MP-16", "standard error: resolving"),
    ("READS_VARIABLE", "world.calls", "MP-14", 'getenv("BAD_ROSTER")'),
    ("READS_TIME", "world.calls", "MP-14", "time()"),
    ("READS_FILE", "world.calls", "MP-14", 'fopen("/etc/hostname")'),
    ("CONNECTS", "world.calls", "MP-14", 'connect("127.0.0.1:9")'),
    ("RUNS_PROGRAM", "world.calls", "MP-14", 'system("true")'),
    ("CONNECTS", "world.network", "MP-14", "it connected to 127.0.0.1:9 by itself"),
    ("", "backend.recorded", "MP-14", "none through muster.http/1"),
    ("IGNORES_DEADLINE", "time.deadline", "MP-12", "after its deadline"),
    ("IGNORES_DEADLINE", "time.past", "MP-12", "a deadline in the past"),
    ("IGNORES_DEADLINE", "time.cancel", "MP-12", "after being cancelled"),
    ("WATCH_IGNORES_CANCEL", "time.watch", "MP-12", "watch was cancelled"),
    ("WATCH_ENDS_WELL", "time.watch", "MP-23", "watch returned OK"),
    ("CRASHES_ON_STRANGE_OPTION", "input.options", "MP-26", "with the options {"),
    ("REFUSES_SMALL_COUNT_WRONGLY", "input.options", "MP-11", "4711"),
    ("LOGS_SECRET", "input.secrets", "MP-17", "a log line"),
    ("ASKS TRIES_FOR_EVER", "backend.cut_off", "MP-12", "had not returned"),
    ("ASKS IGNORES_STATUS TAKES_HALF", "backend.redirect", "MP-27", "as if that were all"),
    ("ASKS TAKES_HALF", "backend.half", "MP-27", "as if that were all"),
    ("ASKS CONFUSES_CODES", "backend.403", "MP-28", "said NOT_FOUND"),
    ("ASKS_FOR_PERMISSIONS", "permissions.told", "MP-24", "asked the network: GET http://roster.test/members"),
    ("PERMITS_NOTHING", "permissions.told", "MP-24", "an empty scope or rule"),
    ("GRANTS_NOTHING", "permissions.told", "MP-24", "no grant"),
    ("PERMITS_MORE_EACH_TIME", "permissions.told", "MP-24", "'rule 1' in 'roster.test'"),
    ("FORGETS_FOR_A_WATCH", "permissions.told", "MP-24", "not with MUSTER_PERMISSIONS_WATCH"),
    ("ASKS_FOR_A_PLAN", "plan.requests", "MP-25", "asked the network: GET http://roster.test/members"),
    ("ASKS PLANNED=-1", "plan.requests", "MP-25", "are no count"),
    ("ASKS PLANNED=2", "plan.requests", "MP-25", "for 3 members plan told 2 to 2 requests (2 to 2 'GET members'), and the recorded resolve made 1"),
    ("ASKS PLANS_NOTHING", "plan.requests", "MP-25", "plan told 0 to 0 requests (none), and the recorded resolve made 1"),
]


class BadPlugins(Checking, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.recording = record(cls.folder)

    def build(self, macros="", *more, name="libmuster-bad.so"):
        folder = tempfile.mkdtemp(dir=self.folder)
        file = os.path.join(folder, name)
        subprocess.run([*CC, "-std=c99", "-D_GNU_SOURCE", "-O1", "-shared", "-fPIC", "-fvisibility=hidden",
                        "-Wl,-z,noexecstack", "-I" + os.path.join(ROOT, "sdk/include"),
                        *("-D" + macro for macro in macros.split()), BAD, *more, "-o", file],
                       check=True, timeout=60)
        return file

    def finding(self, file, test, duty, words):
        results = self.check(file, "--recording", self.recording, "--include", test, status=1)
        self.assertFinds(results, test, duty, words)

    def test_each_misbehaviour_is_found_by_its_duty(self):
        self.each(MISBEHAVIOURS, lambda macros, *rest: self.finding(self.build(macros), *rest))

    def test_the_duties_say_which_tests_find_them_broken(self):
        cases = ""
        for name in ("bad_test.py", "program_test.py"):
            with open(os.path.join(ROOT, "tests/check", name), encoding="utf-8") as file:
                cases += file.read()
        found = set(re.findall(r'"(\w+)\.\w+",\s*"(MP-\d+)"', cases))
        with open(os.path.join(ROOT, "sdk/duties.md"), encoding="utf-8") as file:
            rows = re.findall(r"^\| (MP-\d+) \|.*\| ([^|]+) \|$", file.read(), re.MULTILINE)
        self.assertEqual([duty for duty, _ in rows], [f"MP-{n + 1}" for n in range(len(rows))])
        self.assertEqual({(group, duty) for duty, cell in rows for group in re.findall(r"`(\w+)`", cell)}, found)

    def test_unique_symbols_are_found(self):
        unique = os.path.join(self.folder, "unique.o")
        subprocess.run([*CXX, "-c", "-fPIC", "-fgnu-unique", os.path.join(ROOT, "tests/check/plugins/unique.cc"), "-o", unique],
                       check=True, timeout=60)
        self.finding(self.build("", unique), "file.unique", "MP-1", "-fno-gnu-unique")

    def test_an_exception_is_found(self):
        throws = os.path.join(ROOT, "tests/check/plugins/throws.cc")
        self.finding(self.build("THROWS", "-fexceptions", "-x", "c++", "-std=c++17", throws, "-lstdc++"), "sink.answer", "MP-13", "it slipped")

    def test_what_a_cpp_plugin_reads_by_itself_is_found(self):
        reads = os.path.join(ROOT, "tests/check/plugins/reads.cc")
        for optimized in ("-O0", "-O2"):
            file = self.build("READS_AS_CPP_DOES", optimized, "-x", "c++", "-std=c++17", reads, "-lstdc++")
            for words in ('std::fstream("/etc/by-0")', 'std::fstream("/nowhere/else")', "std::chrono::system_clock::now()",
                          'std::filesystem::status("/nowhere/there")', 'std::filesystem::status("/or/there")',
                          'std::filesystem::directory_iterator("/nowhere/folder")'):
                with self.subTest(words, optimized=optimized):
                    self.finding(file, "world.calls", "MP-14", words)

    def test_a_plan_is_not_held_against_a_resolve_that_was_sent_on(self):
        file = os.path.join(self.folder, "sent_on.yaml")
        with open(self.recording, encoding="utf-8") as recording, open(file, "w", encoding="utf-8") as out:
            begin, end = recording.read().split("      - method")
            out.write(f"""{begin}      - method: "GET"
        url: "http://roster.test/members"
        status: 302
        response_headers:
          - Location: "http://roster.test/all"
      - method{end.replace("/members", "/all")}""")
        results = self.check(self.build("ASKS"), "--recording", file, "--include", "plan", "--include", "backend.recorded", status=0)
        self.assertIn("3 tasks", results[1]["notes"][0])
        self.assertIn("http://roster.test/members failed or was sent on", results[3]["notes"][0])

    def test_an_executable_stack_is_found(self):
        self.finding(self.build("", "-Wl,-z,execstack"), "file.stack", "MP-1", "executable stack")

    def test_other_libraries_are_found(self):
        self.finding(self.build("", "-Wl,--no-as-needed", "-l:libresolv.so.2"), "file.needs", "MP-1", "'libresolv.so.2'")

    def test_another_file_name_is_found(self):
        self.finding(self.build(name="libmuster-worse.so"), "file.descriptor", "MP-2", "'worse' by its file name")

    def test_a_library_without_descriptor_is_found_and_the_rest_is_skipped(self):
        file = os.path.join(self.folder, "libmuster-none.so")
        subprocess.run([*CC, "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", file], check=True, timeout=60)
        results = self.check(file, status=1)
        by_name = {result["test"]: result for result in results if "test" in result}
        self.assertEqual(by_name["file.descriptor"]["findings"][0]["duty"], "MP-2")
        self.assertEqual(by_name["life.repeat"]["status"], "skipped")

    def test_a_plugin_that_keeps_every_duty_passes_every_test(self):
        file = self.build("ASKS")
        results = self.check(file, "--recording", self.recording, "--options", '{"token": "hush-hush"}', status=0)
        listed = subprocess.run([os.environ["MUSTER_CHECK"], "--list", file], capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.named(results), {line.split()[0] for line in listed.splitlines()})

    def test_the_exit_status_says_what_was_wrong(self):
        file = self.build()
        self.check(file, "--include", "file", status=0)
        self.check(file, "--include", "life.create", "--exclude", "life", status=4)
        self.check(os.path.join(self.folder, "nowhere.so"), status=3)
        for wrong in (["--options", '{"count": 99}'], ["--options", '{"cuont": 2}'], ["--include", "no.such"], ["--recording", file],
                      ["--no-such-flag"]):
            with self.subTest(wrong):
                self.check(file, *wrong, status=2)

    def test_the_same_seed_makes_the_same_inputs(self):
        file = self.build()
        notes = [self.check(file, "--include", "input.options", "--seed", seed, status=0)[1]["notes"] for seed in "778"]
        self.assertEqual(notes[0], notes[1])


if __name__ == "__main__":
    unittest.main(verbosity=1)

"""muster watch says what its answers are worth: fresh, stale or gone, on stderr and in every format that can, beside the file where it cannot."""
import json
import os
import signal
import time

from watch_world import WatchWorld
from world import main

FAILS = r"muster: stale since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z: .*roster"


class Stdout(WatchWorld):
    def test_json_comes_again_as_stale_and_again_as_fresh(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "json")
        answers = lambda: [json.loads(text) for text in "".join(process.lines).split("\n\n") if text.strip().endswith("}")]
        self.until(lambda: len(answers()) == 1, process)
        self.no_roster()
        self.until(lambda: len(answers()) == 2, process)
        self.roster("worker 0 a:1")
        self.until(lambda: len(answers()) == 3, process)
        self.assertEqual([answer["state"] for answer in answers()], ["fresh", "stale", "fresh"])
        self.assertEqual([answer["cluster"] for answer in answers()], [{"worker": ["a:1"]}] * 3)
        self.assertEqual([answer["stale_since"] is None for answer in answers()], [True, False, True])

    def test_a_table_has_a_line_and_an_environment_a_variable_about_it(self):
        self.roster("worker 0 a:1")
        table, env = self.watch(), self.watch("-o", "env")
        self.until(lambda: table.lines and "export MUSTER_STATE='fresh'\n" in env.lines, env)
        self.no_roster()
        self.until(lambda: any(line.startswith("stale since ") for line in table.lines), table)
        self.until(lambda: "export MUSTER_STATE='stale'\n" in env.lines, env)
        self.until(lambda: any(line.startswith("export MUSTER_STALE_SINCE='20") for line in env.lines), env)

    def test_stderr_has_one_line_for_each_change(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "addresses")
        self.until(lambda: process.lines == ["a:1\n"], process)
        self.no_roster()
        self.until(lambda: len(process.talk) == 1, process)
        self.assertRegex(process.talk[0], FAILS)
        time.sleep(1.2)  # and is asked again meanwhile
        self.roster("worker 0 a:1")
        self.until(lambda: len(process.talk) == 2, process)
        self.assertRegex(process.talk[1], r"^muster: fresh again after [1-9] s$")
        # Neither was a change of what such a format says.
        self.assertEqual(process.lines, ["a:1\n"])
        self.roster("worker 0 b:1")
        self.until(lambda: process.lines == ["a:1\n", "\n", "b:1\n"], process)

    def test_quiet_says_none_of_it(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "json", "-q")
        self.until(lambda: process.lines, process)
        self.no_roster()
        self.until(lambda: '  "state": "stale",\n' in process.lines, process)
        self.assertEqual(process.talk, [])


class Files(WatchWorld):
    # Those that cannot say what they are worth, and those that can.
    WITHOUT = ("tf_config", "cluster_def", "cluster_def_binary", "addresses", "hostfile", "names")
    WITH = ("json", "yaml", "table", "explain")

    def test_a_state_stands_beside_each_file_that_cannot_say_it_itself(self):
        self.roster("worker 0 a:1 a")
        processes = {name: self.watch("-o", name, "--write", name) for name in (*self.WITHOUT, *self.WITH, "env")}
        for name, process in processes.items():
            beside = name not in self.WITH
            self.until(lambda: self.content(name) and (not beside or self.state(name).get("state") == "fresh"), process)
        before = {name: self.content(name) for name in self.WITHOUT}
        digest = self.answer("--backend", "static", "-O", "file=roster")["digest"]
        for name in (*self.WITHOUT, "env"):
            state = self.state(name)
            self.assertEqual((state["complete"], state["digest"], state["reason"]), (True, digest, ""), name)
            self.assertEqual(set(state), {"state", "since", "complete", "digest", "time", "reason"})
        for name in self.WITH:
            self.assertIsNone(self.content(name + ".state"), name)
        self.no_roster()
        for name, process in processes.items():
            with self.subTest(name):
                if name in self.WITH:
                    self.until(lambda: "stale" in self.content(name).replace("stale_since: null", "").replace("stale: false", ""), process)
                else:
                    self.until(lambda: self.state(name)["state"] == "stale", process)
                    self.assertIn("roster", self.state(name)["reason"])
                    self.assertEqual(self.state(name)["digest"], digest)
        self.until(lambda: "MUSTER_STATE='stale'" in self.content("env"), processes["env"])
        for name, content in before.items():
            self.assertEqual(self.content(name), content, name)
        self.roster("worker 0 b:1 b")
        for name, process in processes.items():
            self.until(lambda: self.content(name) != before.get(name) and (name in self.WITH or self.state(name)["state"] == "fresh"), process)

    def test_by_choice_a_stale_file_goes_and_comes_back(self):
        self.roster("worker 0 a:1")
        processes = {name: self.watch("-o", name, "--write", name, "--on-stale", "remove") for name in ("hostfile", "json")}
        for name, process in processes.items():
            self.until(lambda: self.content(name), process)
        self.no_roster()
        for name, process in processes.items():
            self.until(lambda: self.content(name) is None, process)
        self.until(lambda: self.state("hostfile")["digest"] == "", processes["hostfile"])
        self.assertEqual(self.state("hostfile")["state"], "stale")
        self.roster("worker 0 a:1")
        for name, process in processes.items():
            self.until(lambda: self.content(name), process)
        self.until(lambda: self.state("hostfile")["state"] == "fresh", processes["hostfile"])
        self.assertIn("keep", self.muster("watch", "--backend", "static", "--write", "x", "--on-stale", "forget", status=2).stderr)

    def test_an_incomplete_answer_that_is_not_written_is_told_by_the_state(self):
        self.roster("worker 0 a:1", "worker 1 b:1")
        process = self.watch("-o", "addresses", "--expect", "worker=2", "--write", "hosts")
        self.until(lambda: self.state("hosts").get("complete"), process)
        whole = self.state("hosts")["digest"]
        self.roster("worker 0 a:1")
        self.until(lambda: self.state("hosts")["complete"] is False, process)
        state = self.state("hosts")
        self.assertEqual((state["state"], state["digest"], state["reason"]), ("fresh", whole, "the answer is incomplete: worker 1 of 2"))
        self.assertEqual(self.content("hosts"), "a:1\nb:1\n")

    def test_a_file_of_a_watch_before_is_not_vouched_for_until_there_is_an_answer(self):
        self.file("hosts", "dead:1\n")
        self.file("hosts.state", '{"state": "fresh"}\n')
        process = self.watch("-o", "addresses", "--write", "hosts")  # there is no roster
        self.until(lambda: process.talk, process)
        self.assertEqual((self.state("hosts")["state"], self.state("hosts")["reason"]), ("stale", "this watch has no answer yet"))
        self.assertEqual(self.content("hosts"), "dead:1\n")

    def test_a_watch_that_was_ended_says_that_nobody_keeps_its_file(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "addresses", "--write", "hosts")
        self.until(lambda: self.state("hosts").get("state") == "fresh", process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), -signal.SIGTERM)
        self.assertEqual((self.content("hosts"), self.state("hosts")["state"]), ("a:1\n", "stale"))
        self.assertIn("has ended", self.state("hosts")["reason"])

    def test_one_that_waited_for_a_complete_answer_leaves_it_fresh(self):
        self.roster("worker 0 a:1")
        self.assertEqual(self.watch("-o", "addresses", "--write", "hosts", "--until-complete").wait(20), 0)
        self.assertEqual((self.content("hosts"), self.state("hosts")["state"]), ("a:1\n", "fresh"))

    def test_less_is_said_before_the_file_changes_and_more_after(self):
        library = os.environ["SYNC_LOG_LIBRARY"]
        if not library:
            self.skipTest("a sanitizer is before the C library")
        log = os.path.join(self.folder, "log")
        renamed = lambda: [line.split()[1] for line in (self.content("log") or "").splitlines() if line.startswith("rename ")]
        self.roster("worker 0 a:1", "worker 1 b:1")
        process = self.watch("-o", "addresses", "--expect", "worker=2", "--allow-incomplete", "--write", "hosts", LD_PRELOAD=library, SYNC_LOG=log)
        # That there is no answer yet, and the first one.
        self.until(lambda: renamed() == ["hosts.state", "hosts", "hosts.state"], process)
        self.roster("worker 0 c:1", "worker 1 b:1")
        self.until(lambda: renamed()[3:] == ["hosts", "hosts.state"], process)
        # An incomplete one: its digest is said when the file has it.
        self.roster("worker 0 c:1")
        self.until(lambda: renamed()[5:] == ["hosts.state", "hosts", "hosts.state"], process)
        self.no_roster()
        self.until(lambda: renamed()[8:] == ["hosts.state"], process)
        self.roster("worker 0 c:1", "worker 1 d:1")
        self.until(lambda: renamed()[9:] == ["hosts", "hosts.state"], process)

    def test_at_no_moment_is_an_address_that_is_gone_vouched_for(self):
        """Two lists in turn: whenever the state before and after a look at the file says the same fresh digest, the file has those members or newer ones."""
        lists = [[f"worker {n} {letter}{n}:1" for n in range(3)] for letter in "ab"]
        self.roster(*lists[0])
        process = self.watch("-o", "addresses", "--write", "hosts")
        self.until(lambda: self.state("hosts").get("state") == "fresh", process)
        digests = {}
        looks = 0
        end = time.monotonic() + 5
        turn = 0
        while time.monotonic() < end:
            turn += 1
            self.roster(*lists[turn % 2])
            wanted = lists[turn % 2][0].split()[2]
            while not (self.content("hosts") or "").startswith(wanted):
                state, content, after = self.state("hosts"), self.content("hosts"), self.state("hosts")
                if state == after and state["state"] == "fresh":
                    looks += 1
                    digests.setdefault(state["digest"], set()).add(content)
            self.until(lambda: self.state("hosts")["state"] == "fresh", process)
        self.assertGreater(looks, 10)
        self.assertEqual(len(digests), 2)


class Gone(WatchWorld):
    """There is nobody any longer, by the source's own word: a program that says so."""

    def setUp(self):
        super().setUp()
        self.program = self.file("asks", "#!/bin/sh\ncat \"$(dirname \"$0\")/roster\"\n", 0o755)

    def watch(self, *words, **more):
        return super().watch(*words, source=("--backend", "exec", "-O", f"command=[{self.program}]"), **more)

    def test_who_is_gone_is_said_and_stays_in_no_file(self):
        self.roster("worker 0 a:1")
        formats = {"addresses": "", "hostfile": "", "names": "", "tf_config": None, "cluster_def": None, "cluster_def_binary": None, "env": None}
        processes = {name: self.watch("-o", name, "--write", name) for name in formats}
        shown = {name: self.watch("-o", name) for name in ("json", "addresses")}
        for name, process in processes.items():
            self.until(lambda: self.state(name).get("state") == "fresh", process)
        for process in shown.values():
            self.until(lambda: process.lines, process)
        self.roster("# nobody")
        for name, process in processes.items():
            with self.subTest(name):
                self.until(lambda: self.content(name) == formats[name] and self.state(name)["state"] == "gone", process)
                self.assertIs(self.state(name)["complete"], False)
                self.until(lambda: any(line.startswith("muster: gone: ") for line in process.talk), process)
        self.until(lambda: '  "state": "gone",\n' in shown["json"].lines and '  "complete": false,\n' in shown["json"].lines, shown["json"])
        self.assertEqual(shown["addresses"].lines, ["a:1\n"])
        self.roster("worker 0 a:1")
        for name, process in processes.items():
            self.until(lambda: self.content(name) and self.state(name)["state"] == "fresh", process)
            self.until(lambda: any("fresh again after" in line for line in process.talk), process)


class Composed(WatchWorld):
    """The same of an isolated source, of a merge and of a chain."""

    TREES = {
        "isolated": "cluster: {backend: static, options: {file: roster}, isolate: true}\n",
        "merge": "cluster: {merge: [{backend: static, options: {file: roster}}, {backend: static, options: {cluster_spec: {ps: ['p:1']}}}]}\n",
        "chain": "cluster: {chain: [{backend: static, options: {file: roster}}, {backend: static, options: {cluster_spec: {other: ['o:1']}}}]}\n",
    }

    def test_stale_and_fresh_are_told_through_each(self):
        self.roster("worker 0 a:1")
        processes = {name: self.watch("-o", "addresses", "--write", name, source=("-f", self.file(name + ".yaml", tree)))
                     for name, tree in self.TREES.items()}
        for name, process in processes.items():
            self.until(lambda: self.state(name).get("state") == "fresh", process)
        before = {name: self.content(name) for name in processes}
        self.no_roster()
        for name, process in processes.items():
            with self.subTest(name):
                self.until(lambda: self.state(name)["state"] == "stale", process)
                self.until(lambda: any("stale since" in line for line in process.talk), process)
                self.assertEqual(self.content(name), before[name])
        self.roster("worker 0 a:1")
        for name, process in processes.items():
            self.until(lambda: self.state(name)["state"] == "fresh", process)
        for name, process in processes.items():
            process.send_signal(signal.SIGTERM)
        for process in processes.values():
            self.assertEqual(process.wait(20), -signal.SIGTERM)


if __name__ == "__main__":
    main()

"""Backends in processes of their own, and backends that are executables: as the command has them."""
import json
import os
import signal
import subprocess
import sys
import time

from world import MUSTER, OVERHEAD, SOURCE, STATIC, TEST_PLUGINS, World, cloud, kubernetes, main

PROGRAM = f"""#!{sys.executable}
import sys
sys.path.insert(0, {os.path.join(SOURCE, "sdk/python-backend/src")!r})
import muster_backend

DESCRIPTOR = {{
    "name": "roster", "version": "1.2.0", "abi": {{"major": 1, "minor": 0}}, "description": "Members from nowhere.",
    "options": {{"type": "object", "additionalProperties": False, "properties": {{
        "count": {{"type": "integer", "default": 2}}, "token": {{"type": "string", "writeOnly": True}}}}}},
}}


class Roster:
    def __init__(self, options, host):
        self.options = options

    def resolve(self, call):
        print("to whom it may concern")
        for index in range(self.options["count"]):
            call.add_task("worker", index, " ".join(sys.argv[1:]) or f"w-{{index}}", f"10.0.0.{{index + 1}}:8470")


muster_backend.main(Roster, DESCRIPTOR)
"""


def without_times(answer):
    for key in ("time", "sources"):
        answer.pop(key)
    return answer


class Isolated(World):
    def test_an_answer_is_the_same_in_a_process_of_its_own(self):
        path = self.file("m.yaml", STATIC)
        self.assertEqual(without_times(self.answer("-f", path, env={"MUSTER_ISOLATE": "true"})),
                         without_times(self.answer("-f", path)))

    def test_requests_are_made_counted_recorded_and_replayed_by_the_launcher(self):
        with cloud() as sim:
            words = kubernetes(sim)
            here = self.answer(*words)
            there = self.answer(*words, "--record", "r.yaml", env={"MUSTER_ISOLATE": "true"})
            self.assertEqual(there["sources"][0]["requests"], here["sources"][0]["requests"])
            self.assertEqual(without_times(there), without_times(here))
        again = self.answer(*words, "--replay", "r.yaml", env={"MUSTER_ISOLATE": "true"})
        self.assertEqual(without_times(again), without_times(self.answer(*words, "--replay", "r.yaml")))

    def test_permissions_and_plans_are_the_same(self):
        with cloud() as sim:
            for words in (["permissions", *kubernetes(sim), "--principal", "ml:trainer"], ["plan", *kubernetes(sim)]):
                self.assertEqual(self.muster(*words, env={"MUSTER_ISOLATE": "true"}).stdout, self.muster(*words).stdout)

    def test_explain_says_where_each_runs_and_why(self):
        def config(isolate):
            return self.file("m.yaml", STATIC + f"  isolate: {isolate}\n")
        self.assertIn("\n    isolated: the config says so\n", self.muster("explain", "-f", config("true")).stdout)
        self.assertIn("\n    in process: the config says so\n", self.muster("explain", "-f", config("false")).stdout)
        self.assertIn("\n    in process: its file and folders belong to ", self.muster("explain", "-f", config("auto")).stdout)

    def test_a_chain_goes_on_behind_a_crash(self):
        path = self.file("m.yaml", "cluster:\n  chain:\n    - {backend: wild, options: {do: crash}, isolate: true}\n"
                         "    - {backend: static, options: {cluster_spec: {worker: ['a:1']}}}\n")
        words = ["-f", path, "--plugin-dir", self.plugin("wild")]
        self.assertEqual(self.answer(*words)["cluster"], {"worker": ["a:1"]})
        self.assertIn("signal 11 (Segmentation fault)", self.muster("explain", *words).stdout)

    def test_a_crash_is_the_plugins_fault(self):
        path = self.file("m.yaml", "cluster: {backend: wild, options: {do: crash}, isolate: true}\n")
        run = self.muster("resolve", "-f", path, "--plugin-dir", self.plugin("wild"), status=16)
        self.assertIn("plugin 'wild' (cluster) misbehaved: its process was ended by signal 11", run.stderr)

    def test_the_backend_ends_with_a_launcher_that_is_killed(self):
        said = os.path.join(self.folder, "said")
        path = self.file("m.yaml", f"cluster: {{backend: wild, options: {{do: daemon and wait, file: {said}}}, isolate: true}}\n")
        launcher = subprocess.Popen([MUSTER, "resolve", "-f", path, "--plugin-dir", self.plugin("wild")],
                                    env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while not (os.path.exists(said) and open(said).read().endswith("\n")) and time.monotonic() < until:
            time.sleep(0.01)
        left = int(open(said).read())
        os.kill(left, 0)
        launcher.send_signal(signal.SIGKILL)
        launcher.wait()
        until = time.monotonic() + 5
        while os.path.exists(f"/proc/{left}") and time.monotonic() < until:
            time.sleep(0.01)
        self.assertFalse(os.path.exists(f"/proc/{left}"))


class Trace(World):
    def frames(self, path, *words, **more):
        """The lines of a trace without their beginning, and everything that was said."""
        run = self.muster("plugins", "trace", "-f", path, *words, **more)
        return [line.split(") ", 1)[1] for line in run.stdout.splitlines()], run

    def test_every_frame_of_a_resolve_is_a_line(self):
        frames, run = self.frames(self.file("m.yaml", STATIC + "  isolate: false\n"))
        self.assertTrue(all(line.startswith("static (cluster) ") for line in run.stdout.splitlines()), run.stdout)
        self.assertEqual([frame.split()[1] for frame in frames if frame.startswith("-> ")][:3], ["Hello", "Create", "Run"])
        self.assertRegex(frames[1], r"^<- Hello 1\.\d+ ")
        self.assertRegex(frames[2], r"^-> Create #1 path=cluster options='.*fd00::2.*'$")
        self.assertRegex(frames[3], r"^<- Answer #1 OK")
        self.assertRegex(frames[4], r"^-> Run #2 RESOLVE remaining=\d+ ms$")
        self.assertIn("<- AddTask ps[0] name='' address='ps-0:2222' port=0", frames)
        self.assertRegex(frames[-1], r"^<- Answer #2 OK")
        self.assertEqual(run.stderr, "")

    def test_no_secret_is_in_a_trace(self):
        self.file("roster.py", PROGRAM, 0o755)
        for secret in ("a-token-that-nobody-may-see", 'of "quotes" and \\', 'q"45'):
            self.secrets |= {secret, json.dumps(secret)[1:-1]}
            config = {"cluster": {"backend": "roster", "command": ["./roster.py", secret], "options": {"token": secret}}}
            frames, run = self.frames(self.file("m.yaml", json.dumps(config)))
            self.assertRegex(frames[2], r"^-> Create #1 .*REDACTED")
            self.assertTrue(any(frame.startswith("<- AddTask worker[0] name='REDACTED'") for frame in frames), run.stdout)

    def test_what_failed_is_told_beside_its_frames(self):
        path = self.file("m.yaml", "cluster: {backend: wild, options: {do: crash}}\n")
        frames, run = self.frames(path, "--plugin-dir", self.plugin("wild"), status=16)
        self.assertRegex(frames[-1], "^-> Run #2 RESOLVE")
        self.assertIn("signal 11", run.stderr)


class Executables(World):
    def test_a_command_is_a_backend(self):
        self.file("bin/roster.py", PROGRAM, 0o755)
        path = self.file("m.yaml", "cluster: {backend: roster, command: [bin/roster.py, --flag], options: {count: 3}}\n")
        answer = self.answer("-f", path)
        self.assertEqual(answer["cluster"]["worker"], ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"])
        self.assertEqual(answer["tasks"][0]["name"], "--flag")
        self.assertIn("isolated: it is an executable", self.muster("explain", "-f", path).stdout)
        self.assertIn("its process wrote: to whom it may concern", self.muster("resolve", "-f", path, "-v").stderr)

    def test_one_on_the_plugin_path_is_found_by_its_name(self):
        self.file("plugins/muster-backend-roster", PROGRAM, 0o755)
        words = ["--plugin-dir", os.path.join(self.folder, "plugins")]
        self.assertEqual(len(self.answer("--backend", "roster", *words)["tasks"]), 2)
        listed = self.muster("plugins", "list", *words).stdout
        self.assertRegex(listed, r"roster +1\.2\.0 +Members from nowhere\. +/")
        self.assertIn("roster 1.2.0", self.muster("plugins", "describe", "roster", *words).stdout)
        self.assertIn("roster 1.2.0", self.muster("plugins", "describe", "./plugins/muster-backend-roster").stdout)

    def test_its_options_are_checked_against_its_own_schema(self):
        self.file("roster.py", PROGRAM, 0o755)
        path = self.file("m.yaml", "cluster: {backend: roster, command: [./roster.py], options: {cuont: 3}}\n")
        self.assertIn("did you mean 'count'?", self.muster("resolve", "-f", path, status=12).stderr)

    def test_what_is_not_trusted_is_not_run(self):
        said = os.path.join(self.folder, "said")
        program = self.file("roster.sh", f"#!/bin/sh\ntouch {said}\n", 0o755)
        path = self.file("m.yaml", "cluster: {backend: roster, command: [./roster.sh]}\n")
        os.chmod(program, 0o777)
        self.assertIn("is not trusted", self.muster("resolve", "-f", path, status=13).stderr)
        self.assertFalse(os.path.exists(said))
        os.chmod(program, 0o755)
        pinned = path + "2"
        self.file("m.yaml2", open(path).read() + "plugins: {sha256: {roster: " + "0" * 64 + "}}\n")
        self.assertIn("is not the file that plugins.sha256 pins", self.muster("resolve", "-f", pinned, status=13).stderr)
        self.assertFalse(os.path.exists(said))

    def test_one_that_speaks_no_frames_says_what_it_wrote(self):
        self.file("roster.sh", "#!/bin/sh\necho no such module >&2\nexit 4\n", 0o755)
        path = self.file("m.yaml", "cluster: {backend: roster, command: [./roster.sh]}\n")
        error = self.muster("resolve", "-f", path, status=12).stderr
        self.assertIn("its process ended with exit status 4 during its start", error)
        self.assertIn("the last that it wrote: no such module", error)

    def test_an_interpreter_that_is_not_there_is_told(self):
        self.file("roster.sh", "#!/nowhere/python\n", 0o755)
        path = self.file("m.yaml", "cluster: {backend: roster, command: [./roster.sh]}\n")
        self.assertIn("it cannot be run: No such file or directory", self.muster("resolve", "-f", path, status=12).stderr)

    def test_it_never_runs_in_the_launcher(self):
        self.file("roster.py", PROGRAM, 0o755)
        path = self.file("m.yaml", "cluster: {backend: roster, command: [./roster.py], isolate: false}\n")
        self.assertIn("always runs in a process of its own", self.muster("resolve", "-f", path, status=12).stderr)
        path = self.file("m.yaml", "cluster: {backend: roster, command: [roster.py]}\n")
        self.assertIn("with a slash in it", self.muster("resolve", "-f", path, status=12).stderr)


def is_alive(number):
    """Not when only its status is left, which is its adopted parent's to take."""
    try:
        with open(f"/proc/{number}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Beginnings(World):
    def test_a_command_that_never_says_hello_takes_no_longer_than_the_timeout(self):
        self.file("silent", "#!/bin/sh\nsleep 20\n", mode=0o755)
        plain = "cluster: {backend: mine, command: [./silent]}\n"
        for words, config in ((["--timeout", "1s"], plain), ([], "timeout: 1s\n" + plain)):
            begin = time.monotonic()
            run = self.muster("resolve", "-f", self.file("m.yaml", config), *words, status=15)
            self.assertLess(time.monotonic() - begin, 1.5 + OVERHEAD)
            self.assertIn("has not answered 1000 ms after its start began: the deadline came first", run.stderr)

    def test_what_a_program_leaves_in_the_background_ends_with_it(self):
        self.file("leaves", "#!/bin/sh\nsleep 50 >/dev/null 2>&1 </dev/null &\necho $! > pid\necho 'worker 0 a:1'\n", mode=0o755)
        for isolate in ("true", "false"):
            path = self.file("m.yaml", "cluster: {backend: exec, options: {command: [./leaves]}, isolate: %s}\n" % isolate)
            self.muster("resolve", "-f", path)
            with open(os.path.join(self.folder, "pid")) as pid:
                number = int(pid.read())
            end = time.monotonic() + OVERHEAD
            while is_alive(number) and time.monotonic() < end:
                time.sleep(0.01)
            self.assertFalse(is_alive(number), isolate)


if __name__ == "__main__":
    main()

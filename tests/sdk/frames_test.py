"""Both SDKs of executables, each through the same backend written with it, against a double of the core that knows frames.proto alone."""
import json
import os
import select
import subprocess
import sys
import time
import unittest

from frames_core import Core, Refused
from frames_proto import encode

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = json.loads(os.environ["PROBE_COMMAND"])
BROKE = os.environ["PROBE_BROKE"]  # how the words of a language begin when resolve breaks down
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}


def of(kind, frames):
    return [message for one, message in frames if one == kind]


def warnings(frames):
    return [message["text"] for message in of("add_warning", frames)]


class Frames(unittest.TestCase):
    maxDiff = None

    def core(self, do="", create=True, **more):
        core = Core(COMMAND, **more)
        self.addCleanup(core.close)
        if create:
            self.created = core.create({"do": do}, "cluster.merge[0]")
        return core

    # ---- The beginning and the end

    def test_by_hand_it_says_what_it_is_for(self):
        run = subprocess.run(COMMAND, env=ENVIRONMENT, capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"probe 1\.2\.3 is a backend of muster")

    def test_a_descriptor_that_is_no_socket_is_told(self):
        run = subprocess.run(COMMAND, env={**ENVIRONMENT, "MUSTER_FRAMES_FD": "99"}, capture_output=True, text=True, timeout=20)
        self.assertEqual(run.returncode, 1)
        self.assertIn("MUSTER_FRAMES_FD", run.stderr)

    def test_hello_comes_without_waiting_and_has_the_descriptor(self):
        core = self.core(create=False, greet=False)
        self.assertEqual({**core.hello, "descriptor": json.loads(core.hello["descriptor"])["version"]},
                         {"major": 1, "software": "probe 1.2.3", "descriptor": "1.2.3"})
        self.assertEqual(core.end()[0], 0)

    def test_create_says_which_functions_there_are(self):
        core = self.core()
        self.assertEqual(sorted(self.created["extensions"]), ["muster.permissions/1", "muster.plan/1", "muster.watch/1"])

    def test_a_failure_of_create_is_its_answer(self):
        self.core("create fails")
        self.assertEqual(self.created, {"code": 3, "message": "the option do is wrong", "details": [{"key": "option", "value": "/do"}]})

    def test_what_leaves_create_is_internal(self):
        self.core("create breaks")
        self.assertEqual(self.created["code"], 13)
        self.assertIn("create failed: ", self.created["message"])

    def test_the_end_between_calls_ends_it(self):
        status, seconds, _, error = self.core().end()
        self.assertEqual((status, error), (0, ""))
        self.assertLess(seconds, 5)

    def test_the_end_in_a_call_that_waits_ends_it(self):
        core = self.core("sleep")
        core.begin()
        self.assertEqual(core.read()[0], "sleep")
        status, seconds, _, error = core.end()
        self.assertEqual((status, error), (0, ""))

    def test_the_end_in_a_call_that_looks_at_nothing_ends_it(self):
        core = self.core("ignore")
        core.begin()
        self.assertEqual(core.read()[0], "set_progress")
        status, seconds, _, error = core.end()
        self.assertEqual((status, error), (0, ""))
        self.assertLess(seconds, 5)

    def test_another_major_version_is_told(self):
        core = self.core(create=False, major=2)
        status, _, _, error = core.end()
        self.assertEqual(status, 1)
        self.assertIn("version 1.0", error)
        self.assertIn("version 2.0", error)

    def test_what_it_prints_is_written_at_once(self):
        core = self.core("say")
        core.run()
        self.assertTrue(select.select([core.process.stdout], [], [], 20)[0])
        self.assertEqual(core.process.stdout.readline(), b"standard output\n")

    # ---- Garbage

    def garbage(self, body, raw=False, **hello):
        core = self.core(**hello)
        core.socket.sendall(body) if raw else core.write_raw(body)
        with self.assertRaises(Refused):
            core.read()
        self.assertEqual(core.process.wait(20), 1)
        return core

    def test_a_frame_that_is_no_message_ends_it(self):
        self.garbage(b"\xff\xff\xff")

    def test_an_empty_frame_ends_it(self):
        self.garbage(b"\0\0\0\0", raw=True)

    def test_a_frame_beyond_the_limit_ends_it(self):
        self.garbage((67108865).to_bytes(4, "little"), raw=True)

    def test_a_frame_of_an_unknown_kind_ends_it(self):
        self.garbage(b"\xc2\x3e\0")  # field 1000

    def test_a_cut_off_text_ends_it(self):
        self.garbage(b"\x08\x05\x22\x02\x0a\x63")

    def test_a_number_that_does_not_end_ends_it(self):
        self.garbage(b"\x08" + b"\xff" * 11)

    def test_a_second_create_ends_it(self):
        self.garbage(b"\x08\x05\x22\0")

    def test_an_answer_that_nobody_waits_for_ends_it(self):
        self.garbage(b"\x08\x63\x1a\0")

    def test_a_newer_core_may_say_more(self):
        core = self.core("fail", minor=7)
        core.write_raw(b"\xc2\x3e\0")              # an unknown frame without an id
        core.write_raw(b"\x08\x63\xc2\x3e\0")      # one with
        self.assertEqual(core.until(0x63, {})[0]["code"], 12)
        id = next(core.ids)
        run = encode("Run", {"function": "RESOLVE", "deadline_ns": 2**62 - 1, "remaining_ns": 60 * 10**9}) + b"\xc2\x3e\x03abc"  # an unknown field
        core.write_raw(b"\x08" + bytes((id,)) + b"\x2a" + bytes((len(run),)) + run)
        self.assertEqual(core.until(id, {})[0]["code"], 7)

    # ---- Calls

    def test_everything_that_is_pushed_arrives(self):
        answer, frames = self.core("push").run()
        self.assertEqual(answer, {})
        self.assertEqual([(kind, message) for kind, message in frames if kind != "log"], [
            ("mark_secret", {"text": b"a-secret"}),
            ("set_progress", {"text": "pushing"}),
            ("set_attribute", {"key": "rpc_layer", "value": "grpc"}),
            ("add_job", {"job": "worker"}),
            ("add_task", {"job": "worker", "index": -1, "name": "a", "address": "10.0.0.1:8470"}),
            ("add_task", {"job": "worker", "index": 2147483647, "address": "fd00::2", "port": 8471}),
            ("set_attribute", {"key": "zone", "value": "z\u00fcrich"}),
            ("add_missing", {"job": "worker", "index": 3, "name": "c", "reason": "Pending"}),
            ("set_expected", {"job": "worker", "count": 300}),
            ("set_identity", {"job": "worker", "evidence": "HOSTNAME is 'a'"}),
            ("set_identity", {"index": -1, "name": "a", "evidence": "by name"}),
            ("add_warning", {"text": "slow"}),
        ])
        self.assertEqual(of("log", frames), [{"level": 2, "text": "two"}, {"level": 2, "text": "lines"}])

    def test_every_service_is_asked_and_answers(self):
        def http(core, id, message):
            for part in (b"first ", b"second "):
                core.write("answer", {"content": part, "more": True}, id)
            return {"content": b"third", "http": {"status": 201, "headers": [{"name": "etag", "value": b'"7"'}]}}

        names = iter(({"content": b"node-a"}, {"code": 5}))
        answer, frames = self.core("services").run(answers={
            "check_address": lambda core, id, message: {} if message["address"] == "10.0.0.1:1" else {"code": 3, "message": "it has no port"},
            "get_time": lambda core, id, message: {"number": 5 if message.get("monotonic") else 1769860800000000000},
            "sleep": {}, "has_terminal": {"number": 1}, "get_hostname": lambda core, id, message: next(names),
            "get_variable": lambda core, id, message: {"content": b"blank"} if message["name"] == "SET" else {"code": 5, "message": "unset"},
            "read_file": lambda core, id, message: {"code": 5, "message": "there is none", "details": [{"key": "hint", "value": "make it"}]}
            if message["path"] == "/nowhere" else {"content": b"12345"},
            "send_http": http,
            "run_program": {"content": b"out", "program": {"exit_status": 137, "error_output": "killed", "keep": True}},
        })
        self.assertEqual(answer, {})
        self.assertEqual(json.loads(warnings(frames)[0]), {
            "path": "cluster.merge[0]", "address": None, "no_address": "it has no port", "monotonic": 5, "realtime": 1769860800000000000,
            "set": "blank", "unset": None, "hostname": "node-a", "no_hostname": True, "file": 5, "terminal": True, "nowhere": [5, "there is none", {"hint": "make it"}],
            "http": [201, '"7"', None, "first second third"], "program": [137, "out", "killed", True]})
        self.assertEqual(of("sleep", frames), [{"duration_ns": 1500000000}])
        self.assertEqual(of("read_file", frames)[0], {"path": "~/roster", "maximum_size": 100, "flags": 1})
        self.assertEqual(of("send_http", frames), [{"request": {
            "flags": 63, "method": "POST", "url": "http://h/p", "headers": [{"name": "Accept", "value": b"text/plain"}], "body": b"body",
            "maximum_body_size": 5, "purpose": "a purpose", "ca_pem": b"ca", "client_certificate_pem": b"certificate",
            "client_key_pem": b"key", "tls_server_name": "name", "proxy_url": "http://proxy:1", "timeout_ns": 1000000000,
            "idle_timeout_ns": 2000000000}}])
        self.assertEqual(of("run_program", frames), [{
            "flags": 1, "arguments": ["p", "", "x"], "environment": ["A=b"], "maximum_output_size": 7, "timeout_ns": 3000000000}])

    def test_a_streamed_body_comes_in_pieces_and_each_may_ask(self):
        def http(core, id, message):
            self.assertTrue(message["request"]["streamed"])
            for piece in (b"a", b"b"):
                answer, frames = core.piece(piece, request=id)
                self.assertEqual(answer, {})
                seen.extend(warnings(frames))
            return {"http": {"status": 200}}

        seen = []
        answer, frames = self.core("stream").run(answers={"send_http": http})
        self.assertEqual((answer, seen + warnings(frames)), ({}, ["a nested", "b nested", "200 0"]))

    def test_a_piece_that_is_not_taken_is_the_failure_of_the_call(self):
        def http(core, id, message):
            answer, _ = core.piece(b"one", request=id)
            self.assertEqual(answer["code"], 15)
            return {"code": 15, "message": "the backend did not want it"}

        answer, frames = self.core("stop stream").run(answers={"send_http": http})
        self.assertEqual(answer, {"code": 15, "message": "piece one", "details": [{"key": "hint", "value": "mend it"}]})

    def test_several_exchanges_at_a_time(self):
        numbers, turns, seen = iter((41, 42)), [], []

        def next_http(core, id, message):
            self.assertEqual(message, {"timeout_ns": 1000000000})
            turns.append(message)
            if len(turns) == 1:
                seen.extend(warnings(core.piece(b"x", stream=41)[1]))
                return {}
            return {"number": 42, "content": b"whole", "http": {"status": 404}} if len(turns) == 2 else {"number": 41, "code": 14, "message": "cut off"}

        answer, frames = self.core("streams").run(answers={"begin_http": lambda *_: {"number": next(numbers)}, "next_http": next_http})
        self.assertEqual((answer, seen + warnings(frames)), ({}, ["1 x", "none True", "True 404 whole", "True 14 cut off"]))
        self.assertEqual([message["request"].get("streamed", False) for message in of("begin_http", frames)], [True, False])
        self.assertEqual(of("end_http", frames), [{"number": 41}])

    def test_a_failure_has_its_code_and_details(self):
        answer, _ = self.core("fail").run()
        answer["details"].sort(key=lambda detail: detail["key"])
        self.assertEqual(answer, {"code": 7, "message": "not for you",
                                  "details": [{"key": "hint", "value": "ask"}, {"key": "http_status", "value": "403"}]})

    def test_what_leaves_resolve_is_told_as_mp_13(self):
        core = self.core("break down")
        answer, frames = core.run()
        self.assertEqual(answer["code"], 13)
        (misbehaved,) = of("misbehaved", frames)
        self.assertEqual(misbehaved["duty"], "MP-13")
        self.assertTrue(misbehaved["what"].startswith("resolve failed: " + BROKE), misbehaved)
        self.assertEqual(core.run()[0]["code"], 13)  # it is still there

    def test_a_failure_with_ok_is_internal(self):
        self.assertEqual(self.core("fail with ok").run()[0], {"code": 13, "message": "no failure"})

    def test_a_refusal_ends_the_call_with_its_code(self):
        core = self.core("push for ever")
        id = core.begin()
        self.assertEqual(core.read()[0], "add_task")
        core.write("refused", {"code": 6})
        self.assertEqual(core.until(id, {})[0]["code"], 6)

    def test_a_refusal_is_the_answer_even_when_it_is_swallowed(self):
        core = self.core("swallow")
        id = core.begin()
        core.read()
        core.write("refused", {"code": 6})
        self.assertEqual(core.until(id, {})[0]["code"], 6)

    def test_a_cancel_ends_a_loop(self):
        core = self.core("spin")
        id = core.begin()
        core.read()
        core.write("cancel")
        begin = time.monotonic()
        self.assertEqual(core.until(id, {})[0]["code"], 1)
        self.assertLess(time.monotonic() - begin, 5)

    def test_a_cancel_at_the_deadline_is_told_as_that(self):
        core = self.core("spin")
        id = core.begin(seconds=0.05)
        core.read()
        time.sleep(0.1)
        core.write("cancel")
        self.assertEqual(core.until(id, {})[0]["code"], 4)

    def test_a_service_that_was_cancelled_ends_the_call_with_its_words(self):
        def sleep(core, id, message):
            core.write("cancel")
            return {"code": 1, "message": "cancelled by the user"}

        self.assertEqual(self.core("sleep").run(answers={"sleep": sleep})[0], {"code": 1, "message": "cancelled by the user"})

    def test_a_service_that_fails_without_words_gets_some(self):
        answer, _ = self.core("sleep").run(answers={"sleep": {"code": 14}})
        self.assertEqual(answer, {"code": 14, "message": "muster answered with code 14"})
        answer, _ = self.core("sleep").run(answers={"sleep": {"code": 4}})
        self.assertEqual(answer, {"code": 4, "message": "the deadline has come"})

    def test_a_cancel_that_comes_late_means_nothing(self):
        core = self.core("push")
        core.write("cancel")
        self.assertEqual(core.run()[0], {})
        core.write("cancel")
        self.assertEqual(core.run()[0], {})

    def test_a_watch_commits_and_goes_on(self):
        core = self.core()
        commits = []

        def sleep(core, id, message):
            core.write("cancel")
            return {"code": 1, "message": "cancelled"}

        answer, frames = core.run("WATCH", {"commit": lambda *_: commits.append(1) or {}, "sleep": sleep}, seconds=1e9)
        self.assertEqual((answer["code"], len(commits)), (1, 3))
        self.assertEqual([kind for kind, _ in frames], ["add_task", "commit"] * 3 + ["sleep"])

    def test_a_refused_commit_ends_the_watch(self):
        answer, frames = self.core().run("WATCH", {"commit": {"code": 6, "message": "two identities"}})
        self.assertEqual((answer["code"], [kind for kind, _ in frames]), (6, ["add_task", "commit"]))

    def test_permissions_are_told(self):
        core = self.core()
        _, frames = core.run("PERMISSIONS", principal="ml/trainer", for_watch=True)
        self.assertEqual(frames, [
            ("add_permission", {"principal_kind": "ServiceAccount", "principal": "ml/trainer", "scope": "namespace ml", "rule": "list pods"}),
            ("add_permission", {"scope": "namespace ml", "rule": "watch pods"}),
            ("set_grant", {"command": "sh", "text": "# grant\n"})])
        self.assertEqual(len(core.run("PERMISSIONS")[1]), 2)

    def test_a_plan_is_told(self):
        _, frames = self.core().run("PLAN", members=8)
        self.assertEqual(frames, [("add_planned", {
            "api": "roster", "request": "GET", "reason": "one a member", "least": 1, "most": 8, "quota": "read requests", "quota_per_minute": 600})])

    def test_a_function_of_a_newer_core_is_unimplemented(self):
        core = self.core()
        id = next(core.ids)
        core.write_raw(b"\x08" + bytes((id,)) + b"\x2a\x02\x08\x63")
        self.assertEqual(core.until(id, {})[0]["code"], 12)

    def test_100000_tasks_are_gathered(self):
        begin = time.monotonic()
        answer, frames = self.core("many").run()
        self.assertEqual((answer, len(frames), frames[-1][1]["index"]), ({}, 100000, 99999))
        sys.stderr.write(f"100,000 tasks: {time.monotonic() - begin:.2f} s with the double\n")


if __name__ == "__main__":
    unittest.main()

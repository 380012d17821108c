"""The templates of executables, sdk/templates/python and sdk/templates/go, each against the double of the core."""
import json
import os
import re
import unittest

from frames_core import Core

COMMAND = json.loads(os.environ["ROSTER_COMMAND"])
URL = "http://h/members"
LIST = b"# name address\r\nnode-1 10.0.0.1:8470\n\nnode-2 fd00::2\n node-3\t- powered off since Monday\nnode-4 -\n"
DEFAULTS = {"job": "worker"}


def check_address(core, id, message):
    """Near enough to what the core says of the addresses of these tests."""
    port = message.get("port", 0)
    if re.fullmatch(r"[\w.]+:\d+", message["address"]) and not port or port and ":" not in message["address"].replace("::", ""):
        return {}
    return {"code": 3, "message": f"'{message['address']}' is not an address: it has no port"}


def response(status=200, body=LIST, **headers):
    return {"content": body, "http": {"status": status, "headers": [{"name": name, "value": value.encode()} for name, value in headers.items()]}}


class Roster(unittest.TestCase):
    maxDiff = None

    def core(self, **options):
        core = Core(COMMAND)
        self.addCleanup(core.close)
        self.created = core.create({"url": URL, **DEFAULTS, **options})
        return core

    def resolve(self, answer=None, own_name=b"node-3", **options):
        name = {"content": own_name} if own_name else {"code": 5}
        answers = {"check_address": check_address, "get_hostname": name, "get_variable": name, "send_http": answer or response()}
        return self.core(**options).run(answers=answers)

    def test_the_descriptor_has_the_options_that_all_templates_have(self):
        descriptor = json.loads(self.core().hello["descriptor"])
        properties = descriptor["options"]["properties"]
        self.assertEqual((descriptor["name"], sorted(properties)), ("roster", ["identity_variable", "job", "port", "token", "url"]))
        self.assertTrue(properties["token"]["writeOnly"])
        self.assertEqual({name: about["default"] for name, about in properties.items() if "default" in about}, DEFAULTS)
        self.assertEqual(self.created["extensions"], descriptor["extensions"])

    def test_members_missing_ones_and_the_identity_are_pushed(self):
        answer, frames = self.resolve(port=8471)
        self.assertEqual(answer, {})
        self.assertEqual([(kind, message) for kind, message in frames if kind.startswith(("add", "set"))], [
            ("add_job", {"job": "worker"}),
            ("add_task", {"job": "worker", "index": -1, "name": "node-1", "address": "10.0.0.1:8470"}),
            ("add_task", {"job": "worker", "index": -1, "name": "node-2", "address": "fd00::2", "port": 8471}),
            ("add_missing", {"job": "worker", "index": -1, "name": "node-3", "reason": "powered off since Monday"}),
            ("set_identity", {"job": "worker", "index": -1, "name": "node-3", "evidence": "the host's name is 'node-3'"}),
            ("add_missing", {"job": "worker", "index": -1, "name": "node-4", "reason": "the list has no address for it"}),
        ])

    def test_the_request_has_the_token(self):
        _, frames = self.resolve(token="0123-a-token", port=1)
        (request,) = [message["request"] for kind, message in frames if kind == "send_http"]
        self.assertEqual(request, {"method": "GET", "url": URL, "purpose": "the list of members", "timeout_ns": 30 * 10**9,
                                   "headers": [{"name": "Authorization", "value": b"Bearer 0123-a-token"}]})

    def test_the_name_of_its_own_member_may_be_in_a_variable(self):
        _, frames = self.resolve(identity_variable="ME", port=1)
        self.assertEqual([message["name"] for kind, message in frames if kind == "get_variable"], ["ME"])
        self.assertEqual([message["evidence"] for kind, message in frames if kind == "set_identity"], ["ME is 'node-3'"])

    def test_without_a_name_there_is_no_identity(self):
        for options in ({}, {"identity_variable": "ME"}):
            _, frames = self.resolve(own_name=None, port=1, **options)
            self.assertNotIn("set_identity", [kind for kind, _ in frames])

    def test_an_empty_list_is_a_job_without_members(self):
        answer, frames = self.resolve(response(body=b""))
        self.assertEqual((answer, [kind for kind, _ in frames if kind.startswith("add")]), ({}, ["add_job"]))

    def failure(self, answer, code, message, details=None, **options):
        said, _ = self.resolve(answer, **options)
        self.assertEqual((said["code"], said["message"]), (code, message))
        if details is not None:
            self.assertEqual({detail["key"]: detail["value"] for detail in said.get("details", [])}, details)

    def test_each_status_is_told_by_its_own_code(self):
        for status, code, hint in ((401, 16, "give or renew the option 'token'"), (403, 7, "the token may not read this list"),
                                   (404, 5, "look at the option 'url'"), (410, 5, "look at the option 'url'"), (429, 8, "ask less often"),
                                   (408, 14, None), (500, 14, None), (503, 14, None), (204, 9, None), (304, 9, None), (418, 9, None)):
            with self.subTest(status):
                self.failure(response(status), code, f"{URL} answered with status {status}",
                             {"http_status": str(status), **({"hint": hint} if hint else {})})

    def test_what_http_fails_with_is_left_as_it_is(self):
        self.failure({"code": 14, "message": "connection refused", "details": [{"key": "endpoint", "value": "h"}]}, 14, "connection refused", {"endpoint": "h"})

    def test_a_wrong_line_is_told_with_its_number(self):
        for line, what in {b"a": "there is no address", b"a a:1 more": "there is a third word",
                           b"caf\xe9 a:1": "there is a byte that is no printable ASCII",
                           b"a 10.0.0.1": "'10.0.0.1' is not an address: it has no port"}.items():
            with self.subTest(line):
                self.failure(response(body=b"x 10.0.0.1:1\n" + line), 15,
                             f"{URL}:2: {what}; a line is 'name address', or 'name -' and why it has none")

    # ---- Watch

    def watch(self, *answers):
        turns = iter(answers)
        return self.core(port=1).run("WATCH", {
            "check_address": check_address, "get_hostname": {"code": 5}, "commit": {}, "sleep": {},
            "send_http": lambda *_: next(turns, {"code": 1, "message": "cancelled"})}, seconds=1e9, interval_ns=5 * 10**9)

    def test_a_watch_commits_what_has_changed_and_waits_for_the_rest(self):
        answer, frames = self.watch(response(ETag='"1"'), response(304, b""), response(body=b"a 10.0.0.9:1", etag='"2"'))
        self.assertEqual(answer["code"], 1)
        self.assertEqual([kind for kind, _ in frames if kind in ("send_http", "add_task", "commit", "sleep")],
                         ["send_http", "add_task", "add_task", "commit", "sleep", "send_http", "sleep", "send_http", "add_task", "commit", "sleep", "send_http"])
        headers = [{header["name"]: header["value"] for header in message["request"].get("headers", [])} for kind, message in frames if kind == "send_http"]
        self.assertEqual([one.get("If-None-Match") for one in headers], [None, b'"1"', b'"1"', b'"2"'])
        self.assertEqual([message for kind, message in frames if kind == "sleep"], [{"duration_ns": 5 * 10**9}] * 3)

    def test_without_an_etag_there_is_nothing_to_watch(self):
        answer, frames = self.watch(response())
        self.assertEqual((answer["code"], answer["message"]), (12, "the list has no ETag to watch it by"))
        self.assertNotIn("add_task", [kind for kind, _ in frames])

    def test_a_watch_that_fails_says_why(self):
        answer, _ = self.watch(response(ETag='"1"'), response(503))
        self.assertEqual((answer["code"], answer["message"]), (14, f"{URL} answered with status 503"))


if __name__ == "__main__":
    unittest.main()

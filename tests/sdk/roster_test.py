"""The templates of executables, sdk/templates/python and sdk/templates/go, each against the double of the core."""
import json
import os
import re
import unittest

from frames_core import Core

COMMAND = json.loads(os.environ["ROSTER_COMMAND"])
URL = "http://h/roster"
ROSTER = b"# index name address\r\n0 node-a 10.0.0.1:8470\n\n1 node-b fd00::2\n 2\tnode-c - powered off since Monday \n3 node-d -\n"


def check_address(core, id, message):
    """Near enough to what the core says of the addresses of these tests."""
    port = message.get("port", 0)
    if re.fullmatch(r"[\w.]+:\d+|\[[\w:]+\]:\d+", message["address"]) and not port or port and ":" not in message["address"].replace("::", ""):
        return {}
    return {"code": 3, "message": f"'{message['address']}' is not an address: it has no port"}


def response(status=200, body=ROSTER, **headers):
    return {"content": body, "http": {"status": status, "headers": [{"name": name, "value": value.encode()} for name, value in headers.items()]}}


class Roster(unittest.TestCase):
    maxDiff = None

    def core(self, **options):
        core = Core(COMMAND)
        self.addCleanup(core.close)
        self.created = core.create({"url": URL, "job": "worker", "identity_variable": "HOSTNAME", **options})
        return core

    def resolve(self, answer=None, own_name=b"node-c", **options):
        answers = {"check_address": check_address, "get_variable": {"content": own_name} if own_name else {"code": 5}, "send_http": answer or response()}
        return self.core(**options).run(answers=answers)

    def test_the_descriptor_has_the_options_that_all_templates_have(self):
        descriptor = json.loads(self.core().hello["descriptor"])
        properties = descriptor["options"]["properties"]
        self.assertEqual((descriptor["name"], sorted(properties)), ("roster", ["identity_variable", "job", "port", "token", "url"]))
        self.assertTrue(properties["token"]["writeOnly"])
        self.assertEqual((properties["job"]["default"], properties["identity_variable"]["default"]), ("worker", "HOSTNAME"))
        self.assertEqual(sorted(self.created["extensions"]), ["muster.plan/1", "muster.watch/1"])

    def test_members_missing_ones_and_the_identity_are_pushed(self):
        answer, frames = self.resolve(port=8471)
        self.assertEqual(answer, {})
        self.assertEqual([(kind, message.pop("index", 0), message) for kind, message in frames if kind.startswith(("add", "set"))], [
            ("add_job", 0, {"job": "worker"}),
            ("add_task", 0, {"job": "worker", "name": "node-a", "address": "10.0.0.1:8470"}),
            ("add_task", 1, {"job": "worker", "name": "node-b", "address": "fd00::2", "port": 8471}),
            ("add_missing", 2, {"job": "worker", "name": "node-c", "reason": "powered off since Monday"}),
            ("set_identity", 2, {"job": "worker", "evidence": "HOSTNAME is 'node-c'"}),
            ("add_missing", 3, {"job": "worker", "name": "node-d", "reason": "the roster gives no address"}),
        ])

    def test_the_request_has_the_token(self):
        _, frames = self.resolve(token="0123-a-token", port=1)
        (request,) = [message["request"] for kind, message in frames if kind == "send_http"]
        request["headers"].sort(key=lambda header: header["name"])
        self.assertEqual(request, {"method": "GET", "url": URL, "purpose": "the roster", "headers": [
            {"name": "Accept", "value": b"text/plain"}, {"name": "Authorization", "value": b"Bearer 0123-a-token"}]})

    def test_without_the_variable_there_is_no_identity(self):
        _, frames = self.resolve(own_name=None, port=1)
        self.assertNotIn("set_identity", [kind for kind, _ in frames])

    def failure(self, answer, code, message, details=None, **options):
        said, _ = self.resolve(answer, **options)
        self.assertEqual((said["code"], said["message"]), (code, message))
        if details is not None:
            self.assertEqual({detail["key"]: detail["value"] for detail in said.get("details", [])}, details)

    def test_each_status_is_told_by_its_own_code(self):
        not_given = f"the roster at {URL} was not given: HTTP "
        token = {"option": "/token", "hint": "give the option 'token'"}
        self.failure(response(401), 16, not_given + "401", {"http_status": "401", **token})
        self.failure(response(403), 7, not_given + "403", {"http_status": "403", "option": "/token", "hint": "look at the token"}, token="abcdef")
        self.failure(response(404), 5, f"there is no roster at {URL}: HTTP 404", {"http_status": "404", "option": "/url"})
        self.failure(response(410), 5, f"there is no roster at {URL}: HTTP 410")
        for status in (204, 304, 429, 500, 503):
            self.failure(response(status), 14, f"{not_given}{status}", {"http_status": str(status)})

    def test_what_http_fails_with_is_left_as_it_is(self):
        self.failure({"code": 14, "message": "connection refused", "details": [{"key": "endpoint", "value": "h"}]}, 14, "connection refused", {"endpoint": "h"})

    def test_a_wrong_line_is_told_with_its_number_and_nothing_is_pushed(self):
        hint = "; write 'index name address', or '-' and a reason as the address"
        for line, what in {
            "x a 10.0.0.1:1": "the index is not a number from 0 to 2147483647",
            "-1 a 10.0.0.1:1": "the index is not a number from 0 to 2147483647",
            "+1 a 10.0.0.1:1": "the index is not a number from 0 to 2147483647",
            "2147483648 a 10.0.0.1:1": "the index is not a number from 0 to 2147483647",
            "99999999999999999999 a 10.0.0.1:1": "the index is not a number from 0 to 2147483647",
            "0": "there is no name",
            "0 a": "there is no address",
            "0 a 10.0.0.1": "'10.0.0.1' is not an address: it has no port",
        }.items():
            with self.subTest(line):
                self.failure(response(body=f"0 a 10.0.0.1:1\n{line}".encode()), 15, f"{URL}:2: {what}{hint}")

    def test_a_roster_of_nothing_and_one_of_garbage_are_told(self):
        self.failure(response(body=b"# nobody\n"), 5, f"the roster at {URL} has no member")
        self.failure(response(body=b""), 5, f"the roster at {URL} has no member")
        self.failure(response(body=b"0 a\xff 10.0.0.1:1"), 15, f"the roster at {URL} is not UTF-8")

    def test_a_plan_has_one_request(self):
        self.assertEqual(self.core().run("PLAN", members=3)[1], [("add_planned", {"api": "roster", "request": "GET", "least": 1, "most": 1})])

    # ---- Watch

    def watch(self, *answers):
        turns, now = iter(answers), [0]

        def get_time(core, id, message):
            return {"number": now[0]}

        def send_http(core, id, message):
            now[0] += 250000000
            return next(turns, {"code": 1, "message": "cancelled"})

        return self.core(port=1).run("WATCH", {
            "check_address": check_address, "get_variable": {"code": 5}, "commit": {}, "sleep": {}, "get_time": get_time, "send_http": send_http}, seconds=1e9)

    def test_a_watch_commits_what_has_changed_and_waits_for_the_rest(self):
        answer, frames = self.watch(response(ETag='"1"'), response(304, b""), response(body=b"0 a 10.0.0.9:1", etag='"2"'))
        self.assertEqual(answer["code"], 1)
        self.assertEqual([kind for kind, _ in frames if kind in ("send_http", "add_task", "commit")],
                         ["send_http", "add_task", "add_task", "commit", "send_http", "send_http", "add_task", "commit", "send_http"])
        headers = [{header["name"]: header["value"] for header in message["request"]["headers"]} for kind, message in frames if kind == "send_http"]
        self.assertEqual([(one.get("If-None-Match"), one.get("Prefer")) for one in headers],
                         [(None, None), (b'"1"', b"wait=30"), (b'"1"', b"wait=30"), (b'"2"', b"wait=30")])
        self.assertEqual([message["request"].get("timeout_ns", 0) for kind, message in frames if kind == "send_http"], [0] + [60 * 10**9] * 3)

    def test_a_watch_asks_at_most_once_a_second(self):
        _, frames = self.watch(response(ETag='"1"'), response(304, b""))
        self.assertEqual([message for kind, message in frames if kind == "sleep"], [{"duration_ns": 750000000}] * 2)

    def test_without_an_etag_there_is_nothing_to_watch(self):
        answer, frames = self.watch(response())
        self.assertEqual((answer["code"], answer["message"]), (12, "the server of the roster gives no ETag, so it is polled"))
        self.assertNotIn("add_task", [kind for kind, _ in frames])

    def test_a_watch_that_fails_says_why(self):
        answer, _ = self.watch(response(ETag='"1"'), response(503))
        self.assertEqual((answer["code"], answer["message"]), (14, f"the roster at {URL} was not given: HTTP 503"))


if __name__ == "__main__":
    unittest.main()

"""A backend that does what its option `do` says, for frames_test.py. tests/sdk/probe is the same in Go."""
import json
import os
import signal
import sys
import time

import muster_backend
from muster_backend import UNRANKED, Code, Failure, HttpRequest, LogLevel

DESCRIPTOR = {"name": "probe", "version": "1.2.3", "abi": {"major": 1, "minor": 0}, "description": "What a test says.", "options": {"type": "object"}}


class Probe:
    def __init__(self, options, host):
        self.do = options.get("do", "")
        self.host = host
        if self.do == "create fails":
            raise Failure(Code.INVALID_ARGUMENT, "the option do is wrong", {"option": "/do"})
        if self.do == "create breaks":
            raise KeyError("do")

    def resolve(self, call):
        getattr(self, self.do.replace(" ", "_"))(call)

    def watch(self, call):
        for count in range(1, 4):
            call.add_task("worker", 0, f"generation-{count}", "10.0.0.1:1")
            call.commit()
        while True:
            call.sleep(3600)

    def permissions(self, call, request):
        call.add_permission("namespace ml", "list pods", "ServiceAccount", request.principal)
        if request.watch:
            call.add_permission("namespace ml", "watch pods")
        call.set_grant("sh", "# grant\n")

    def plan(self, call, members):
        call.add_planned("roster", "GET", 1, members, "one a member", "read requests", 600)

    # ---- What resolve does

    def push(self, call):
        call.mark_secret("a-secret")
        call.progress("pushing")
        call.set_attribute("rpc_layer", "grpc")
        call.add_job("worker")
        call.add_task("worker", UNRANKED, "a", "10.0.0.1:8470")
        call.add_task("worker", 2147483647, "", "fd00::2", 8471)
        call.set_attribute("zone", "z\u00fcrich")
        call.add_missing("worker", 3, "c", "Pending")
        call.set_expected("worker", 300)
        call.set_identity("worker", 0, "HOSTNAME is 'a'")
        call.set_identity("", UNRANKED, "by name", "a")
        call.add_warning("slow")
        call.log(LogLevel.WARNING, "two\nlines")

    def services(self, call):
        out = {
            "path": self.host.path,
            "address": call.check_address("10.0.0.1:1"),
            "no_address": self.host.check_address("10.0.0.1"),
            "monotonic": call.monotonic_ns(),
            "realtime": call.realtime_ns(),
            "set": call.variable("SET"),
            "unset": call.variable("UNSET"),
            "hostname": call.hostname(),
            "no_hostname": not call.hostname(),
            "file": len(call.file("~/roster", 100, secret=True)),
            "terminal": call.has_terminal(),
        }
        call.sleep(1.5)
        try:
            call.file("/nowhere")
        except Failure as failure:
            out["nowhere"] = [int(failure.code), failure.message, failure.details]
        response = call.http(HttpRequest(
            "POST", "http://h/p", {"Accept": "text/plain"}, b"body", "a purpose", 5, 1.0, 2.0, True, False, True, True, True, True,
            "http://proxy:1", b"ca", b"certificate", b"key", "name"))
        out["http"] = [response.status, response.header("ETAG"), response.header("none"), response.body.decode()]
        result = call.run_program(["p", "", "x"], environment={"A": "b"}, terminal=True, maximum_output_size=7, timeout=3)
        out["program"] = [result.exit_status, result.output.decode(), result.error_output, result.keep]
        call.add_warning(json.dumps(out, sort_keys=True))

    def stream(self, call):
        def take(piece):
            call.add_warning(piece.decode() + " " + call.variable("NESTED"))

        response = call.http(HttpRequest("GET", "http://h/stream"), take)
        call.add_warning(f"{response.status} {len(response.body)}")

    def stop_stream(self, call):
        def take(piece):
            raise Failure(Code.DATA_LOSS, "piece " + piece.decode(), {"hint": "mend it"})

        call.http(HttpRequest("GET", "http://h/stream"), take)

    def streams(self, call):
        first = call.begin_http(HttpRequest("GET", "http://h/1"), lambda piece: call.add_warning("1 " + piece.decode()))
        second = call.begin_http(HttpRequest("GET", "http://h/2"))
        end = call.next_http(1)
        call.add_warning(f"none {end is None}")
        end = call.next_http(1)
        call.add_warning(f"{end.number == second} {end.response.status} {end.response.body.decode()}")
        end = call.next_http(1)
        call.add_warning(f"{end.number == first} {int(end.failure.code)} {end.failure.message}")
        call.end_http(first)

    def fail(self, call):
        raise Failure(Code.PERMISSION_DENIED, "not for you", {"http_status": 403, "hint": "ask"})

    def break_down(self, call):
        raise ValueError("seven")

    def fail_with_ok(self, call):
        raise Failure(Code.OK, "no failure")

    def push_for_ever(self, call):
        n = 0
        while True:
            call.add_task("worker", n, f"n{n}", "10.0.0.1:1")
            n += 1

    def sleep(self, call):
        call.sleep(3600)

    def spin(self, call):
        call.progress("spinning")
        while not call.cancelled:
            time.sleep(0.001)

    def ignore(self, call):
        call.progress("ignoring")
        time.sleep(3600)

    def many(self, call):
        for n in range(100000):
            call.add_task("worker", n, f"node-{n}", "10.0.0.1:8470")

    def swallow(self, call):
        while True:
            try:
                call.add_task("worker", 0, "a", "10.0.0.1:1")
            except Failure:
                return

    def crash(self, call):
        print("on its way", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    def leak(self, call):
        secret = call.file(call.variable("SECRET_FILE")).decode()
        call.mark_secret(secret)
        call.log(LogLevel.WARNING, "read " + secret)
        call.add_warning("read " + secret)
        raise Failure(Code.UNAUTHENTICATED, f"{secret} is refused", {"hint": f"renew {secret}"})

    def say(self, call):
        print("standard output")


if __name__ == "__main__":
    muster_backend.main(Probe, DESCRIPTOR)

"""A running muster-sim for script tests: starts it on a scenario, asks it, stops it."""
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import urllib.parse


class Sim:
    """with Sim(PROGRAM, SCENARIO_TEXT) as sim: ... ; it stops at the end of its stdin, whatever happens here."""

    def __init__(self, program, scenario, *arguments):
        self.folder = tempfile.TemporaryDirectory(prefix="muster-sim-test.")
        path = os.path.join(self.folder.name, "world.yaml")
        with open(path, "w") as file:
            file.write(scenario)
        self.process = subprocess.Popen(
            [program, path, "--stop-on-eof", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("muster-sim did not start")
        self.ready = json.loads(line)
        self.url = urllib.parse.urlsplit(self.ready["url"])
        with open(self.ready["token_file"]) as file:
            self.token = file.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.code = self.process.wait(timeout=10)
        self.process.stdout.close()
        self.folder.cleanup()

    def connect(self, certificate=False, context=None, timeout=10):
        if self.url.scheme == "http":
            return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=timeout)
        if context is None:
            context = ssl.create_default_context(cafile=self.ready["ca"])
            if certificate:
                context.load_cert_chain(self.ready["client_certificate"], self.ready["client_key"])
        return http.client.HTTPSConnection(self.url.hostname, self.url.port, timeout=timeout, context=context)

    def get(self, path, headers=None, connection=None, method="GET", body=None):
        """The response with .body (bytes) read; raises what http.client raises when the connection is cut."""
        own = connection is None
        connection = connection or self.connect()
        connection.request(method, path, body=body, headers=headers or {})
        response = connection.getresponse()
        response.body = response.read()
        if own:
            connection.close()
        return response

    def bearer(self, token=None):
        return {"Authorization": "Bearer " + (token or self.token)}

    def json(self, path, headers=None):
        return json.loads(self.get(path, headers or self.bearer()).body)

    def requests(self):
        return json.loads(self.get("/_sim/requests").body)["requests"]

    def reset(self):
        self.get("/_sim/reset", method="POST")


class Checks:
    """Counts what holds and tells what does not; each check is a sentence."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, sentence, holds, detail=""):
        if holds:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED: {sentence}\n  {detail}", file=sys.stderr)

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)

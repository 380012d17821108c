#!/usr/bin/env python3
"""The backend roster as its users meet it: asked by the command `muster`, with a list on a server of its own.

    python3 test_roster.py          # the backend is in this folder, or where PLUGIN_DIR says

MUSTER names the command, if it is not on the PATH.
"""
import http.server
import json
import os
import select
import socket
import subprocess
import threading
import unittest

MUSTER = os.environ.get("MUSTER", "muster")
PLUGIN_DIR = os.environ.get("PLUGIN_DIR", os.path.dirname(os.path.abspath(__file__)))
TOKEN = "a-token-that-nobody-may-see"
LIST = """# name address
node-10 10.0.0.10:8470
node-2 [fd00::2]:8470
node-3 - powered off since Monday
node-1 10.0.0.1:8470
"""


class Server(http.server.ThreadingHTTPServer):
    """Serves one list. `status` other than 200 takes its place; without `etags` it cannot be watched."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.list, self.status, self.token, self.etags = LIST, 200, None, True
        self.asked = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/members"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        world = self.server
        world.asked.append(dict(self.headers))
        body = world.list.encode("latin-1")
        etag = f'"{hash(world.list)}"'
        status = world.status
        if world.token and self.headers.get("Authorization") != f"Bearer {world.token}":
            status = 401
        if status == 200 and world.etags and self.headers.get("If-None-Match") == etag:
            status = 304
        if status != 200:
            body = b"" if status == 304 else b"no list here\n"
        self.send_response(status)
        if world.etags:
            self.send_header("ETag", etag)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


class Backend(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.stop)

    def words(self, command, **options):
        words = [MUSTER, command, "--plugin-dir", PLUGIN_DIR, "--backend", "roster"]
        for key, value in {"url": self.server.url, **options}.items():
            words += ["-O", f"{key}={value}"]
        return words

    def environment(self, me):
        return {"PATH": os.environ["PATH"], "HOME": "/", "ME": me}

    def resolve(self, status=0, me="", **options):
        """One resolve that ends with this exit status: its answer, or what it said of its failure."""
        run = subprocess.run([*self.words("resolve", **options), "--timeout", "5s", "-o", "json"], text=True,
                             stdin=subprocess.DEVNULL, capture_output=True, env=self.environment(me), timeout=30)
        self.assertNotIn(TOKEN, run.stdout + run.stderr)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        return json.loads(run.stdout) if run.stdout else run.stderr

    def test_members_are_ranked_by_name_and_one_without_an_address_keeps_its_rank(self):
        answer = self.resolve(status=10)
        self.assertEqual(answer["cluster"], {"worker": {"0": "10.0.0.1:8470", "1": "[fd00::2]:8470", "3": "10.0.0.10:8470"}})
        self.assertEqual(answer["jobs"]["worker"]["missing"],
                         [{"index": 2, "name": "node-3", "reason": "powered off since Monday"}])

    def test_the_process_is_found_by_its_name(self):
        task = self.resolve(status=10, me="node-2", identity_variable="ME")["task"]
        self.assertEqual((task["type"], task["index"], task["evidence"]), ("worker", 1, ["ME is 'node-2'"]))

    def test_the_process_is_found_by_the_name_of_its_host(self):
        name = socket.gethostname()
        self.server.list = f"{name} 10.0.0.1:1\n{name}-2 10.0.0.2:1\n"
        task = self.resolve()["task"]
        self.assertEqual((task["type"], task["index"], task["evidence"]), ("worker", 0, [f"the host's name is '{name}'"]))

    def test_the_job_and_the_port_are_options(self):
        self.server.list = "a 10.0.0.1\nb fd00::2\nc [fd00::3]:9\r\n"
        answer = self.resolve(job="ps", port=2222)
        self.assertEqual(answer["cluster"], {"ps": ["10.0.0.1:2222", "[fd00::2]:2222", "[fd00::3]:9"]})

    def test_an_empty_list_is_a_job_without_members_and_not_complete(self):
        self.server.list = ""
        self.assertEqual(self.resolve(status=10)["cluster"], {"worker": []})

    def test_the_token_is_sent_and_shown_nowhere(self):
        self.server.token, self.server.list = TOKEN, "a 10.0.0.1:1\n"
        self.assertEqual(self.resolve(token=TOKEN)["cluster"], {"worker": ["10.0.0.1:1"]})
        self.assertIn("/members answered with status 401", self.resolve(status=13))

    def test_a_line_that_is_wrong_is_told_with_its_place(self):
        for line, told in (("a", "there is no address"), ("a 10.0.0.1", "it has no port"),
                           ("a 10.0.0.1:1 more", "there is a third word"), ("caf\xe9 a:1", "there is a byte that is no printable ASCII")):
            self.server.list = "x 10.0.0.9:1\n" + line + "\n"
            said = self.resolve(status=14)
            self.assertIn(f"{self.server.url}:2: ", said)
            self.assertIn(told, said)
            self.assertIn("a line is 'name address', or 'name -' and why it has none", said)

    def test_a_status_is_told_with_what_it_means(self):
        for status, code in ((403, 13), (404, 11), (418, 12), (503, 14)):
            self.server.status = status
            said = self.resolve(status=code)
            if status < 500:
                self.assertIn(f"/members answered with status {status}", said)

    def test_a_watch_sees_a_change_and_asks_for_nothing_else(self):
        self.server.list = "a 10.0.0.1:1\n"
        watch = subprocess.Popen([*self.words("watch"), "--interval", "1s", "-o", "addresses"], stdin=subprocess.DEVNULL, bufsize=0,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.environment(""))
        self.addCleanup(watch.stdout.close)
        self.addCleanup(watch.wait)
        self.addCleanup(watch.kill)

        def line():
            self.assertTrue(select.select([watch.stdout], [], [], 20)[0], "the watch says nothing")
            return watch.stdout.readline().decode()

        self.assertEqual(line(), "10.0.0.1:1\n")
        self.server.list = "a 10.0.0.1:1\nb 10.0.0.2:1\n"
        self.assertEqual([line(), line(), line()], ["\n", "10.0.0.1:1\n", "10.0.0.2:1\n"])
        self.assertIn("If-None-Match", self.server.asked[-1])


if __name__ == "__main__":
    unittest.main()

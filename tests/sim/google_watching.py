"""muster watch with a backend of Google Cloud on a VM of a sim, and what it tells."""
import json
import os
import subprocess
import threading
import time
import unittest

from google_asking import MUSTER, PLUGINS

METADATA = "/computeMetadata/v1/instance/"


def change(sim, text):
    answer = sim.get("/_sim/scenario", method="PUT", body="google:\n" + text)
    assert answer.status // 100 == 2, answer.body


def metadata_requests(sim, key=""):
    return [one for one in sim.requests() if one["path"].startswith(METADATA + key)]


class Watching(unittest.TestCase):
    def watch_backend(self, backend, sim, given, server=None, interval="1h", key=None, isolate=os.environ.get("MUSTER_ISOLATE", "auto")):
        """muster watch with the token of the sim, or with its credential file `key`, on the VM of `server` (None: of the sim; False: no VM), and what it tells."""
        variables = {"PATH": os.environ.get("PATH", ""), "HOME": sim.folder.name, "NO_GCE_CHECK": "true", "MUSTER_ISOLATE": isolate}
        variables.update({name: value for name, value in os.environ.items() if "SAN_OPTIONS" in name or name == "LD_PRELOAD"})
        if server is not False:
            variables["GCE_METADATA_HOST"] = (server or sim).ready["url"].removeprefix("http://")
        if key:
            variables["GOOGLE_APPLICATION_CREDENTIALS"] = os.path.join(sim.ready["google"], key)
        else:
            given = [*given, f"access_token={sim.token}"]
        process = subprocess.Popen([MUSTER, "watch", "--plugin-dir", PLUGINS, "--backend", backend, "--interval", interval, "-o", "json",
                                    *(word for one in given for word in ("-O", one))],
                                   env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.events, process.talk = [], []

        def read():
            text = ""
            for line in process.stdout:
                text += line
                if line == "}\n":
                    process.events.append((time.monotonic(), json.loads(text)))
                    text = ""
        threads = [threading.Thread(target=target, daemon=True) for target in (read, lambda: process.talk.extend(process.stderr))]
        for thread in threads:
            thread.start()

        def stop():
            process.kill()
            process.wait()
            for stream, thread in zip((process.stdout, process.stderr), threads):
                thread.join()
                stream.close()
        self.addCleanup(stop)
        return process

    def until(self, holds, process, within=20):
        end = time.monotonic() + within
        while not holds():
            self.assertLess(time.monotonic(), end, (process.events, process.talk))
            time.sleep(0.01)

    def event(self, process, number, within=20):
        """The answer of that event, from 1 on; there is no later one."""
        self.until(lambda: len(process.events) >= number, process, within)
        self.assertEqual(len(process.events), number, process.events)
        return process.events[number - 1][1]

    def listening(self, sim, process):
        """Both long polls go on: the questions for what holds now have been answered."""
        self.until(lambda: len(metadata_requests(sim, "preempted")) >= 1 and len(metadata_requests(sim, "maintenance-event")) >= 1, process)

    def missing(self, answer):
        return {one["name"]: one["reason"] for one in answer["jobs"]["worker"]["missing"]}

    def attributes(self, answer, name):
        return next(task["attributes"] for task in answer["tasks"] if task["name"] == name)

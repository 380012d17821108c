"""One run of the muster command beside a sim, and what came of it."""
import json
import os
import subprocess


class Run:
    """What one run of muster said: code, out, err, and the answer when it printed JSON."""

    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr
        self.all = self.out + self.err
        try:
            self.answer = json.loads(self.out)
        except ValueError:
            self.answer = None

    def cluster(self):
        return self.answer["cluster"]

    def missing(self, job="worker"):
        return {one["name"]: one["reason"] for one in self.answer["jobs"][job]["missing"]}

    def attributes(self, name):
        return next(task["attributes"] for task in self.answer["tasks"] if task["name"] == name)

    def __repr__(self):
        return f"status {self.code}\n{self.out}{self.err}"


def run(command, sim, env, timeout):
    """A Run of `command`, whose environment is `env` (None takes a variable away) and nothing else of this process's."""
    clean = {"PATH": os.environ.get("PATH", ""), "HOME": sim.folder.name}
    # Of a sanitizer or coverage build; and for a whole suite with every backend isolated.
    clean.update({name: value for name, value in os.environ.items() if "SAN_OPTIONS" in name or name in ("LD_PRELOAD", "MUSTER_ISOLATE")})
    clean.update(env)
    return Run(subprocess.run(command, env={name: value for name, value in clean.items() if value is not None},
                              capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL))

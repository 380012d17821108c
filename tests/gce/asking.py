"""One run of the muster command with the gce backend against a sim, and what came of it.

    python3 SOME_test.py MUSTER PLUGIN_DIR MUSTER_SIM
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from sim_world import Sim  # noqa: E402

MUSTER, PLUGINS, SIM = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))

ZONE = "europe-west9-b"


def world(text, *arguments):
    """A running sim whose google part is `text`."""
    return Sim(SIM, "google:\n" + text, *arguments)


def group(count, more="", instances=""):
    """A managed zonal group 'grape' of `count` running instances w-0, w-1, ..."""
    return f"""\
  instances:
    - {{name: "w-{{0..{count - 1}}}", zone: {ZONE}, ip: "10.40.{{i/256}}.{{i%256}}"{instances}}}
  groups:
    - name: grape
      zone: {ZONE}
      members: [{{name: "w-{{0..{count - 1}}}"}}]
{more}"""


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


def endpoint(sim):
    return sim.ready["url"] + "/compute/v1"


def ask(sim, *options, env=None, arguments=(), verb="resolve", form="json", group="grape", key="service_account.json"):
    """muster on the group with a clean environment, as the sim's service account; `key` None: as `env` and options say."""
    clean = {"PATH": os.environ.get("PATH", ""), "HOME": sim.folder.name}
    # Of a sanitizer or coverage build.
    clean.update({name: value for name, value in os.environ.items() if "SAN_OPTIONS" in name or name == "LD_PRELOAD"})
    if key:
        clean["GOOGLE_APPLICATION_CREDENTIALS"] = os.path.join(sim.ready["google"], key)
    clean.update(env or {})
    command = [MUSTER, verb, "--plugin-dir", PLUGINS, "--backend", "gce"]
    given = [f"endpoint={endpoint(sim)}", "project=orchard", f"zone={ZONE}"]
    if group:
        given.append(f"instance_group={group}")
    names = {option.split("=", 1)[0] for option in options}
    given = [one for one in given if one.split("=", 1)[0] not in names and not (one.startswith("zone=") and "region" in names)]
    for option in [*given, *options]:
        if not option.endswith("="):
            command += ["-O", option]
    if verb == "resolve":
        command += ["-o", form]
    process = subprocess.run([*command, *arguments], env={k: v for k, v in clean.items() if v is not None},
                             capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
    return Run(process)


def api_requests(sim):
    """The requests to Compute Engine that the sim has seen."""
    return [request for request in sim.requests() if request["path"].startswith("/compute/")]

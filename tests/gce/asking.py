"""One run of the muster command with the gce backend against a sim, and what came of it.

    python3 SOME_test.py MUSTER PLUGIN_DIR MUSTER_SIM
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from muster_run import run  # noqa: E402
from sim_world import Sim  # noqa: E402

MUSTER, PLUGINS, SIM = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))

ZONE = "europe-west9-b"


def world(text, *arguments):
    """A running sim whose google part is `text`."""
    return Sim(SIM, "google:\n" + text, *arguments)


def tls_world(text):
    """The same behind TLS, as federation by certificate needs it."""
    return Sim(SIM, "tls: true\ngoogle:\n" + text)


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


def endpoint(sim):
    return sim.ready["url"] + "/compute/v1"


def ask(sim, *options, env=None, arguments=(), verb="resolve", form="json", group="grape", key="service_account.json"):
    """muster on the group with a clean environment, as the sim's service account; `key` None: as `env` and options say."""
    key_file = {"GOOGLE_APPLICATION_CREDENTIALS": os.path.join(sim.ready["google"], key)} if key else {}
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
    return run([*command, *arguments], sim, {**key_file, **(env or {})}, 100)


def api_requests(sim):
    """The requests to Compute Engine that the sim has seen."""
    return [request for request in sim.requests() if request["path"].startswith("/compute/")]

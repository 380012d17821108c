"""One run of the muster command with the tpu backend against a sim, and what came of it.

    python3 SOME_test.py MUSTER PLUGIN_DIR MUSTER_SIM
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from muster_run import run  # noqa: E402
from sim_world import Sim  # noqa: E402

MUSTER, PLUGINS, SIM = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))

ZONE = "europe-west4-b"


def world(text, *arguments):
    """A running sim whose google part is `text`."""
    return Sim(SIM, "google:\n" + text, *arguments)


def tpu(more="", name="plum", **keys):
    """A TPU 'plum' of four hosts 10.164.0.1, .2, ...; `keys` are further ones of its entry."""
    entry = {"zone": ZONE, "health": "HEALTHY", **keys}
    return f"  tpus:\n    - {{name: \"{name}\", {', '.join(f'{key}: {value}' for key, value in entry.items())}}}\n{more}"


def metadata(sim):
    """What puts a run onto the VM of the sim."""
    return {"GCE_METADATA_HOST": sim.ready["url"].removeprefix("http://")}


def ask(sim, *options, env=None, arguments=(), verb="resolve", form="json", name="plum", key="service_account.json"):
    """muster on the TPU with a clean environment, as the sim's service account; `key` None: as `env` and options say."""
    key_file = {"GOOGLE_APPLICATION_CREDENTIALS": os.path.join(sim.ready["google"], key)} if key else {}
    command = [MUSTER, verb, "--plugin-dir", PLUGINS, "--backend", "tpu"]
    given = [f"endpoint={sim.ready['url']}", "project=orchard", f"zone={ZONE}"]
    if name:
        given.append(f"tpu={name}")
    names = {option.split("=", 1)[0] for option in options}
    given = [one for one in given if one.split("=", 1)[0] not in names]
    for option in [*given, *options]:
        if not option.endswith("="):
            command += ["-O", option]
    if verb == "resolve":
        command += ["-o", form]
    return run([*command, *arguments], sim, {**key_file, **(env or {})}, 100)


def api_requests(sim):
    """The requests to Cloud TPU that the sim has seen."""
    return [request for request in sim.requests() if "/locations/" in request["path"]]

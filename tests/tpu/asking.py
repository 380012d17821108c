"""One run of the muster command with the tpu backend against a sim, and what came of it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from google_asking import MUSTER, PLUGINS, SIM, ask_backend, metadata, world  # noqa: E402, F401

ZONE = "europe-west4-b"


def tpu(more="", name="plum", **keys):
    """A TPU 'plum' of four hosts 10.164.0.1, .2, ...; `keys` are further ones of its entry."""
    entry = {"zone": ZONE, "health": "HEALTHY", **keys}
    return f"  tpus:\n    - {{name: \"{name}\", {', '.join(f'{key}: {value}' for key, value in entry.items())}}}\n{more}"


def ask(sim, *options, env=None, arguments=(), verb="resolve", form="json", name="plum", key="service_account.json"):
    """muster on the TPU, as the sim's service account."""
    given = [f"endpoint={sim.ready['url']}", "project=orchard", f"zone={ZONE}"]
    if name:
        given.append(f"tpu={name}")
    return ask_backend("tpu", sim, given, options, env, arguments, verb, form, key)


def api_requests(sim):
    """The requests to Cloud TPU that the sim has seen."""
    return [request for request in sim.requests() if "/locations/" in request["path"]]

"""One run of the muster command with the gce backend against a sim, and what came of it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from google_asking import MUSTER, PLUGINS, SIM, ask_backend, metadata, resolve_file, tls_world, world  # noqa: E402, F401

ZONE = "europe-west9-b"


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
    """muster on the group, as the sim's service account."""
    given = [f"endpoint={endpoint(sim)}", "project=orchard"]
    if not any(option.startswith("region=") for option in options):
        given.append(f"zone={ZONE}")
    if group:
        given.append(f"instance_group={group}")
    return ask_backend("gce", sim, given, options, env, arguments, verb, form, key)


def api_requests(sim):
    """The requests to Compute Engine that the sim has seen."""
    return [request for request in sim.requests() if request["path"].startswith("/compute/")]

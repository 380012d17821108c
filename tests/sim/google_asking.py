"""What the tests of the backends of Google Cloud have in common: worlds, and one run of the muster command against a sim.

    python3 SOME_test.py MUSTER PLUGIN_DIR MUSTER_SIM
"""
import os
import sys

from muster_run import run
from sim_world import Sim

MUSTER, PLUGINS, SIM = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


def world(text, *arguments):
    """A running sim whose google part is `text`."""
    return Sim(SIM, "google:\n" + text, *arguments)


def tls_world(text):
    """The same behind TLS, as federation by certificate needs it."""
    return Sim(SIM, "tls: true\ngoogle:\n" + text)


def metadata(sim):
    """What puts a run onto the VM of the sim."""
    return {"GCE_METADATA_HOST": sim.ready["url"].removeprefix("http://")}


def resolve_file(sim, path, key, *arguments):
    """muster resolve of a configuration file, with the credential file `key` of the sim; None: on its VM."""
    who = {"GOOGLE_APPLICATION_CREDENTIALS": os.path.join(sim.ready["google"], key)} if key else metadata(sim)
    return run([MUSTER, "resolve", "--plugin-dir", PLUGINS, "-f", path, "-o", "json", *arguments], sim, who, 100)


def ask_backend(backend, sim, given, options, env, arguments, verb, form, key):
    """muster with the backend in a clean environment, with the credential file `key` of the sim; None: as `env` and options say. An option
    in `options` stands for the one of that name in `given`; without a value it takes that away."""
    key_file = {"GOOGLE_APPLICATION_CREDENTIALS": os.path.join(sim.ready["google"], key)} if key else {}
    command = [MUSTER, verb, "--plugin-dir", PLUGINS, "--backend", backend]
    names = {option.split("=", 1)[0] for option in options}
    for option in [*(one for one in given if one.split("=", 1)[0] not in names), *options]:
        if not option.endswith("="):
            command += ["-O", option]
    if verb == "resolve":
        command += ["-o", form]
    return run([*command, *arguments], sim, {**key_file, **(env or {})}, 100)

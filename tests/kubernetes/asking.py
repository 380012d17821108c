"""One run of the muster command against a sim, and what came of it.

    python3 SOME_test.py MUSTER PLUGIN_DIR MUSTER_SIM
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from muster_run import run  # noqa: E402
from sim_world import Sim  # noqa: E402

MUSTER, PLUGINS, SIM = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


def world(text):
    """A running sim over TLS whose kubernetes part is `text`."""
    return Sim(SIM, "tls: true\nkubernetes:\n  namespaces: [ml, other]\n" + text)


def ask(sim, mapping="{worker: [app=t]}", *arguments, options=(), env=None, verb="resolve", form="json", before=(), file=None):
    """muster on `mapping` (None: what the options say) with a clean environment; KUBECONFIG is the sim's unless `env` says otherwise."""
    command = [*before, MUSTER, verb, "--plugin-dir", PLUGINS]
    command += ["-f", file] if file else ["--backend", "kubernetes"]
    if mapping and not file:
        command += ["-O", f"job_to_label_mapping={mapping}"]
    for option in options:
        command += ["-O", option]
    if verb == "resolve":
        command += ["-o", form]
    return run([*command, *arguments], sim, {"KUBECONFIG": sim.ready["kubeconfig"], **(env or {})}, 60)


def lists(sim):
    """The requests for pods that the sim has seen."""
    return [request for request in sim.requests() if request["path"].endswith("/pods")]


def kubectl_or_skip():
    """Where kubectl is; without one the test says SKIP and ends with 77."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        print("SKIP: NO KUBECTL on PATH; one builds: cd tests/sim/kubectl && go build -o SOMEWHERE/kubectl .", file=sys.stderr)
        sys.exit(77)
    return kubectl

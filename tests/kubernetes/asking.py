"""One run of the muster command against a sim, and what came of it.

    python3 SOME_test.py MUSTER PLUGIN_DIR MUSTER_SIM
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from sim_world import Sim  # noqa: E402

MUSTER, PLUGINS, SIM = (os.path.abspath(sys.argv.pop(1)) for _ in range(3))


def world(text):
    """A running sim over TLS whose kubernetes part is `text`."""
    return Sim(SIM, "tls: true\nkubernetes:\n  namespaces: [ml, other]\n" + text)


class Run:
    """What one run of muster said: code, out, err, and the answer when it printed JSON."""

    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr
        self.all = self.out + self.err
        try:
            self.answer = json.loads(self.out)
        except ValueError:
            self.answer = None

    def jobs(self):
        return self.answer["cluster"]

    def __repr__(self):
        return f"status {self.code}\n{self.out}{self.err}"


def ask(sim, mapping="{worker: [app=t]}", *arguments, options=(), env=None, verb="resolve", form="json", before=(), file=None):
    """muster on `mapping` (None: what the options say) with a clean environment; KUBECONFIG is the sim's unless `env` says otherwise."""
    clean = {"PATH": os.environ.get("PATH", ""), "HOME": sim.folder.name, "KUBECONFIG": sim.ready["kubeconfig"]}
    # Of a sanitizer or coverage build.
    clean.update({key: value for key, value in os.environ.items() if "SAN_OPTIONS" in key or key == "LD_PRELOAD"})
    clean.update(env or {})
    command = [*before, MUSTER, verb, "--plugin-dir", PLUGINS]
    command += ["-f", file] if file else ["--backend", "kubernetes"]
    if mapping and not file:
        command += ["-O", f"job_to_label_mapping={mapping}"]
    for option in options:
        command += ["-O", option]
    if verb == "resolve":
        command += ["-o", form]
    process = subprocess.run([*command, *arguments], env={k: v for k, v in clean.items() if v is not None},
                             capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return Run(process)


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

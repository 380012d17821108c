"""A world for the command: a folder, an environment of nothing but what a test says, a cloud, and one run."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from sim_world import Sim

MUSTER = os.environ["MUSTER"]
SIM = os.environ["MUSTER_SIM"]
SOURCE = os.environ["MUSTER_SOURCE"]
TEST_PLUGINS = os.environ["MUSTER_TEST_PLUGINS"]
# Time for a process to begin and end on a busy machine, over what a promise says.
OVERHEAD = float(os.environ.get("MUSTER_TEST_OVERHEAD", "1.0"))

STATIC = """cluster:
  backend: static
  options: {cluster_spec: {worker: ["10.0.0.1:8470", "[fd00::2]:8470"], ps: ["ps-0:2222"]}}
"""

TOKEN = "0123-a-token-that-nobody-may-see-4567"
CLOUD = """
tls: true
kubernetes:
  auth: {token: %s}
  namespaces: [ml, secret, empty]
  page_size: 3
  pods:
    - {name: "w-{0..6}", namespace: ml, labels: {role: worker}, ip: "10.8.0.{1..7}"}
    - {name: six, namespace: ml, labels: {role: chief}, ip: "fd00:8::1"}
    - {name: p-0, namespace: ml, labels: {role: ps}, phase: Pending, reason: "Unschedulable: 0/4 nodes are available"}
  forbid: [{resource: pods, namespace: secret}]
""" % TOKEN


def cloud(faults="", scenario=CLOUD):
    """A muster-sim; `faults` is the YAML of one or more list entries."""
    lines = "".join(f"    - {{match: \"GET /api/v1/*\", {fault}}}\n" for fault in faults.split(";") if fault)
    return Sim(SIM, scenario + ("  faults:\n" + lines if lines else ""))


def kubernetes(sim, roles="worker", **options):
    """Arguments that ask this cloud without a config file."""
    mapping = ", ".join(f'{role}: "role={role}"' for role in roles.split())
    values = {"kubeconfig": sim.ready["kubeconfig"], "namespace": "ml",
              "job_to_label_mapping": "{%s}" % mapping, **options}
    return ["--backend", "kubernetes", *[word for key, value in values.items() for word in ("-O", f"{key}={value}")]]


class World(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="muster-command.")
        self.addCleanup(shutil.rmtree, self.folder)
        self.secrets = {TOKEN}

    def file(self, name, text, mode=None):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)
        if mode is not None:
            os.chmod(path, mode)
        return path

    def plugin(self, name, folder="plugins", source=None):
        """A directory with a plugin of tests/loader in it, or with the file `source`."""
        directory = os.path.join(self.folder, folder)
        os.makedirs(directory, exist_ok=True)
        shutil.copy(source or os.path.join(TEST_PLUGINS, f"lib{name}.so"), os.path.join(directory, f"libmuster-{name}.so"))
        return directory

    def environment(self, **variables):
        return {"PATH": os.environ["PATH"], "HOME": self.folder, **variables}

    def muster(self, *words, status=0, env=None, stdin=subprocess.DEVNULL, text=True, timeout=60, **more):
        """One run; its status must be `status`, if that is not None. .stdout and .stderr are looked through for secrets."""
        given = {"input": stdin} if isinstance(stdin, str) else {"stdin": stdin}
        run = subprocess.run([MUSTER, *words], env=self.environment(**(env or {})), text=text,
                             timeout=timeout, **{"cwd": self.folder, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **given, **more})
        for stream in (run.stdout, run.stderr):
            shown = stream if isinstance(stream, str) else (stream or b"").decode(errors="replace")
            for secret in self.secrets:
                self.assertNotIn(secret, shown)
        self.assertNotIn("muster: muster", run.stderr if text else run.stderr.decode())
        if status is not None:
            self.assertEqual(run.returncode, status, f"\n{words}\nstdout: {run.stdout}\nstderr: {run.stderr}")
        return run

    def answer(self, *words, status=0, **more):
        return json.loads(self.muster("resolve", *words, "-o", "json", status=status, **more).stdout)


def main():
    unittest.main(verbosity=1)

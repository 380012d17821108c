#!/usr/bin/env python3
"""muster's own plugins pass muster-check, each with a recording of a resolve of its own.

    python3 own_test.py MUSTER_CHECK MUSTER PLUGIN_DIR MUSTER_SIM
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from checking import Checking

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sim"))
from sim_world import Sim  # noqa: E402

os.environ["MUSTER_CHECK"], MUSTER, PLUGINS, SIM = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))

PODS = """\
tls: true
kubernetes:
  namespaces: [ml]
  page_size: 2
  pods:
    - {name: "w-{0..4}", namespace: ml, labels: {app: t}, ip: "10.8.0.{1..5}"}
    - {name: "c-0", namespace: ml, labels: {app: c}, ip: "10.8.0.9"}
"""
JOB_SET = """\
tls: true
kubernetes:
  namespaces: [ml]
  objects:
    - apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: vintage, namespace: ml, uid: set-uid}
      spec: {replicatedJobs: [{name: slice, replicas: 1, template: {spec: {parallelism: 2, completions: 2}}}]}
  pods:
""" + "".join(f"""    - name: vintage-slice-0-{index}-x7k2p
      namespace: ml
      ip: 10.8.0.{index + 1}
      labels: {{jobset.sigs.k8s.io/jobset-name: vintage, jobset.sigs.k8s.io/jobset-uid: set-uid, jobset.sigs.k8s.io/replicatedjob-name: slice,
               jobset.sigs.k8s.io/job-index: "0", batch.kubernetes.io/job-completion-index: "{index}"}}
""" for index in (0, 1))
GROUP = """\
google:
  page_size: 2
  instances:
    - {name: "w-{0..3}", zone: europe-west9-b, ip: "10.40.0.{1..4}"}
  groups:
    - {name: grape, zone: europe-west9-b, members: [{name: "w-{0..3}"}]}
"""
TPU = """\
google:
  tpus:
    - {name: plum, zone: europe-west4-b, health: HEALTHY}
"""


class OwnPlugins(Checking, unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def record(self, backend, options, env):
        """Resolves once, and keeps what was asked and answered."""
        file = os.path.join(self.folder, "recording.yaml")
        command = [MUSTER, "resolve", "--plugin-dir", PLUGINS, "--backend", backend, "-o", "addresses", "--record", file]
        for name, value in options.items():
            command += ["-O", f"{name}={json.dumps(value)}"]
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return file

    def passes(self, backend, options, env=None, asks=True, skipped=()):
        """Every test passes, or is one of the groups that are `skipped`."""
        recording = self.record(backend, options, env or {})
        results = self.check("--options", json.dumps(options), "--recording", recording, os.path.join(PLUGINS, f"libmuster-{backend}.so"))
        left_out = {name.split(".")[0] for name in self.named(results, "skipped")}
        self.assertEqual(left_out, set(skipped))

    def test_static(self):
        self.passes("static", {"cluster_spec": {"worker": ["w-0:2222", "w-1:2222"], "ps": {"3": "p:1"}}, "task_type": "worker",
                               "task_id": 1}, skipped=["backend"])

    def test_tf_config(self):
        text = json.dumps({"cluster": {"worker": ["a:1", "b:1"], "chief": ["c:1"]}, "task": {"type": "worker", "index": 0}})
        self.passes("tf_config", {}, {"TF_CONFIG": text}, skipped=["backend"])

    def test_exec(self):
        self.passes("exec", {"command": ["/bin/echo", "worker 0 a:1\nworker 1 b:1 w-1"]}, skipped=["backend"])

    def test_kubernetes_by_labels(self):
        with Sim(SIM, PODS) as sim:
            self.passes("kubernetes", {"namespace": "ml", "page_size": 2, "job_to_label_mapping": {"worker": "app=t", "chief": "app=c"}},
                        {"KUBECONFIG": sim.ready["kubeconfig"]})

    def test_kubernetes_by_an_object(self):
        with Sim(SIM, JOB_SET) as sim:
            self.passes("kubernetes", {"namespace": "ml", "jobset": "vintage"}, {"KUBECONFIG": sim.ready["kubeconfig"]})

    def test_gce(self):
        with Sim(SIM, GROUP) as sim:
            self.passes("gce", {"endpoint": sim.ready["url"] + "/compute/v1", "project": "orchard", "zone": "europe-west9-b",
                                "instance_group": "grape"},
                        {"GOOGLE_APPLICATION_CREDENTIALS": os.path.join(sim.ready["google"], "service_account.json")})

    def test_tpu(self):
        with Sim(SIM, TPU) as sim:
            self.passes("tpu", {"endpoint": sim.ready["url"], "project": "orchard", "tpu": "plum"},
                        {"GOOGLE_APPLICATION_CREDENTIALS": os.path.join(sim.ready["google"], "service_account.json")})


if __name__ == "__main__":
    unittest.main(verbosity=1)

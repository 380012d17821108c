"""TensorFlow's TPUClusterResolver beside the tpu backend, both against one cloud: where TensorFlow's answer is right, muster gives it.

    python3 tpu.py LIBMUSTER.so PLUGIN_DIR MUSTER_SIM
"""

import datetime
import json
import os
import sys
import unittest
import unittest.mock

for folder in ("launcher", "sim"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder))
import muster_by_ctypes as muster  # noqa: E402
from sim_world import Sim  # noqa: E402

LIBRARY, PLUGIN_DIR, SIM = sys.argv[1:4]
del sys.argv[1:]
muster.load(LIBRARY)

import tensorflow as tf  # noqa: E402
from absl import flags  # noqa: E402

flags.FLAGS([sys.argv[0]])  # TensorFlow's client looks into them

TPU = tf.distribute.cluster_resolver.TPUClusterResolver
ZONE = "europe-west4-b"


class Service:
    """What TensorFlow takes for Google's client library: it asks the sim for nodes of API v1."""

    def __init__(self, sim):
        self.sim = sim

    def projects(self):
        return self

    locations = nodes = projects

    def get(self, name):
        self.name = name
        return self

    def execute(self):
        return self.sim.json(f"/v1/{self.name}")


def world(**keys):
    entry = {"name": "plum", "zone": ZONE, "type": "v3-32", "health": "HEALTHY", **keys}
    return Sim(SIM, "google: {tpus: [{" + ", ".join(f"{key}: {value}" for key, value in entry.items()) + "}]}")


def theirs(sim, tpu="plum", **arguments):
    return TPU(tpu, zone=ZONE, project="orchard", service=Service(sim), **arguments)


def ours(sim, tpu="plum", **options):
    """The answer of the same arguments; of API v1, as TensorFlow has it."""
    options = {"zone": ZONE, "project": "orchard", "endpoint": sim.ready["url"], "access_token": sim.token, "api_version": "v1", **options}
    if tpu is not None:
        options["tpu"] = tpu
    with muster.Cluster(json.dumps({"cluster": {"backend": "tpu", "options": options}}), plugin_dir=PLUGIN_DIR) as opened:
        return opened.resolve()


class Beside(unittest.TestCase):
    def agree(self, resolver, answer):
        self.assertEqual(answer["cluster"], resolver.cluster_spec().as_dict())
        self.assertEqual(answer["master"], resolver.master())
        self.assertEqual(answer["environment"], resolver.environment)
        self.assertEqual(answer["attributes"]["coordination.leader"], resolver.get_coordination_service_leader())

    def test_a_name_and_its_arguments(self):
        with world() as sim:
            for arguments in ({}, {"job_name": "tpu_worker"}, {"coordinator_name": "chief", "coordinator_address": "10.0.0.9:2222"}):
                with self.subTest(arguments):
                    self.agree(theirs(sim, **arguments), ours(sim, **arguments))

    def test_addresses_and_local_and_the_variables(self):
        config = json.dumps({"tpu_node_name": "plum", "project": "orchard", "zone": ZONE})
        with world() as sim:
            for tpu in ("grpc://10.0.0.1:8470", "grpc://10.0.0.1,grpc://10.0.0.2:99", "local", ["plum"]):
                with self.subTest(tpu):
                    self.agree(theirs(sim, tpu), ours(sim, tpu))
            for name, value in {"TPU_NAME": "plum", "TPU_CONFIG": config, "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": "grpc://10.0.0.7:8470,grpc://10.0.0.8"}.items():
                with self.subTest(name), unittest.mock.patch.dict(os.environ, {name: value}):
                    self.agree(theirs(sim, None), ours(sim, None))
                    self.agree(theirs(sim, ""), ours(sim, ""))

    def test_one_endpoint_of_old(self):
        with world(type="v3-8", legacy="true", port=8471) as sim:
            self.agree(theirs(sim), ours(sim))

    def test_what_the_client_tells_of_a_tpu(self):
        def symptom(kind, age_s):
            # TensorFlow cannot read a time without a fraction of a second (TPU-16).
            created = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=age_s)
            return {"symptoms": f"[{{type: {kind}, created: {created:%Y-%m-%dT%H:%M:%S.%fZ}}}]"}

        for keys in ({}, {"state": "PREEMPTED"}, {"state": "TERMINATED"}, {"health": "TIMEOUT"}, symptom("OUT_OF_MEMORY", 10),
                     symptom("HBM_OUT_OF_MEMORY", 10), symptom("OUT_OF_MEMORY", 200), symptom("LOW_MEMORY", 1)):
            with self.subTest(keys), world(**keys) as sim:
                client, attributes = theirs(sim)._cloud_tpu_client, ours(sim)["attributes"]
                self.assertEqual([attributes[key] for key in ("state", "health", "accelerator.model", "runtime.version")],
                                 [client.state(), client.health(), client.accelerator_type(), client.runtime_version()])
                self.assertEqual(attributes["recoverable"], str(client.recoverable()).lower())

    def test_one_that_is_not_ready_is_refused_or_incomplete(self):
        with world(state="CREATING") as sim:
            with self.assertRaisesRegex(RuntimeError, "CREATING"):
                theirs(sim).cluster_spec()
            answer = ours(sim)
            self.assertFalse(answer["complete"])
            self.assertEqual(answer["cluster"], {"worker": []})


if __name__ == "__main__":
    unittest.main()

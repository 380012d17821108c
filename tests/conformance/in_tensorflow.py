"""libmuster inside a Python with TensorFlow: the same process, the same cluster, TensorFlow's own parsers.

    python3 in_tensorflow.py LIBMUSTER.so PLUGIN_DIR MUSTER_SIM before|after

"before": libmuster is loaded and resolves, then TensorFlow is imported, then libmuster resolves again; "after": TensorFlow comes first. What
TensorFlow brings into the process (protobuf, BoringSSL under OpenSSL's names, zlib, with global symbols) must not reach libmuster, nor the
other way round.
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "launcher"), os.path.join(HERE, "..", "sim")]
import muster_by_ctypes as muster  # noqa: E402
from sim_world import Sim  # noqa: E402

LIBRARY, PLUGIN_DIR, SIM, ORDER = sys.argv[1:5]
del sys.argv[1:]

SCENARIO = """
tls: true
kubernetes:
  namespaces: [ml]
  pods:
    - {name: "trainer-worker-{0..11}", namespace: ml, labels: {app: trainer, role: worker}, ip: "10.8.0.{10..21}"}
    - {name: trainer-ps-0, namespace: ml, labels: {app: trainer, role: ps}, ip: "fd00::20"}
  page_size: 5
"""

CONFIG = """
cluster:
  backend: kubernetes
  options:
    kubeconfig: {kubeconfig}
    executable_location: off_cluster
    namespace: ml
    job_to_label_mapping: {{worker: ["app=trainer,role=worker"], ps: ["app=trainer,role=ps"]}}
"""


def resolve_all(config):
    """One cluster, resolved once for each format."""
    with muster.Cluster(config, plugin_dir=PLUGIN_DIR, task_type="worker", task_id="3", timeout="20s") as cluster:
        return {form: cluster.resolve(form) for form in ("json", "cluster_def_binary", "tf_config")}


class InTensorFlow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sim = Sim(SIM, SCENARIO)
        config = CONFIG.format(kubeconfig=cls.sim.ready["kubeconfig"])
        cls.answers = []
        if ORDER == "before":
            muster.load(LIBRARY)
            cls.answers.append(resolve_all(config))
        global tf
        import tensorflow as tf  # noqa: PLC0415
        tf.constant(1) + tf.constant(1)  # its runtime is up
        if ORDER == "after":
            muster.load(LIBRARY)
        cls.answers.append(resolve_all(config))

    @classmethod
    def tearDownClass(cls):
        cls.sim.__exit__()

    def test_all_pods_are_found_in_natural_order_over_tls(self):
        for answer in self.answers:
            workers = answer["json"]["cluster"]["worker"]
            self.assertEqual(workers, [f"10.8.0.{10 + n}:8470" for n in range(12)])
            self.assertEqual(answer["json"]["cluster"]["ps"], ["[fd00::20]:8470"])

    def test_tensorflow_parses_the_cluster_def_to_the_one_it_would_make(self):
        for answer in self.answers:
            parsed = tf.train.ClusterDef.FromString(answer["cluster_def_binary"])
            spec = tf.train.ClusterSpec(parsed)
            self.assertEqual(spec.as_dict(), answer["json"]["cluster"])
            self.assertEqual(tf.train.ClusterSpec(answer["json"]["cluster"]).as_cluster_def(), parsed)

    def test_tensorflow_reads_the_tf_config(self):
        for answer in self.answers:
            os.environ["TF_CONFIG"] = answer["tf_config"].decode()
            resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
            self.assertEqual(resolver.cluster_spec().as_dict(), answer["json"]["cluster"])
            self.assertEqual((resolver.task_type, resolver.task_id), ("worker", 3))
            self.assertEqual(resolver.rpc_layer, answer["json"]["rpc_layer"])
            self.assertEqual(resolver.master(), answer["json"]["master"])

    def test_both_answers_have_one_digest(self):
        self.assertEqual(len({answer["json"]["digest"] for answer in self.answers}), 1)


if __name__ == "__main__":
    unittest.main()

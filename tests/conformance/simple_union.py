"""TensorFlow's resolvers beside muster's, on the same clusters: where TensorFlow's answer is right, muster gives it.

    python3 simple_union.py LIBMUSTER.so PLUGIN_DIR
"""

import itertools
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launcher"))
import muster_by_ctypes as muster  # noqa: E402

LIBRARY, PLUGIN_DIR = sys.argv[1:3]
del sys.argv[1:]
muster.load(LIBRARY)

import tensorflow as tf  # noqa: E402

resolvers = tf.distribute.cluster_resolver

SPECS = [
    {"worker": ["a:1", "b:1"]},
    {"worker": ["a:1", "b:1"], "ps": ["p:1"]},
    {"worker": {0: "a:1", 1: "b:1"}},
    {"worker": {3: "a:1"}},
    {"worker": {"1": "a:1", "5": "b:1"}, "chief": ["c:1"]},
    {"ps": ["p:1", "q:2"], "evaluator": {2: "e:1"}},
]


def as_json(value):
    """What JSON makes of a ClusterSpec's dictionary: keys are texts."""
    return json.loads(json.dumps(value))


def static(spec, **options):
    return {"backend": "static", "options": {"cluster_spec": as_json(spec), **options}}


def resolve(cluster, **settings):
    with muster.Cluster(json.dumps({"cluster": cluster}), plugin_dir=PLUGIN_DIR, **settings) as opened:
        return opened.resolve()


def tensorflow_union(specs):
    """UnionResolver's spec, or None where TensorFlow refuses."""
    union = resolvers.UnionResolver(*[resolvers.SimpleClusterResolver(tf.train.ClusterSpec(spec)) for spec in specs])
    try:
        return as_json(union.cluster_spec().as_dict())
    except KeyError:
        return None


class SimpleAndUnion(unittest.TestCase):
    def test_a_cluster_spec_comes_out_as_tensorflow_shows_it(self):
        for spec in SPECS:
            with self.subTest(spec=spec):
                self.assertEqual(resolve(static(spec))["cluster"], as_json(tf.train.ClusterSpec(spec).as_dict()))

    def test_a_merge_of_two_is_the_union_of_two(self):
        for specs in itertools.product(SPECS, repeat=2):
            with self.subTest(specs=specs):
                expected = tensorflow_union(specs)
                cluster = {"merge": [static(spec) for spec in specs]}
                if expected is None:
                    with self.assertRaises(muster.MusterError) as raised:
                        resolve(cluster)
                    self.assertEqual(raised.exception.code, "ALREADY_EXISTS")
                else:
                    self.assertEqual(resolve(cluster)["cluster"], expected)

    def test_a_merge_of_three_is_the_union_of_three(self):
        for specs in itertools.product(SPECS[:4], repeat=3):
            with self.subTest(specs=specs):
                expected = tensorflow_union(specs)
                cluster = {"merge": [static(spec) for spec in specs]}
                if expected is None:
                    self.assertRaises(muster.MusterError, resolve, cluster)
                else:
                    self.assertEqual(resolve(cluster)["cluster"], expected)

    def test_master_of_a_named_task_is_simple_cluster_resolvers(self):
        simple = resolvers.SimpleClusterResolver(tf.train.ClusterSpec(SPECS[1]), rpc_layer="grpc")
        for task_type, task_id in (("worker", 0), ("worker", 1), ("ps", 0)):
            answer = resolve(static(SPECS[1], rpc_layer="grpc"), task_type=task_type, task_id=str(task_id))
            self.assertEqual(answer["master"], simple.master(task_type, task_id))


class TfConfig(unittest.TestCase):
    CASES = [
        {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}},
        {"cluster": {"worker": ["a:1", "b:1"], "chief": ["c:1"]}, "task": {"type": "chief", "index": 0}, "rpc_layer": "grpc"},
        {"cluster": {"worker": {"1": "a:1", "3": "b:1"}}, "task": {"type": "worker", "index": "3"}},
        {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}, "session_master": "grpc://s:1"},
        {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}, "rpc_layer": "grpc"},
    ]

    def test_tf_config_is_read_as_tensorflow_reads_it(self):
        for case in self.CASES:
            with self.subTest(case=case):
                os.environ["TF_CONFIG"] = json.dumps(case)
                resolver = resolvers.TFConfigClusterResolver()
                answer = resolve({"backend": "tf_config"})
                self.assertEqual(answer["cluster"], as_json(resolver.cluster_spec().as_dict()))
                self.assertEqual((answer["task"]["type"], answer["task"]["index"]), (resolver.task_type, resolver.task_id))
                self.assertEqual(answer["rpc_layer"], resolver.rpc_layer or "")
                self.assertEqual(answer["master"], resolver.master())


if __name__ == "__main__":
    unittest.main()

"""What people run, found by its name at the real kube-apiserver: objects and pods stand there as their controllers leave them.

Each is asked for by a service account of its own, which may do what `muster permissions` printed for it, and before that nothing.
"""
import itertools
import os
import subprocess
import time
import unittest

from apiserver import started
from asking import ask, kubectl_or_skip

kubectl_or_skip()
NUMBERS = itertools.count()

# The objects that are no part of Kubernetes, as much of their definitions as it takes to store them.
DEFINITIONS = (("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"),
               ("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"),
               ("trainer.kubeflow.org", "v1alpha1", "TrainJob", "trainjobs"),
               ("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs"),
               ("kubeflow.org", "v1", "TFJob", "tfjobs"),
               ("batch.volcano.sh", "v1alpha1", "Job", "jobs"))
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/trainer"}]}}


def define(group, version, kind, plural):
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    server.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                 "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}]}})


def setUpModule():
    global server
    server = started()
    for definition in DEFINITIONS:
        define(*definition)
    deadline = time.monotonic() + 60
    for group, version, _, plural in DEFINITIONS:
        while server.request("GET", f"/apis/{group}/{version}/{plural}")[0] != 200 and time.monotonic() < deadline:
            time.sleep(0.1)


def owned(kind, name, uid, api="batch/v1"):
    return {"ownerReferences": [{"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": True}]}


class Finders(unittest.TestCase):
    def setUp(self):
        self.namespace = server.namespace(self.id().rsplit(".", 1)[1][5:].replace("_", "-").lower()[:63].strip("-"))

    def make(self, api, kind, plural, spec, name="train", owner=None):
        """The uid of a new object."""
        return server.must("POST", f"/apis/{api}/namespaces/{self.namespace}/{plural}", {
            "apiVersion": api, "kind": kind, "metadata": {"name": name, **(owner or {})}, "spec": spec})["metadata"]["uid"]

    def pod(self, name, ip, labels, owner=None, **more):
        server.pod(self.namespace, name, labels, ip, **(owner or {}), **more)

    def found(self, *options, code=0):
        name = f"account-{next(NUMBERS)}"
        options = [f"namespace={self.namespace}", *options]
        token = server.account(self.namespace, name)
        env = {"KUBECONFIG": server.kubeconfig({"token": token}, self.namespace, name=name)}
        self.assertEqual(ask(server, None, options=options, env=env).code, 13)
        printed = ask(server, None, "--principal", f"{self.namespace}:{name}", options=options, env=env, verb="permissions")
        self.assertEqual((printed.code, printed.err), (0, ""), printed)
        subprocess.run(["kubectl", "apply", "-f", "-"], input=printed.out, text=True, check=True, capture_output=True, timeout=60,
                       env={"PATH": os.environ["PATH"], "HOME": server.folder.name, "KUBECONFIG": server.ready["kubeconfig"]})
        deadline = time.monotonic() + 10
        while (run := ask(server, None, options=options, env=env)).code == 13 and time.monotonic() < deadline:
            time.sleep(0.1)  # The server's own watch of its roles is a little behind.
        self.assertEqual(run.code, code, run)
        return run.answer

    def missing(self, answer):
        return {job: [member["name"] for member in value["missing"]] for job, value in answer["jobs"].items() if value["missing"]}

    def test_an_indexed_Job_by_the_selector_that_the_server_gave_it(self):
        uid = self.make("batch/v1", "Job", "jobs", {"parallelism": 3, "completions": 3, "completionMode": "Indexed",
                                                    "template": TEMPLATE})
        for index, ip in ((2, "10.8.0.3"), (0, "10.8.0.1")):
            self.pod(f"train-{index}-x7k2p", ip, {
                "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": "train",
                "batch.kubernetes.io/job-completion-index": str(index)}, owned("Job", "train", uid))
        self.pod("stranger", "10.8.0.9", {"batch.kubernetes.io/job-name": "train"})
        answer = self.found("job=train", code=10)
        self.assertEqual([(t["index"], t["address"]) for t in answer["tasks"]], [(0, "10.8.0.1:8470"), (2, "10.8.0.3:8470")])
        self.assertEqual(self.missing(answer), {"worker": ["train-1"]})
        self.assertEqual(answer["jobs"]["worker"]["expected"], 3)

    def test_a_JobSet_with_its_replicated_jobs_as_roles(self):
        job = {"spec": {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": TEMPLATE}}
        one = {"spec": {"parallelism": 1, "completions": 1, "completionMode": "Indexed", "template": TEMPLATE}}
        uid = self.make("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", {"replicatedJobs": [
            {"name": "driver", "replicas": 1, "template": one}, {"name": "slice", "replicas": 2, "template": job}]})
        address = 0
        for role, group, index in (("driver", 0, 0), ("slice", 0, 0), ("slice", 0, 1), ("slice", 1, 0), ("slice", 1, 1)):
            address += 1
            self.pod(f"train-{role}-{group}-{index}-x", f"10.8.0.{address}", {
                "jobset.sigs.k8s.io/jobset-name": "train", "jobset.sigs.k8s.io/jobset-uid": uid,
                "jobset.sigs.k8s.io/replicatedjob-name": role, "jobset.sigs.k8s.io/job-index": str(group),
                "batch.kubernetes.io/job-completion-index": str(index)}, owned("Job", f"train-{role}-{group}", f"job-{role}-{group}"))
        self.assertEqual(self.found("jobset=train")["cluster"], {
            "driver": ["10.8.0.1:8470"], "slice": [f"10.8.0.{n}:8470" for n in range(2, 6)]})
        self.assertEqual(self.found("jobset=train", "as_job=worker")["cluster"],
                         {"worker": [f"10.8.0.{n}:8470" for n in range(1, 6)]})

    def test_a_TrainJob_by_the_JobSet_that_it_made_and_without_one_by_what_it_says_itself(self):
        words = lambda: ask(server, None, options=[f"namespace={self.namespace}", "trainjob=train"])
        self.assertIn("there is no TrainJob 'train' in namespace", words().err)
        api = "trainer.kubeflow.org/v1alpha1"
        made = self.make(api, "TrainJob", "trainjobs", {
            "suspend": True, "runtimeRef": {"name": "torch-distributed", "kind": "ClusterTrainingRuntime"}, "trainer": {"numNodes": 2}})
        self.found("trainjob=train", code=11)
        self.assertIn("has no JobSet: it is suspended; it is to have 2 nodes of ClusterTrainingRuntime 'torch-distributed'", words().err)
        step = "trainer.kubeflow.org/trainjob-ancestor-step"
        jobs = [{"name": name, "replicas": 1, "template": {"metadata": {"labels": {step: label}}, "spec": {
            "parallelism": count, "completions": count, "completionMode": "Indexed", "template": TEMPLATE}}}
                for name, label, count in (("model-initializer", "model-initializer", 1), ("node", "trainer", 2))]
        uid = self.make("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets", {"replicatedJobs": jobs}, owner=owned("TrainJob", "train", made, api))
        for role, index, ip in (("model-initializer", 0, "10.8.0.9"), ("node", 1, "10.8.0.2")):
            self.pod(f"train-{role}-0-{index}-x", ip, {
                "jobset.sigs.k8s.io/jobset-name": "train", "jobset.sigs.k8s.io/jobset-uid": uid,
                "jobset.sigs.k8s.io/replicatedjob-name": role, "jobset.sigs.k8s.io/job-index": "0",
                "batch.kubernetes.io/job-completion-index": str(index)}, owned("Job", f"train-{role}-0", f"job-{role}"))
        answer = self.found("trainjob=train", code=10)
        self.assertEqual([(t["index"], t["address"]) for t in answer["tasks"]], [(1, "10.8.0.2:8470")])
        self.assertEqual(self.missing(answer), {"node": ["train-node-0-0"]})
        self.assertEqual(answer["jobs"]["node"]["expected"], 2)

    def test_a_LeaderWorkerSet_group_by_group(self):
        self.make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets",
                  {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}})
        for group, index, name in ((0, 0, "train-0"), (0, 1, "train-0-1"), (1, 0, "train-1")):
            self.pod(name, f"10.8.{group}.{index}", {
                "leaderworkerset.sigs.k8s.io/name": "train", "leaderworkerset.sigs.k8s.io/group-index": str(group),
                "leaderworkerset.sigs.k8s.io/worker-index": str(index)})
        answer = self.found("leaderworkerset=train", code=10)
        self.assertEqual([t["address"] for t in answer["tasks"]], ["10.8.0.0:8470", "10.8.0.1:8470", "10.8.1.0:8470"])
        self.assertEqual(self.missing(answer), {"worker": ["train-1-1"]})

    def test_a_StatefulSet_from_its_first_ordinal(self):
        uid = self.make("apps/v1", "StatefulSet", "statefulsets", {
            "replicas": 2, "ordinals": {"start": 4}, "serviceName": "train", "selector": {
                "matchLabels": {"app": "t"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}]},
            "template": {"metadata": {"labels": {"app": "t", "tier": "a"}},
                         "spec": {"containers": TEMPLATE["spec"]["containers"]}}})
        for ordinal in (5, 4):
            self.pod(f"train-{ordinal}", f"10.8.0.{ordinal}", {"app": "t", "tier": "a"}, owned("StatefulSet", "train", uid, "apps/v1"))
        self.pod("other", "10.8.0.9", {"app": "t", "tier": "c"})
        self.assertEqual(self.found("statefulset=train")["cluster"], {"worker": ["10.8.0.4:8470", "10.8.0.5:8470"]})

    def replicas(self, kind, plural, spec_name, roles):
        uid = self.make("kubeflow.org/v1", kind, plural, {spec_name: {
            role: {"replicas": count, "template": TEMPLATE} for role, count in roles.items()}})
        number = 0
        for role, count in roles.items():
            for index in range(count):
                number += 1
                self.pod(f"train-{role.lower()}-{index}", f"10.8.0.{number}", {
                    "training.kubeflow.org/job-name": "train", "training.kubeflow.org/replica-type": role.lower(),
                    "training.kubeflow.org/replica-index": str(index)}, owned(kind, "train", uid, "kubeflow.org/v1"))

    def test_a_PyTorchJob_with_its_master_first(self):
        self.replicas("PyTorchJob", "pytorchjobs", "pytorchReplicaSpecs", {"Worker": 2, "Master": 1})
        self.assertEqual(self.found("pytorchjob=train")["cluster"],
                         {"master": ["10.8.0.3:8470"], "worker": ["10.8.0.1:8470", "10.8.0.2:8470"]})
        self.assertEqual(self.found("pytorchjob=train", "as_job=node")["cluster"],
                         {"node": ["10.8.0.3:8470", "10.8.0.1:8470", "10.8.0.2:8470"]})

    def test_a_TFJob_without_its_evaluator(self):
        self.replicas("TFJob", "tfjobs", "tfReplicaSpecs", {"Chief": 1, "PS": 1, "Worker": 1, "Evaluator": 1})
        self.assertEqual(self.found("tfjob=train")["cluster"], {
            "chief": ["10.8.0.1:8470"], "ps": ["10.8.0.2:8470"], "worker": ["10.8.0.3:8470"]})

    def test_a_Volcano_Job_with_its_tasks_as_roles(self):
        uid = self.make("batch.volcano.sh/v1alpha1", "Job", "jobs", {"tasks": [
            {"name": "ps", "replicas": 1, "template": TEMPLATE}, {"name": "worker", "replicas": 2, "template": TEMPLATE}]})
        for number, (role, index) in enumerate((("worker", 1), ("worker", 0), ("ps", 0))):
            self.pod(f"train-{role}-{index}", f"10.8.0.{number}", {
                "volcano.sh/job-name": "train", "volcano.sh/task-spec": role, "volcano.sh/task-index": str(index)},
                owned("Job", "train", uid, "batch.volcano.sh/v1alpha1"))
        self.assertEqual(self.found("vcjob=train")["cluster"],
                         {"ps": ["10.8.0.2:8470"], "worker": ["10.8.0.1:8470", "10.8.0.0:8470"]})

    def test_a_Service_by_its_EndpointSlices(self):
        for number, addresses in enumerate((["10.8.0.1"], ["10.8.0.2"])):
            server.must("POST", f"/apis/discovery.k8s.io/v1/namespaces/{self.namespace}/endpointslices", {
                "metadata": {"name": f"train-{number}", "labels": {"kubernetes.io/service-name": "train"}}, "addressType": "IPv4",
                "ports": [{"name": "rpc", "port": 7000}], "endpoints": [{"addresses": addresses, "conditions": {"ready": True},
                                                                        "targetRef": {"kind": "Pod", "name": f"w-{number}"}}]})
        self.assertEqual(self.found("service=train")["cluster"], {"worker": ["10.8.0.1:7000", "10.8.0.2:7000"]})

    def test_an_object_that_is_not_there_or_of_no_known_kind(self):
        for options, words in ((["jobset=train"], "there is no JobSet 'train' in namespace"),
                               (["job=train"], "there is no Job 'train' in namespace")):
            run = ask(server, None, options=[f"namespace={self.namespace}", *options])
            self.assertEqual((run.code, run.out), (11, ""), run)
            self.assertIn(words, run.err)
        server.must("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tfjobs.kubeflow.org")
        deadline = time.monotonic() + 30
        while server.request("GET", "/apis/kubeflow.org/v1/tfjobs")[0] != 404 and time.monotonic() < deadline:
            time.sleep(0.1)
        run = ask(server, None, options=[f"namespace={self.namespace}", "tfjob=train"])
        self.assertEqual((run.code, run.out), (11, ""), run)
        self.assertIn("this cluster does not know such objects", run.err)
        define(*next(one for one in DEFINITIONS if one[2] == "TFJob"))


if __name__ == "__main__":
    unittest.main()

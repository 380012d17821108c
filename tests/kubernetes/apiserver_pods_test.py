"""What the real kube-apiserver keeps of pods, in its own protobuf: addresses, ports, reasons, devices, and which of them this is."""
import unittest

from apiserver import started
from asking import ask

TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
CONTAINER = {"name": "main", "image": "registry.example/trainer"}
# As Kubernetes writes them: the status of a pod, and what is said of it when it is missing.
TROUBLES = {
    "unschedulable": ({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                                                           "message": "0/4 nodes are available: 4 Insufficient nvidia.com/gpu."}]},
                      "Pending since TIME: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu."),
    "pulling": ({"phase": "Pending", "containerStatuses": [{
        "name": "main", "ready": False, "restartCount": 0, "image": "i", "imageID": "",
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"trainer\""}}}]},
                "Pending since TIME: ImagePullBackOff: Back-off pulling image \"trainer\""),
    "starting": ({"phase": "Pending"}, "Pending since TIME: starting on node-a"),
    "evicted": ({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."},
                "Failed: Evicted: The node was low on resource: memory."),
    "disrupted": ({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory.", "conditions": [
        {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "lastTransitionTime": "2036-01-31T12:00:00Z"}]},
                  "Failed at 2036-01-31T12:00:00Z: Evicted: The node was low on resource: memory."),
    "failed": ({"phase": "Failed", "containerStatuses": [{
        "name": "main", "ready": False, "restartCount": 0, "image": "i", "imageID": "",
        "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]}, "Failed: OOMKilled, exit code 137"),
    "no-address": ({"phase": "Running"}, "Running, but it has no IP address yet"),
}


def setUpModule():
    global server
    server = started()


class Pods(unittest.TestCase):
    def setUp(self):
        self.namespace = server.namespace(self.id().rsplit(".", 1)[1][5:].replace("_", "-").lower()[:40].strip("-"))

    def pod(self, name, ip=None, **more):
        server.pod(self.namespace, name, {"app": "t", **more.pop("labels", {})}, ip, **more)

    def ask(self, *options, code=0, **more):
        run = ask(server, options=[f"namespace={self.namespace}", *options], **more)
        self.assertEqual(run.code, code, run)
        return run

    def test_every_kind_of_address_and_port(self):
        self.pod("w-0", annotations={"example.com/port": "9000"}, spec={
            "hostname": "w-0", "subdomain": "train",
            "containers": [{**CONTAINER, "ports": [{"name": "rpc", "containerPort": 7000, "hostPort": 31000}]}]},
                 status={"podIP": "10.8.0.1", "podIPs": [{"ip": "10.8.0.1"}, {"ip": "fd00::1"}],
                         "hostIP": "192.0.2.1", "hostIPs": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}]})
        for options, address in (([], "10.8.0.1:8470"), (["tf_server_port=7"], "10.8.0.1:7"),
                                 (["ip_family=ipv4"], "10.8.0.1:8470"), (["ip_family=ipv6"], "[fd00::1]:8470"),
                                 (["port=7001"], "10.8.0.1:7001"), (["port=rpc"], "10.8.0.1:7000"),
                                 (["port={annotation: example.com/port}"], "10.8.0.1:9000"),
                                 (["ports={worker: rpc}", "port=7001"], "10.8.0.1:7000"),
                                 (["address=dns", "cluster_domain=corp.example"], f"w-0.train.{self.namespace}.svc.corp.example:8470"),
                                 (["address=node_ip"], "192.0.2.1:8470"), (["address=node_ip", "ip_family=ipv6"], "[2001:db8::1]:8470"),
                                 (["address=host_port", "port=rpc"], "192.0.2.1:31000"), (["address=host_port", "port=7000"], "192.0.2.1:31000")):
            with self.subTest(options=options):
                self.assertEqual(self.ask(*options).cluster(), {"worker": [address]})
        for options, why in ((["port=none"], "it has no port called 'none'"), (["address=host_port", "port=7001"], "no such port with a hostPort"),
                             (["port={annotation: example.com/other}"], "it has no annotation 'example.com/other'")):
            with self.subTest(options=options):
                (lacking,) = self.ask(*options, code=10).answer["jobs"]["worker"]["missing"]
                self.assertIn(why, lacking["reason"])

    def test_each_pod_that_is_not_there_is_told_with_its_reason(self):
        for name, (status, _) in TROUBLES.items():
            self.pod(name, status=status, node=None if name == "unschedulable" else "node-a")
        self.pod("leaving", "10.8.0.7", deleting=True)
        self.pod("done", "10.8.0.8", status={"phase": "Succeeded"})
        self.pod("unready", "10.8.0.9", status={"conditions": [
            {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "containers with unready status: [main]"}]})
        missing = {one["name"]: one["reason"] for one in self.ask("require=ready", code=10).answer["jobs"]["worker"]["missing"]}
        self.assertRegex(missing.pop("leaving"), f"^being deleted, due at {TIME}$")
        self.assertRegex(missing.pop("unready"), "^Running, not ready: .*containers with unready status")
        for name, (_, reason) in TROUBLES.items():
            self.assertRegex(missing.pop(name), "^" + reason.replace("(", "\\(").replace("TIME", TIME).replace("[main]", "\\[main\\]") + "$")
        self.assertEqual(missing, {})
        self.assertEqual(self.ask(code=10).answer["tasks"][0]["name"], "unready")

    def test_a_replaced_pod_is_not_told_beside_its_replacement_and_two_selectors_count_a_pod_once(self):
        index = {"batch.kubernetes.io/job-completion-index": "0", "tier": "gold"}
        owner = {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u", "controller": True}]}
        self.pod("train-0-old", labels=index, status={"phase": "Failed"}, **owner)
        self.pod("train-0-new", "10.8.0.2", labels=index, **owner)
        self.pod("plain", "10.8.0.3", labels={"tier": "gold"})  # no index tells that the two of it are one
        for mapping in ("{worker: [app=t]}", "{worker: [app=t, tier=gold]}"):
            run = self.ask(mapping=mapping)
            self.assertEqual((run.cluster(), run.answer["jobs"]["worker"]["missing"]), ({"worker": ["10.8.0.3:8470", "10.8.0.2:8470"]}, []))
        self.assertIn("can be a task of one alone", self.ask(mapping="{a: [app=t], b: [tier=gold]}", code=12).err)

    def test_devices_are_those_of_the_limits_and_of_the_nodes_labels(self):
        self.pod("w-0", "10.8.0.1", spec={
            "nodeSelector": {"cloud.google.com/gke-tpu-accelerator": "tpu-v5p-slice", "cloud.google.com/gke-tpu-topology": "2x2x2"},
            "containers": [{**CONTAINER, "resources": {"limits": {"google.com/tpu": "4", "memory": "512Gi"}}}]})
        self.pod("w-1", "10.8.0.2", spec={"containers": [
            {**CONTAINER, "resources": {"limits": {"nvidia.com/gpu": "8"}}}, {**CONTAINER, "name": "side"}]})
        first, second = (task["attributes"] for task in self.ask().answer["tasks"])
        self.assertEqual((first["accelerator.type"], first["accelerator.count"], first["accelerator.model"], first["accelerator.topology"]),
                         ("TPU", "4", "tpu-v5p-slice", "2x2x2"))
        self.assertEqual((second["accelerator.type"], second["accelerator.count"], second["host"]), ("GPU", "8", "node-a"))

    def test_this_pod_is_known_by_each_piece_of_evidence_and_two_that_disagree_are_an_error(self):
        for n in range(2):
            self.pod(f"w-{n}", f"10.8.0.{n + 1}")
        path = f"/api/v1/namespaces/{self.namespace}/pods/w-1"
        uid = server.must("GET", path)["metadata"]["uid"]
        own = {"POD_NAME": "w-1", "POD_NAMESPACE": self.namespace}
        for env in ({"POD_UID": uid}, own, {"POD_IP": "10.8.0.2"}, {"POD_UID": uid, **own, "POD_IP": "10.8.0.2"}):
            with self.subTest(env=env):
                task = self.ask(env=env).answer["task"]
                self.assertEqual((task["type"], task["index"]), ("worker", 1))
                said = [evidence.split()[0] for evidence in task["evidence"]]
                self.assertEqual(said, [name for name in env if name != "POD_NAMESPACE"])
        wrong = self.ask(env={**own, "POD_IP": "10.8.0.1"}, code=12)
        self.assertIn("this process is told to be two tasks", wrong.err)
        self.assertIn("POD_IP is the address of pod", wrong.err)


if __name__ == "__main__":
    unittest.main()

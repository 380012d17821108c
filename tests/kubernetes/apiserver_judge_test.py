"""The real kubectl on the real kube-apiserver as the judge: the members are those that its JSON says, by the rules of
plugins/kubernetes/README.md written down here once more."""
import json
import random
import subprocess
import unittest

from apiserver import started
from asking import ask, kubectl_or_skip
from between import Between

KUBECTL = kubectl_or_skip()
# What a pod can be like; no `ip` in those that have none.
STATES = {
    "running": {},
    "running, IPv6": {"ip": "fd00:10:8::{:x}"},
    "running, not ready": {"status": {"conditions": [{"type": "Ready", "status": "False"}]}},
    "running, without IP": {"ip": None},
    "being deleted": {"deleting": True},
    "unschedulable": {"node": None, "ip": None, "status": {"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes are available"}]}},
    "pulling": {"ip": None, "status": {"phase": "Pending", "containerStatuses": [
        {"name": "main", "ready": False, "restartCount": 0, "image": "i", "imageID": "",
         "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]}},
    "succeeded": {"status": {"phase": "Succeeded"}},
    "failed": {"status": {"phase": "Failed"}},
    "evicted": {"ip": None, "status": {"phase": "Failed", "reason": "Evicted", "message": "the node was low on memory"}},
    "unknown": {"status": {"phase": "Unknown"}},
}
SELECTORS = [["app=t"], ["app==t,role!=ps"], ["app in (t,u),role notin (ps)"], ["role"], ["!role"], ["app=t,!tier"],
             ["tier in (gold)", "tier=silver"], ["app=t,role=worker", "app=u", "tier"], ["app=t", "app=t,role=ps"],
             ["app.example.com/part=trainer"], ["role=none-has-this"]]
NAMESPACES = ["ml", "other"]


def setUpModule():
    global server
    server = started()
    chance = random.Random(4)
    number = 0
    for namespace in NAMESPACES:
        server.namespace(namespace)
        for state in STATES.values():
            for _ in range(3):
                labels = {key: value for key, value in (
                    ("app", chance.choice("ttu")), ("role", chance.choice(["worker", "ps", None])),
                    ("tier", chance.choice(["gold", "silver", None, None])),
                    ("app.example.com/part", chance.choice(["trainer", None]))) if value}
                number += 1
                pod = {"ip": "10.8.0.{}", **state}
                pod["ip"] = pod["ip"] and pod["ip"].format(number)
                server.pod(namespace, f"p-{number}", labels, **pod)


def judged(selectors, flags):
    """Addresses of the tasks and names of the missing, of the pods that kubectl gets."""
    pods = {}
    for selector in selectors:
        run = subprocess.run([KUBECTL, "get", "pods", "-o", "json", "-l", selector, *flags], capture_output=True, text=True,
                             env={"HOME": server.folder.name, "KUBECONFIG": server.ready["kubeconfig"]}, timeout=60, check=True)
        for pod in json.loads(run.stdout)["items"]:
            pods[pod["metadata"]["uid"]] = pod
    tasks, missing = [], []
    for pod in pods.values():
        status, metadata = pod["status"], pod["metadata"]
        ip = status.get("podIP")
        if status["phase"] == "Running" and ip and "deletionTimestamp" not in metadata:
            tasks.append(f"[{ip}]:8470" if ":" in ip else f"{ip}:8470")
        elif status["phase"] != "Succeeded":
            missing.append(metadata["name"])
    return bool(pods), sorted(tasks), sorted(missing)


def found(selectors, options):
    run = ask(server, json.dumps({"worker": selectors}), options=options)
    if run.code == 11:
        return False, [], []
    if run.answer is None:
        return run
    job = run.answer["jobs"]["worker"]
    return (True, sorted(task["address"] for task in run.answer["tasks"]),
            sorted(member["name"].rsplit("/", 1)[-1] for member in job["missing"]))


class Judge(unittest.TestCase):
    def test_the_members_are_those_of_kubectl_get_pods(self):
        tasks_seen, missing_seen = set(), set()
        for selectors in SELECTORS:
            for flags, options in ((["-n", "ml"], ["namespace=ml"]), (["-n", "other"], ["namespace=other", "page_size=3"]),
                                   (["-A"], ["all_namespaces=true"]), (["-n", "default"], ["namespace=default"])):
                with self.subTest(selectors=selectors, flags=flags):
                    expected = judged(selectors, flags)
                    self.assertEqual(found(selectors, options), expected)
                    tasks_seen.update(expected[1])
                    missing_seen.update(expected[2])
        # Else the worlds would be too poor to judge by.
        self.assertGreater(len(tasks_seen), 12)
        self.assertGreater(len(missing_seen), 24)

    def test_the_answer_is_the_same_as_protobuf_and_as_JSON(self):
        for selectors in SELECTORS:
            answers = []
            for accept, kind in ((None, "application/vnd.kubernetes.protobuf"), ("application/json", "application/json")):
                between = Between(server, accept=accept)
                run = between.ask("ml", json.dumps({"worker": selectors}), options=["page_size=4"])
                self.assertEqual(between.kinds, {kind}, run)
                answer = run.answer or {"tasks": run.code, "jobs": None, "warnings": None}
                answers.append(json.dumps([answer[key] for key in ("tasks", "jobs", "warnings")]))
            with self.subTest(selectors=selectors):
                self.assertEqual(answers[0], answers[1])


if __name__ == "__main__":
    unittest.main()

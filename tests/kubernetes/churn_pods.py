"""Pods as kubelets and controllers leave them: made, started, failed, evicted, replaced, taken away, each by one call.

The server's clock has whole seconds, and these come many in one second.
"""
import time

STRATEGIC, MERGE = "application/strategic-merge-patch+json", "application/merge-patch+json"
OWNERS = {"Job": "batch/v1", "StatefulSet": "apps/v1", "ReplicaSet": "apps/v1"}


def timestamp(shift=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + shift))


def must(server, method, path, body=None, kind="application/json"):
    """The object; a server that has just restarted may ask for patience."""
    until = time.monotonic() + 60
    while True:
        status, answer = server.request(method, path, body, kind)
        if status // 100 == 2:
            return answer
        if status not in (429, 503) or time.monotonic() > until:
            raise RuntimeError(f"{method} {path}: {status}: {answer}")
        time.sleep(0.2)


class Pods:
    """The pods of one namespace. Whatever is drawn is drawn from `chance`, so that a seed says what happens; `log` keeps it.
    `store` has all that was written, by its path, as the server answered; after each write `written` is called."""

    def __init__(self, server, namespace, chance, log):
        self.server, self.namespace, self.chance, self.log = server, namespace, chance, log
        self.path = f"/api/v1/namespaces/{namespace}/pods"
        self.store, self.written = {}, lambda path: None
        self.addresses = 0
        self.writes = 0

    def request(self, method, path, body=None, kind="application/json"):
        self.writes += 1
        answer = must(self.server, method, path, body, kind)
        at = path.split("?")[0].removesuffix("/status")
        if method == "POST":
            at = f"{at}/{answer['metadata']['name']}"
        if method == "DELETE" and not (answer["kind"] == "Pod" and answer["metadata"].get("deletionGracePeriodSeconds")):
            del self.store[at]
        else:
            self.store[at] = answer
        self.written(at)
        return answer

    def within(self, folder):
        """What is stored below a path, by name."""
        return sorted((one for at, one in self.store.items() if at.rsplit("/", 1)[0] == folder), key=name_of)

    def items(self):
        return self.within(self.path)

    def suffix(self):
        return "".join(self.chance.choice("bcdfghjklmnpqrstvwxz2456789") for _ in range(5))

    def address(self):
        self.addresses += 1
        high, low = divmod(self.addresses, 250)
        return f"fd00:8::{self.addresses:x}" if self.chance.random() < 0.1 else f"10.{8 + high // 250}.{high % 250}.{low + 1}"

    def make(self, name, labels, owner=None, start=True, annotations=None):
        """A pod; `owner` is (kind, name, uid) of its controller."""
        metadata = {"name": name, "labels": labels, "annotations": annotations or {}}
        if owner:
            metadata["ownerReferences"] = [{"apiVersion": OWNERS.get(owner[0], "x/v1"), "kind": owner[0], "name": owner[1], "uid": owner[2],
                                            "controller": True}]
        spec = {"containers": [{"name": "main", "image": "registry.example/trainer"}], "restartPolicy": "Never"}
        if start:
            spec["nodeName"] = "node-a"
        self.log(f"make {name} {labels} of {owner}{'' if start else ', not scheduled'}")
        self.request("POST", self.path, {"metadata": metadata, "spec": spec})
        if start:
            self.run(name)

    def status(self, name, **status):
        self.request("PATCH", f"{self.path}/{name}/status", {"status": status}, MERGE)

    def run(self, name):
        ip = self.address()
        self.log(f"run {name} at {ip}")
        ready = "True" if self.chance.random() < 0.8 else "False"
        self.status(name, phase="Running", podIP=ip, podIPs=[{"ip": ip}], conditions=[{"type": "Ready", "status": ready}])

    def wait_for_image(self, name):
        self.log(f"{name} waits for its image")
        self.status(name, phase="Pending", containerStatuses=[self.container(waiting={"reason": "ImagePullBackOff", "message": "no such image"})])

    def ready(self, name, is_ready):
        self.log(f"{name} is{'' if is_ready else ' not'} ready")
        self.status(name, conditions=[{"type": "Ready", "status": str(is_ready)}])

    @staticmethod
    def container(**state):
        return {"name": "main", "ready": False, "restartCount": 0, "image": "i", "imageID": "", "state": state}

    def fail(self, name):
        """Its container ended now, or by a clock that is a little off."""
        shift = self.chance.choice([0, 0, 0, -1, 1, -30])
        self.log(f"{name} fails at {shift:+} s")
        self.status(name, phase="Failed", containerStatuses=[self.container(terminated={
            "exitCode": self.chance.choice([1, 137]), "reason": "Error", "startedAt": timestamp(shift - 60), "finishedAt": timestamp(shift)})])

    def evict(self, name):
        """No container says when."""
        self.log(f"{name} is evicted")
        self.status(name, phase="Failed", reason="Evicted", message="The node was low on resource: memory.", containerStatuses=None, conditions=[
            {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "lastTransitionTime": timestamp()}])

    def succeed(self, name):
        self.log(f"{name} succeeds")
        self.status(name, phase="Succeeded", conditions=[{"type": "Ready", "status": "False", "reason": "PodCompleted"}], containerStatuses=[
            self.container(terminated={"exitCode": 0, "reason": "Completed", "startedAt": timestamp(-60), "finishedAt": timestamp()})])

    def lose(self, name):
        self.log(f"the node of {name} is not heard of")
        self.status(name, phase="Unknown")

    def label(self, name, **labels):
        self.log(f"label {name} {labels}")
        self.request("PATCH", f"{self.path}/{name}", {"metadata": {"labels": labels}}, MERGE)

    def touch(self, name, times=1):
        """Changes that mean nothing to anybody."""
        self.log(f"touch {name} {times} times")
        for n in range(times):
            self.request("PATCH", f"{self.path}/{name}", {"metadata": {"annotations": {"example.org/seen": f"{timestamp()} {n}"}}}, MERGE)

    def end(self, name):
        """Being deleted, until the kubelet would say that it is gone; one without a node goes at once."""
        self.log(f"delete {name}")
        self.request("DELETE", f"{self.path}/{name}")

    def remove(self, name):
        self.log(f"{name} is gone")
        self.request("DELETE", f"{self.path}/{name}?gracePeriodSeconds=0")


def name_of(pod):
    return pod["metadata"]["name"]


def is_over(pod):
    return pod["status"]["phase"] in ("Failed", "Succeeded") or "deletionTimestamp" in pod["metadata"]


def something_happens(pods, pod):
    """To one pod, as it comes in a cluster that is not well."""
    name, phase, chance = name_of(pod), pod["status"]["phase"], pods.chance
    if "deletionTimestamp" in pod["metadata"]:
        return pods.remove(name)
    if phase in ("Failed", "Succeeded"):
        return chance.choice([pods.remove, pods.touch, pods.end])(name)
    if phase == "Pending":
        return chance.choice([pods.run, pods.run, pods.run, pods.wait_for_image, pods.evict, pods.remove])(name)
    deeds = [pods.fail] * 3 + [pods.evict] * 2 + [pods.end] * 2 + [pods.touch] * 2 + [
        pods.succeed, pods.remove, pods.lose, pods.run, lambda one: pods.ready(one, True), lambda one: pods.ready(one, False)]
    return chance.choice(deeds)(name)

"""The manifests of plugins/kubernetes: the real kube-apiserver takes them, and the command lines of their containers, run as a kubelet
would run them with the token of their own service account, do what they say."""
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from apiserver import ROOT, read, started
from asking import MUSTER, PLUGINS, ask, kubectl_or_skip
from mount_namespace import in_pod, may_mount

kubectl_or_skip()
MANIFESTS = os.path.join(ROOT, "plugins", "kubernetes", "manifests")
SERVICE_ACCOUNTS = "/api/v1/namespaces/ml/serviceaccounts/trainer/token"


def create(name, *words):
    """The objects that the server made of a manifest; with the word --dry-run=server, would make."""
    run = subprocess.run(["kubectl", "create", "--validate=strict", *words, "-f", os.path.join(MANIFESTS, name), "-o", "json"],
                         check=True, capture_output=True, text=True, timeout=60,
                         env={"PATH": os.environ["PATH"], "HOME": server.folder.name, "KUBECONFIG": server.ready["kubeconfig"]})
    made, rest = [], run.stdout.lstrip()
    while rest:
        one, end_of_one = json.JSONDecoder().raw_decode(rest)
        made.append(one)
        rest = rest[end_of_one:].lstrip()
    return made


def setUpModule():
    global server, permitted
    server = started()
    server.namespace("ml")
    permitted = {one["kind"]: one for one in create("permissions.yaml")}


class Pod:
    """A pod of a template, made by its controller and about to run on a node: its containers run here when told to."""

    def __init__(self, name, template, labels=None, owner=None, ip=None):
        metadata = {"name": name, "labels": {**template["metadata"].get("labels", {}), **(labels or {})}}
        if owner:
            metadata["ownerReferences"] = [{**owner, "controller": True}]
        made = server.must("POST", "/api/v1/namespaces/ml/pods", {"metadata": metadata, "spec": {**template["spec"], "nodeName": "node-a"}})
        self.name, self.spec = name, made["spec"]
        bound = {"kind": "Pod", "apiVersion": "v1", "name": name, "uid": made["metadata"]["uid"]}
        token = server.must("POST", SERVICE_ACCOUNTS, {"spec": {"expirationSeconds": 3600, "boundObjectRef": bound}})["status"]["token"]
        self.folder = tempfile.TemporaryDirectory(prefix="pod.")
        for folder in ("account", "volume", "bin"):
            os.mkdir(os.path.join(self.folder.name, folder))
        for file, text in (("account/token", token), ("account/namespace", "ml"), ("account/ca.crt", read(server.ready["ca"])),
                           ("bin/python", "#!/bin/sh\nenv\n")):
            with open(self.path(file), "w") as out:
                out.write(text)
        os.chmod(self.path("bin/python"), 0o755)
        os.symlink(MUSTER, self.path("bin/muster"))
        self.has_address(ip)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def has_address(self, ip):
        status = {"phase": "Pending"}  # its init containers run
        if ip:
            status.update(podIP=ip, podIPs=[{"ip": ip}])
        server.must("PATCH", f"/api/v1/namespaces/ml/pods/{self.name}/status", {"status": status}, "application/merge-patch+json")

    def start(self, kind, name):
        container = next(one for one in self.spec[kind] if one["name"] == name)
        assert {"name": "cluster", "mountPath": "/run/muster"}.items() <= container["volumeMounts"][0].items()
        return subprocess.Popen(
            [*in_pod(self.path("account"), {"/run/muster": self.path("volume")}), *container["command"], *container.get("args", [])],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env={"PATH": self.path("bin") + ":" + os.environ["PATH"], "HOME": self.folder.name, "HOSTNAME": self.name,
                 "KUBERNETES_SERVICE_HOST": server.ready["host"], "KUBERNETES_SERVICE_PORT": str(server.ready["port"]),
                 "MUSTER_PLUGIN_PATH": PLUGINS})


def end(process):
    """Kills it with all that it has started, if it still runs."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=10)


def wait_for(holds, seconds=30):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)
    return holds()


@unittest.skipUnless(may_mount(), "SKIP: this machine gives no mount namespaces")
class Manifests(unittest.TestCase):
    def pod(self, *what, **more):
        pod = Pod(*what, **more)
        self.addCleanup(pod.folder.cleanup)
        return pod

    def run_to_end(self, process):
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        return out

    def test_the_role_is_what_muster_says_that_the_examples_need(self):
        needed = set()
        for options in (["job=train"], ["job_to_label_mapping={worker: app=elastic}"]):
            run = ask(server, None, "--principal", "ml:trainer", "--watch", "--json", options=options, verb="permissions")
            for one in run.answer[0]["permissions"]:
                self.assertEqual((one["principal"], one["scope"]), ("ml:trainer", "namespace ml"))
                needed.add(one["rule"])
        given = {f"{verb} {resource}{'.' * bool(group)}{group}" for rule in permitted["Role"]["rules"]
                 for verb in rule["verbs"] for resource in rule["resources"] for group in rule["apiGroups"]}
        self.assertEqual(given, needed)
        self.assertEqual(permitted["RoleBinding"]["subjects"], [{"kind": "ServiceAccount", "name": "trainer", "namespace": "ml"}])

    def test_the_init_container_waits_for_all_pods_and_the_trainer_reads_who_they_are(self):
        job = create("init-container.yaml")[0]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": job["metadata"]["uid"]}
        pods = [self.pod(f"train-{n}-x7k2p", job["spec"]["template"], {"batch.kubernetes.io/job-completion-index": str(n)}, owner,
                    ip="10.8.0.1" if n == 0 else None) for n in range(2)]
        waiting = [pod.start("initContainers", "muster") for pod in pods]
        try:
            time.sleep(3)
            self.assertEqual([process.poll() for process in waiting], [None, None])
            self.assertEqual([os.path.exists(pod.path("volume/env")) for pod in pods], [False, False])
            pods[1].has_address("10.8.0.2")
            for process in waiting:
                self.run_to_end(process)
        finally:
            for process in waiting:
                end(process)
        for n, pod in enumerate(pods):
            seen = dict(line.split("=", 1) for line in self.run_to_end(pod.start("containers", "trainer")).splitlines() if "=" in line)
            config = json.loads(seen["TF_CONFIG"])
            self.assertEqual(config["cluster"], {"worker": ["10.8.0.1:8470", "10.8.0.2:8470"]})
            self.assertEqual(config["task"], {"type": "worker", "index": n})
            self.assertEqual((seen["RANK"], seen["WORLD_SIZE"], seen["MASTER_ADDR"]), (str(n), "2", "10.8.0.1"))

    def test_the_init_container_ends_where_a_person_has_to_mend_something(self):
        template = create("init-container.yaml", "--dry-run=server")[0]["spec"]["template"]
        container = template["spec"]["initContainers"][0]
        container["command"] = [word.replace("job=train", "jbo=train") for word in container["command"]]
        process = self.pod("mistaken", template, ip="10.8.0.3").start("initContainers", "muster")
        try:
            _, err = process.communicate(timeout=60)
        finally:
            end(process)
        self.assertEqual(process.returncode, 12)
        self.assertIn("jbo", err)

    def test_the_sidecar_keeps_the_list_and_ends_when_told(self):
        template = create("sidecar.yaml")[0]["spec"]["template"]
        pods = [self.pod(f"elastic-{n}", template, ip=f"10.8.1.{n}") for n in range(2)]
        workers = pods[0].path("volume/workers")
        sidecar = pods[0].start("initContainers", "muster")
        try:
            self.assertTrue(wait_for(lambda: os.path.exists(workers)))
            self.assertEqual(read(workers), "10.8.1.0:8470\n10.8.1.1:8470\n")
            pods.append(self.pod("elastic-2", template, ip="10.8.1.9"))
            self.assertTrue(wait_for(lambda: read(workers).endswith("\n10.8.1.9:8470\n")), read(workers))
            sidecar.terminate()
            sidecar.communicate(timeout=10)
            self.assertEqual(sidecar.returncode, -signal.SIGTERM)
        finally:
            end(sidecar)


if __name__ == "__main__":
    unittest.main()

"""A running kube-apiserver for script tests: starts the program of tests/apiserver, fills it, asks it, stops it.

The program is taken from MUSTER_TEST_APISERVER, else from build-ci/apiserver; without it the test says SKIP and ends with 77.
"""
import base64
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAM = os.environ.get("MUSTER_TEST_APISERVER") or os.path.normpath(os.path.join(ROOT, "build-ci", "apiserver"))
if not os.access(PROGRAM, os.X_OK):
    print(f"SKIP: NO KUBE-APISERVER at {PROGRAM}; build it: tests/apiserver/build build-ci/apiserver", file=sys.stderr)
    sys.exit(77)


class ApiServer:
    """with ApiServer(FLAG...) as server: ... ; FLAGs are kube-apiserver's. It stops at the end of its stdin, whatever
    happens here. Has `folder` and `ready` as a Sim has, so that asking.ask takes it; there the user is the administrator."""

    def __init__(self, *flags):
        self.folder = tempfile.TemporaryDirectory(prefix="k8s.")
        env = {**os.environ, "TMPDIR": self.folder.name, "GOGC": "50"}  # less garbage kept is less memory
        self.process = subprocess.Popen([PROGRAM, *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("kube-apiserver did not start")
        self.ready = json.loads(line)
        context = ssl.create_default_context(cafile=self.ready["ca"])
        context.load_cert_chain(self.ready["client_certificate"], self.ready["client_key"])
        self.admin = http.client.HTTPSConnection(self.ready["host"], self.ready["port"], timeout=30, context=context)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.admin.close()
        self.process.stdin.close()
        self.process.wait(timeout=60)
        self.process.stdout.close()
        self.folder.cleanup()

    def command(self, line):
        """What the program answers to a line of its standard input."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{line}: {answer['error']}")
        self.admin.close()  # It may have been cut; it opens anew by itself.
        return answer

    def request(self, method, path, body=None, kind="application/json"):
        """Status and object (text, where it is no JSON) of a request of the administrator."""
        text = None if body is None else json.dumps(body)
        self.admin.request(method, path, body=text, headers={"Content-Type": kind, "User-Agent": "muster-tests"})
        response = self.admin.getresponse()
        body = response.read()
        return response.status, json.loads(body) if "json" in response.getheader("Content-Type", "") else body.decode()

    def must(self, method, path, body=None, kind="application/json"):
        """The object, of a request that has to work."""
        status, answer = self.request(method, path, body, kind)
        if status // 100 != 2:
            raise RuntimeError(f"{method} {path}: {status}: {answer}")
        return answer

    def namespace(self, name):
        self.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        return name

    def pod(self, namespace, name, labels=None, ip=None, status=None, node="node-a", deleting=False, spec=None, **metadata):
        """Makes a pod, running with that IP unless `status` says otherwise, which goes into its status as it is; `spec` goes
        over what is needed at least."""
        path = f"/api/v1/namespaces/{namespace}/pods"
        spec = {"containers": [{"name": "main", "image": "registry.example/trainer"}], "restartPolicy": "Never", **(spec or {})}
        if node:
            spec["nodeName"] = node
        self.must("POST", path, {"metadata": {"name": name, "labels": labels or {}, **metadata}, "spec": spec})
        full = {"phase": "Running", **(status or {})}
        if ip:
            full.update(podIP=ip, podIPs=[{"ip": ip}])
        self.must("PATCH", f"{path}/{name}/status", {"status": full}, "application/merge-patch+json")
        if deleting:  # No kubelet confirms it, so it stays as one that is being deleted.
            self.must("DELETE", f"{path}/{name}")

    def allow(self, namespace, kind, name):
        """A Role to list pods in the namespace, bound to a User, Group or (of that namespace) ServiceAccount."""
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
        role = f"lister-{name}"
        subject = {"kind": kind, "name": name}
        subject.update({"namespace": namespace} if kind == "ServiceAccount" else {"apiGroup": "rbac.authorization.k8s.io"})
        self.must("POST", path + "/roles", {"metadata": {"name": role}, "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]})
        self.must("POST", path + "/rolebindings", {"metadata": {"name": role}, "subjects": [subject], "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role}})

    def account(self, namespace, name):
        """Makes a service account; its token, valid for an hour."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        self.must("POST", path, {"metadata": {"name": name}})
        return self.must("POST", f"{path}/{name}/token", {"spec": {"expirationSeconds": 3600}})["status"]["token"]

    def kubeconfig(self, user, namespace, cluster=None, name="c"):
        """Writes a kubeconfig with one context; `user` and `cluster` are entries, the cluster's default this server; None
        takes one away."""
        path = os.path.join(self.folder.name, name + ".kubeconfig")
        cluster = {"server": self.ready["url"], "certificate-authority": self.ready["ca"], **(cluster or {})}
        cluster = {key: value for key, value in cluster.items() if value is not None}
        with open(path, "w") as file:
            json.dump({"current-context": name, "clusters": [{"name": name, "cluster": cluster}],
                       "users": [{"name": name, "user": user}], "contexts": [
                           {"name": name, "context": {"cluster": name, "user": name, "namespace": namespace}}]}, file)
        return path


def started(*flags):
    """For setUpModule: a server for all tests of the file, which stops behind the last."""
    server = ApiServer(*flags)
    unittest.addModuleCleanup(server.__exit__)
    return server


def read(path):
    with open(path) as file:
        return file.read()


def encoded(path):
    return base64.b64encode(read(path).encode()).decode()

"""What the real kube-apiserver forbids is told with the Role that allows it, and that Role does allow it."""
import os
import subprocess
import time
import unittest

from apiserver import read, started
from asking import PLUGINS, ask, kubectl_or_skip
from library import Cluster, MusterError


kubectl_or_skip()


def setUpModule():
    global server
    server = started()
    for n, namespace in enumerate(("ml", "other"), 1):
        server.namespace(namespace)
        server.pod(namespace, "w-0", {"app": "t"}, f"10.8.0.{n}")


class Permissions(unittest.TestCase):
    def forbidden(self, run, *words):
        self.assertEqual((run.code, run.out), (13, ""), run)
        for word in words:
            self.assertIn(word, run.err)

    def paste(self, run):
        """Types what the error says into the administrator's shell, as it stands there."""
        lines = run.err.splitlines()
        command = next(n for n, line in enumerate(lines) if line.startswith("kubectl apply"))
        self.administrate(["sh"], "\n".join(lines[command:]))

    def apply(self, text):
        self.administrate(["kubectl", "apply", "-f", "-"], text)

    def administrate(self, command, text):
        subprocess.run(command, input=text, text=True, check=True, capture_output=True, timeout=60,
                       env={"PATH": os.environ["PATH"], "HOME": server.folder.name, "KUBECONFIG": server.ready["kubeconfig"]})

    def test_a_user_may_list_after_the_printed_role_is_applied_and_nobody_else(self):
        token = {"KUBECONFIG": server.kubeconfig({"token": read(server.ready["token_file"])}, "ml")}
        run = ask(server, env=token)
        self.forbidden(run, "may not list pods in namespace 'ml'", 'User "alice" cannot list resource "pods" in API group ""')
        self.paste(run)
        self.assertEqual(ask(server, env=token).cluster(), {"worker": ["10.8.0.1:8470"]})
        self.forbidden(ask(server, env=token, options=["namespace=other"]), "in namespace 'other'")
        self.forbidden(ask(server, options=["context=carol"]), 'User "carol" cannot list')

    def test_two_accounts_with_one_role_do_not_replace_each_other(self):
        environments = []
        for name in ("first", "second"):
            token = server.account("ml", name)
            environments.append({"KUBECONFIG": server.kubeconfig({"token": token}, "ml", name=name)})
        for env in environments:
            run = ask(server, env=env)
            self.forbidden(run, 'User "system:serviceaccount:ml:')
            self.paste(run)
        for env in environments:
            self.assertEqual(ask(server, env=env).cluster(), {"worker": ["10.8.0.1:8470"]})

    def test_all_namespaces_take_the_printed_cluster_role(self):
        options = ["context=carol", "all_namespaces=true"]
        run = ask(server, options=options)
        self.forbidden(run, "may not list pods in all namespaces", "at the cluster scope", "kind: ClusterRole\n")
        self.paste(run)
        run = ask(server, options=options)
        self.assertEqual(run.cluster(), {"worker": ["10.8.0.1:8470", "10.8.0.2:8470"]}, run)

    def test_a_finder_says_at_once_all_that_it_needs(self):
        namespace = server.namespace("finder")
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/trainer"}]}}
        job = server.must("POST", f"/apis/batch/v1/namespaces/{namespace}/jobs", {
            "metadata": {"name": "train"}, "spec": {"completionMode": "Indexed", "completions": 1, "template": template}})
        uid = job["metadata"]["uid"]
        server.pod(namespace, "train-0-x", {"batch.kubernetes.io/controller-uid": uid,
                                            "batch.kubernetes.io/job-completion-index": "0"}, "10.8.0.7", ownerReferences=[
            {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": uid, "controller": True}])
        options = ["context=carol", "job=train", f"namespace={namespace}"]
        run = ask(server, None, options=options)
        self.forbidden(run, 'cannot get resource "jobs" in API group "batch"')
        self.paste(run)
        run = ask(server, None, options=options)
        self.assertEqual(run.answer and run.cluster(), {"worker": ["10.8.0.7:8470"]}, run)

    def test_a_watch_works_with_what_is_printed_for_a_watch_and_not_without(self):
        config = "cluster: {backend: kubernetes, options: {namespace: ml, job_to_label_mapping: {worker: [app=t]}, kubeconfig: '%s'}}"
        for name, words, stale in (("resolver", [], True), ("watcher", ["--watch"], False)):
            token = server.account("ml", name)
            path = server.kubeconfig({"token": token}, "ml", name=name)
            printed = ask(server, "{worker: [app=t]}", "--principal", name, *words, options=["namespace=ml"], verb="permissions")
            self.apply(printed.out)
            deadline = time.monotonic() + 10
            while ask(server, env={"KUBECONFIG": path}).code == 13 and time.monotonic() < deadline:
                time.sleep(0.1)
            with Cluster(config % path, plugin_dir=PLUGINS) as cluster, cluster.watch() as watch:
                self.assertEqual(watch.next()["cluster"], {"worker": ["10.8.0.1:8470"]})
                if stale:
                    told = watch.next()
                    self.assertIn("may not watch pods", str(told["warnings"]))
                else:
                    with self.assertRaises(MusterError) as nothing_new:
                        watch.next(3000)
                    self.assertEqual(nothing_new.exception.code, "DEADLINE_EXCEEDED")

    def test_a_free_place_that_nobody_filled_is_refused_by_the_server(self):
        printed = ask(server, "{worker: [app=t]}", options=["namespace=ml"], verb="permissions")
        self.assertIn("nobody said who is to be allowed", printed.err)
        with self.assertRaises(subprocess.CalledProcessError) as refused:
            self.apply(printed.out)
        self.assertIn("NAME-OF-THE-SERVICE-ACCOUNT", refused.exception.stderr)


if __name__ == "__main__":
    unittest.main()

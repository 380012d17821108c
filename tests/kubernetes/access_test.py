"""How the API server is found: kubeconfig as kubectl reads it, a pod's service account, and the namespace."""
import base64
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

from asking import SIM, Sim, ask, lists, world
from mount_namespace import in_pod, may_mount

KUBECTL = shutil.which("kubectl") or os.environ.get("MUSTER_SIM_KUBECTL", "")
KUBECTL = KUBECTL if os.access(KUBECTL, os.X_OK) else None
PODS = """  pods:
    - {name: w-0, namespace: ml, labels: {app: t}, ip: 10.8.0.1}
    - {name: w-0, namespace: other, labels: {app: t}, ip: 10.8.0.2}
    - {name: w-0, namespace: default, labels: {app: t}, ip: 10.8.0.3}
"""
ML, OTHER, DEFAULT = ({"worker": [f"10.8.0.{n}:8470"]} for n in (1, 2, 3))


def read(path):
    with open(path) as file:
        return file.read()


def encoded(path):
    return base64.b64encode(read(path).encode()).decode()


def config(sim, user, cluster=None, namespace="ml", name="c"):
    """A kubeconfig of one context in the sim's folder; `cluster` replaces its authority."""
    path = os.path.join(sim.folder.name, name + ".kubeconfig")
    cluster = cluster or f"certificate-authority: '{sim.ready['ca']}'"
    server = "" if "server:" in cluster else f"server: '{sim.ready['url']}', "
    with open(path, "w") as file:
        file.write(f"current-context: {name}\nclusters: [{{name: {name}, cluster: {{{server}{cluster}}}}}]\n"
                   f"users: [{{name: {name}, user: {{{user}}}}}]\n"
                   f"contexts: [{{name: {name}, context: {{cluster: {name}, user: {name}, namespace: {namespace}}}}}]\n")
    return path


class Kubeconfig(unittest.TestCase):
    def test_every_way_to_be_somebody_works(self):
        with world(PODS) as sim:
            ready = sim.ready
            for user in (f"token: {sim.token}", f"tokenFile: '{ready['token_file']}'",
                         f"client-certificate: '{ready['client_certificate']}', client-key: '{ready['client_key']}'",
                         f"client-certificate-data: {encoded(ready['client_certificate'])}, "
                         f"client-key-data: {encoded(ready['client_key'])}"):
                run = ask(sim, env={"KUBECONFIG": config(sim, user)})
                self.assertEqual((run.code, run.answer and run.cluster()), (0, ML), run)
            run = ask(sim, env={"KUBECONFIG": None}, options=[f"kubeconfig={config(sim, 'token: ' + sim.token)}"])
            self.assertEqual(run.cluster(), ML, run)

    def test_two_files_are_merged_and_paths_are_relative_to_their_file(self):
        with world(PODS) as sim:
            folder = os.path.join(sim.folder.name, "sub")
            os.mkdir(folder)
            shutil.copy(sim.ready["ca"], os.path.join(folder, "my-ca"))
            shutil.copy(sim.ready["token_file"], os.path.join(folder, "my-token"))
            first, second = os.path.join(sim.folder.name, "first"), os.path.join(folder, "second")
            with open(first, "w") as file:
                file.write("current-context: mine\ncontexts: [{name: mine, context: {cluster: k, user: u, namespace: other}}]\n")
            with open(second, "w") as file:
                file.write("current-context: not-this\ncontexts: [{name: mine, context: {cluster: x, user: x}}]\n"
                           f"clusters: [{{name: k, cluster: {{server: '{sim.ready['url']}', certificate-authority: my-ca}}}}]\n"
                           "users: [{name: u, user: {tokenFile: my-token}}]\n")
            run = ask(sim, env={"KUBECONFIG": f"{first}:{folder}/not-there:{second}"})
            self.assertEqual(run.answer and run.cluster(), OTHER, run)

    def test_a_file_is_the_one_that_the_system_opens_for_the_words_also_behind_a_link(self):
        with world(PODS) as sim:
            here, elsewhere = (os.path.join(sim.folder.name, name) for name in ("here", "elsewhere"))
            os.makedirs(os.path.join(elsewhere, "deep"))
            os.mkdir(here)
            os.symlink(os.path.join(elsewhere, "deep"), os.path.join(here, "link"))
            shutil.copy(sim.ready["token_file"], os.path.join(elsewhere, "my-token"))
            with open(os.path.join(here, "my-token"), "w") as file:
                file.write("not-the-token")
            path = os.path.join(here, "config")
            with open(path, "w") as file:
                file.write("current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: other}}]\n"
                           f"clusters: [{{name: k, cluster: {{server: '{sim.ready['url']}', certificate-authority: '{sim.ready['ca']}'}}}}]\n"
                           "users: [{name: u, user: {tokenFile: link/../my-token}}]\n")
            run = ask(sim, env={"KUBECONFIG": path})
            self.assertEqual(run.answer and run.cluster(), OTHER, run)

    def test_a_wrong_authority_is_a_plain_tls_error_and_gets_no_token(self):
        with world(PODS) as sim, world(PODS) as stranger:
            path = config(sim, f"token: {sim.token}", f"certificate-authority: '{stranger.ready['ca']}'")
            run = ask(sim, "{worker: [app=t]}", "--timeout", "5s", env={"KUBECONFIG": path})
            self.assertEqual(lists(sim), [])
        self.assertEqual(run.code, 12, run)
        self.assertIn("certificate", run.err)
        self.assertEqual(run.out, "")

    def test_insecure_skip_tls_verify_and_tls_server_name(self):
        with world(PODS) as sim:
            path = config(sim, f"token: {sim.token}", "insecure-skip-tls-verify: true")
            self.assertEqual(ask(sim, env={"KUBECONFIG": path}).cluster(), ML)
        with Sim(SIM, "tls: {names: [api.example]}\nkubernetes:\n  namespaces: [ml, other]\n" + PODS) as sim:
            ca = f"certificate-authority: '{sim.ready['ca']}'"
            path = config(sim, f"token: {sim.token}", ca + ", tls-server-name: api.example")
            self.assertEqual(ask(sim, env={"KUBECONFIG": path}).cluster(), ML)
            path = config(sim, f"token: {sim.token}", ca)
            run = ask(sim, "{worker: [app=t]}", "--timeout", "5s", env={"KUBECONFIG": path})
            self.assertEqual(run.code, 12, run)
            self.assertIn("certificate", run.err)

    def test_a_path_prefix_stays_before_the_api(self):
        with world("  path_prefix: /k8s/clusters/c-1\n" + PODS) as sim:
            run = ask(sim)
            self.assertEqual(run.answer and run.cluster(), ML, run)
            self.assertEqual(lists(sim)[0]["path"], "/k8s/clusters/c-1/api/v1/namespaces/ml/pods")

    def test_an_id_token_counts_for_a_replay_as_it_did_when_it_was_recorded(self):
        def token(expires):
            parts = ({"alg": "none"}, {"sub": "frank", "exp": int(expires)})
            return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + ".c2lnbmVk"

        expires = time.time() + 4
        good, expired = token(expires), token(expires - 3600)
        with world(f"  auth: {{token: {good}}}\n" + PODS) as sim:
            def asked(provided, *arguments):
                user = f"auth-provider: {{name: oidc, config: {{id-token: {provided}}}}}"
                return ask(sim, "{worker: [app=t]}", *arguments, env={"KUBECONFIG": config(sim, user)})

            path = os.path.join(sim.folder.name, "recording")
            before = asked(good, "--record", path)
            self.assertEqual((before.code, before.answer and before.cluster()), (0, ML), before)
            time.sleep(max(expires + 0.1 - time.time(), 0))
            run = asked(good)
            self.assertEqual(run.code, 13, run)
            self.assertIn("the id-token of its auth-provider expired at", run.err)
            again = asked(good, "--replay", path)
            self.assertEqual((again.code, again.out), (0, before.out), again)

            before = asked(expired, "--record", path)
            self.assertEqual(before.code, 13, before)
            self.assertNotIn(expired[-20:], read(path))
            again = asked(expired, "--replay", path)
            self.assertEqual((again.code, again.err), (13, before.err), again)

    def test_the_credentials_of_users_that_nobody_chose_are_in_no_recording(self):
        with world(PODS) as sim:
            other = os.path.join(sim.folder.name, "others")
            with open(other, "w") as file:
                file.write("users:\n"
                           "- {name: a, user: {token: other-token-1}}\n"
                           "- {name: b, user: {username: bo, password: other-password-2}}\n"
                           "- {name: c, user: {client-key-data: b3RoZXIta2V5LTM=}}\n"
                           "- name: d\n  user:\n    client-key-data: |\n      first-line-of-other-key-4\n"
                           "      second-line-of-other-key-5\n"
                           "- {name: e, user: {auth-provider: {name: x, config: {id-token: other-id-6}}}}\n"
                           "- {name: f, user: {exec: {command: x, args: [--client-secret, other-arg-7, --token=other-arg-8],"
                           " env: [{name: MY_TOKEN, value: other-env-9}]}}}\n"
                           "clusters: [{name: p, cluster: {server: 'https://x', proxy-url: 'http://me:other-proxy-0@p'}}]\n")
            path = os.path.join(sim.folder.name, "recording")
            run = ask(sim, "{worker: [app=t]}", "--record", path,
                      env={"KUBECONFIG": f"{sim.ready['kubeconfig']}:{other}"})
            self.assertEqual(run.code, 0, run)
            text = read(path)
            self.assertTrue("name: a" in text)
            for secret in ("other-", "b3RoZXIta2V5LTM", "not-a-token", sim.token):
                self.assertFalse(secret in text, [l for l in text.splitlines() if secret in l])
            with open(other, "a") as file:
                file.write("contexts: [\n")  # no YAML any more
            run = ask(sim, "{worker: [app=t]}", "--record", path,
                      env={"KUBECONFIG": f"{sim.ready['kubeconfig']}:{other}"})
            self.assertEqual(run.code, 12, run)
            self.assertFalse("other-" in read(path) + run.all.replace(other, ""))


class Namespace(unittest.TestCase):
    def test_it_is_the_contexts_or_the_options_else_default_and_never_another(self):
        with world(PODS) as sim:
            self.assertEqual(ask(sim).cluster(), ML)
            self.assertEqual(ask(sim, options=["namespace=other"]).cluster(), OTHER)
            path = config(sim, f"token: {sim.token}", namespace="''")
            self.assertEqual(ask(sim, env={"KUBECONFIG": path}).cluster(), DEFAULT)
            # Outside a pod the variable says nothing, as with kubectl and a kubeconfig.
            self.assertEqual(ask(sim, env={"POD_NAMESPACE": "other"}).cluster(), ML)
            everywhere = ask(sim, options=["all_namespaces=true"])
            self.assertEqual(len(everywhere.cluster()["worker"]), 3)


class InCluster(unittest.TestCase):
    """With a /run of its own, in which the service account stands where a pod has it."""

    def setUp(self):
        if not may_mount():
            print("SKIP: NO MOUNT NAMESPACE HERE, so the service account is not tried", file=sys.stderr)
            self.skipTest("no mount namespace")

    @staticmethod
    def inside(sim, env):
        """What to run a program with, so that it is in a pod: the words before it, and its environment."""
        return in_pod(sim.ready["in_cluster"]), {
            "KUBERNETES_SERVICE_HOST": sim.ready["host"], "KUBERNETES_SERVICE_PORT": str(sim.ready["port"]),
            "KUBECONFIG": None, **(env or {})}

    def ask(self, sim, env=None, **more):
        before, pod = self.inside(sim, env)
        return ask(sim, env=pod, before=before, **more)

    def test_with_and_without_a_kubeconfig_it_goes_where_kubectl_goes(self):
        if not KUBECTL:
            self.skipTest("no kubectl")
        with world(PODS) as sim:
            token = f"token: {sim.token}"
            nowhere = config(sim, token, namespace="''", name="nowhere")
            other = config(sim, token, namespace="other", name="other")
            empty = os.path.join(sim.folder.name, "empty")
            with open(empty, "w") as file:
                file.write("apiVersion: v1\nkind: Config\n")
            for env in ({}, {"POD_NAMESPACE": "other"}, {"KUBECONFIG": nowhere}, {"KUBECONFIG": other}, {"KUBECONFIG": empty},
                        {"KUBECONFIG": nowhere, "POD_NAMESPACE": "other"}, {"KUBECONFIG": "/none", "POD_NAMESPACE": "ml"}):
                with self.subTest(env=env):
                    before, pod = self.inside(sim, env)
                    pod = {"PATH": os.environ["PATH"], "HOME": sim.folder.name, **pod}
                    judge = subprocess.run([*before, KUBECTL, "get", "pods", "-o", "jsonpath={.items[*].status.podIP}"],
                                           env={k: v for k, v in pod.items() if v is not None}, capture_output=True,
                                           text=True, timeout=60, stdin=subprocess.DEVNULL)
                    run = self.ask(sim, env)
                    self.assertEqual(run.answer and run.cluster(), {"worker": [judge.stdout + ":8470"]}, (judge, run))

    def test_the_service_account_is_taken_with_its_namespace(self):
        with world(PODS) as sim:
            own = read(os.path.join(sim.ready["in_cluster"], "namespace")).strip()
            run = self.ask(sim)
            self.assertEqual(run.answer and run.cluster(), {"ml": ML, "other": OTHER, "default": DEFAULT}[own], run)
            self.assertTrue(lists(sim)[0]["authorised"])

    def test_POD_NAMESPACE_goes_before_the_file_and_the_option_before_both(self):
        with world(PODS) as sim:
            self.assertEqual(self.ask(sim, {"POD_NAMESPACE": "other"}).cluster(), OTHER)
            self.assertEqual(self.ask(sim, {"POD_NAMESPACE": "other"}, options=["namespace=default"]).cluster(), DEFAULT)

    def test_a_pod_knows_itself_by_its_host_name(self):
        with world(PODS) as sim:
            run = self.ask(sim, {"HOSTNAME": "w-0", "POD_NAMESPACE": "ml"}, options=["executable_location=within_cluster"])
            self.assertEqual(run.answer["task"]["index"], 0, run)

    def test_an_ipv6_server_is_reached(self):
        text = "tls: true\nkubernetes:\n  namespaces: [ml, other]\n" + PODS
        try:
            sim = Sim(SIM, text, "--listen", "::1")
        except RuntimeError:
            self.skipTest("no IPv6 loopback here")
        with sim:
            run = self.ask(sim, {"POD_NAMESPACE": "ml"})
            self.assertEqual(run.answer and run.cluster(), ML, run)


if __name__ == "__main__":
    unittest.main()

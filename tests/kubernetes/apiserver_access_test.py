"""Ways to be somebody at the real kube-apiserver: certificate, token, token file, service account, inside a pod."""
import json
import os
import shutil
import sys
import time
import unittest

from apiserver import encoded, read, started
from asking import PLUGINS, ask
from forwarding import Proxy
from library import Cluster
from mount_namespace import in_pod, may_mount


def setUpModule():
    global server
    server = started()
    for n, namespace in enumerate(("ml", "other"), 1):
        server.namespace(namespace)
        server.pod(namespace, "w-0", {"app": "t"}, f"10.8.0.{n}")


ML, OTHER = ({"worker": [f"10.8.0.{n}:8470"]} for n in (1, 2))


class World(unittest.TestCase):
    def gives(self, expected, run):
        self.assertEqual((run.code, run.answer and run.cluster()), (0, expected), run)

    def refused(self, run, *words, code=13):
        self.assertEqual((run.code, run.out), (code, ""), run)
        for word in words:
            self.assertIn(word, run.err)

    def ask_as(self, user, namespace="ml", **more):
        return ask(server, env={"KUBECONFIG": server.kubeconfig(user, namespace)}, **more)


class Users(World):
    def test_a_client_certificate_from_files_or_data(self):
        folder = server.ready["directory"]
        certificate, key = os.path.join(folder, "carol.crt"), os.path.join(folder, "carol.key")
        files = {"client-certificate": certificate, "client-key": key}
        self.refused(self.ask_as(files, "other"), 'User "carol" cannot list resource "pods"')
        server.allow("ml", "User", "carol")
        self.gives(ML, self.ask_as(files))
        self.gives(ML, self.ask_as({"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}))

    def test_a_token_and_a_token_file_that_rotates(self):
        server.allow("other", "User", "alice")
        token = read(server.ready["token_file"])
        self.gives(OTHER, self.ask_as({"token": token}, "other"))
        path = os.path.join(server.folder.name, "rotating")
        with open(path, "w") as file:
            file.write("an-old-token")
        self.refused(self.ask_as({"tokenFile": path}, "other"), "Unauthorized")
        with open(path, "w") as file:
            file.write(token + "\n")
        self.gives(OTHER, self.ask_as({"tokenFile": path}, "other"))

    def test_a_group_of_the_users_is_enough(self):
        server.namespace("groups")
        server.pod("groups", "w-0", {"app": "t"}, "10.8.0.1")
        server.allow("groups", "Group", "trainers")
        self.gives(ML, self.ask_as({"token": read(server.ready["token_file"])}, "groups"))

    def test_a_wrong_token_is_UNAUTHENTICATED_and_is_not_repeated(self):
        run = self.ask_as({"token": "no-token-of-this-server"})
        self.refused(run, "refuses the credentials of user 'c'", "'Unauthorized'")
        self.assertNotIn("no-token-of-this-server", run.all)

    def test_impersonation_is_the_other_user(self):
        admin = {"client-certificate": server.ready["client_certificate"], "client-key": server.ready["client_key"]}
        self.refused(self.ask_as({**admin, "as": "dave"}), 'User "dave" cannot list')
        server.allow("ml", "User", "erin")
        self.gives(ML, self.ask_as({**admin, "as": "erin"}))

    def test_a_wrong_authority_is_a_plain_tls_error(self):
        path = server.kubeconfig({"token": read(server.ready["token_file"])}, "ml",
                                 {"certificate-authority": os.path.join(server.ready["directory"], "carol.crt")})
        run = ask(server, "{worker: [app=t]}", "--timeout", "5s", env={"KUBECONFIG": path})
        self.refused(run, "certificate", code=12)


class Ways(World):
    """How a kubeconfig's cluster says where the server is and who it has to be."""

    def ask_by(self, **cluster):
        admin = {"client-certificate": server.ready["client_certificate"], "client-key": server.ready["client_key"]}
        return ask(server, "{worker: [app=t]}", "--timeout", "10s",
                   env={"KUBECONFIG": server.kubeconfig(admin, "ml", {key.replace("_", "-"): value for key, value in cluster.items()})})

    def test_tls_server_name_is_the_name_that_the_certificate_must_have(self):
        self.gives(ML, self.ask_by(tls_server_name="kubernetes.default.svc"))
        self.refused(self.ask_by(tls_server_name="another.example"), "certificate", "another.example", code=12)

    def test_without_an_authority_only_insecure_skip_tls_verify_goes_on(self):
        unknown = {"certificate_authority": None}
        self.refused(self.ask_by(**unknown), "certificate", code=12)
        self.gives(ML, self.ask_by(**unknown, insecure_skip_tls_verify=True))

    def test_a_proxy_url_by_http_and_by_socks_5(self):
        with Proxy(server.ready["port"]) as proxy:
            for scheme in ("http", "socks5"):
                with self.subTest(scheme=scheme):
                    proxy.asked.clear()
                    self.gives(ML, self.ask_by(server="https://only-the-proxy.knows:6443", tls_server_name="localhost",
                                               proxy_url=f"{scheme}://127.0.0.1:{proxy.own}"))
                    self.assertEqual(set(proxy.asked), {"only-the-proxy.knows:6443"})


class Programs(World):
    """A credential program that prints what stands in a file, and how often it ran."""

    def setUp(self):
        self.program = os.path.join(server.folder.name, "fetch")
        with open(self.program, "w") as file:
            file.write('#!/bin/sh\necho ran >> "$0.ran"\ncat "$0.print"\n')
        os.chmod(self.program, 0o755)
        with open(self.program + ".ran", "w"):
            pass

    def user(self):
        return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": self.program,
                         "interactiveMode": "Never"}}

    def prints(self, **status):
        with open(self.program + ".print", "w") as file:
            json.dump({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}, file)

    def test_the_token_or_the_certificate_of_a_program(self):
        server.namespace("programs")
        server.pod("programs", "w-0", {"app": "t"}, "10.8.0.1")
        server.allow("programs", "Group", "trainers")
        self.prints(token=read(server.ready["token_file"]))
        self.gives(ML, self.ask_as(self.user(), "programs"))
        folder = server.ready["directory"]
        self.prints(clientCertificateData=read(os.path.join(folder, "carol.crt")),
                    clientKeyData=read(os.path.join(folder, "carol.key")))
        self.gives(ML, self.ask_as(self.user(), "programs"))
        self.prints(token="no-token-of-this-server")
        self.refused(self.ask_as(self.user(), "programs"), "Unauthorized")

    def test_a_token_that_the_server_refuses_after_a_while_is_fetched_anew(self):
        server.namespace("renewal")
        server.pod("renewal", "w-0", {"app": "t"}, "10.8.0.1")
        account = "/api/v1/namespaces/renewal/serviceaccounts/trainer"
        self.prints(token=server.account("renewal", "trainer"))
        server.allow("renewal", "ServiceAccount", "trainer")
        config = ("cluster: {backend: kubernetes, options: {job_to_label_mapping: {worker: [app=t]}, "
                  f"kubeconfig: '{server.kubeconfig(self.user(), 'renewal')}'}}}}")
        with Cluster(config, plugin_dir=PLUGINS) as cluster:
            for runs in (1, 1):
                self.assertEqual(cluster.resolve()["cluster"], ML)
                self.assertEqual(len(read(self.program + ".ran").splitlines()), runs)
            server.must("DELETE", account)
            self.prints(token=server.account("renewal", "trainer"))
            server.command("restart")  # else it believes for ten seconds what it has once seen
            self.assertEqual(cluster.resolve()["cluster"], ML)
            self.assertEqual(len(read(self.program + ".ran").splitlines()), 2)


class ServiceAccounts(World):
    def test_a_requested_token_counts_from_its_binding_until_the_account_goes(self):
        user = {"token": server.account("ml", "trainer")}
        self.refused(self.ask_as(user), 'User "system:serviceaccount:ml:trainer" cannot list resource "pods"')
        server.allow("ml", "ServiceAccount", "trainer")
        self.gives(ML, self.ask_as(user))
        server.must("DELETE", "/api/v1/namespaces/ml/serviceaccounts/trainer")
        # The server believes what it has once seen for ten seconds.
        deadline = time.monotonic() + 30
        while (run := self.ask_as(user)).code == 0 and time.monotonic() < deadline:
            time.sleep(0.5)
        self.refused(run, "Unauthorized")

    def test_inside_a_pod_the_mounted_account_and_its_namespace_count(self):
        if not may_mount():
            print("SKIP: NO MOUNT NAMESPACE HERE, so the mounted service account is not tried", file=sys.stderr)
            self.skipTest("no mount namespace")
        account = os.path.join(server.folder.name, "account")
        os.mkdir(account)
        shutil.copy(server.ready["ca"], os.path.join(account, "ca.crt"))
        for name, text in (("namespace", "other"), ("token", server.account("other", "inside"))):
            with open(os.path.join(account, name), "w") as file:
                file.write(text)
        pod = {"KUBERNETES_SERVICE_HOST": server.ready["host"], "KUBERNETES_SERVICE_PORT": str(server.ready["port"]),
               "KUBECONFIG": None}
        self.refused(ask(server, env=pod, before=in_pod(account)), "of the pod's service account", 'namespace: "other"',
                     '{kind: ServiceAccount, namespace: "other", name: "inside"}')
        server.allow("other", "ServiceAccount", "inside")
        self.gives(OTHER, ask(server, env=pod, before=in_pod(account)))


if __name__ == "__main__":
    unittest.main()

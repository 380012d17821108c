"""A real kube-apiserver that has too much to do: its API Priority and Fairness refuses, and is respected."""
import http.client
import ssl
import threading
import time
import unittest

from apiserver import started
from asking import ask

FAIRNESS = "/apis/flowcontrol.apiserver.k8s.io/v1"
ONE_AT_A_TIME = {"type": "Limited", "limited": {"nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0,
                                                "limitResponse": {"type": "Reject"}}}


def setUpModule():
    global server
    server = started()


class Busy(unittest.TestCase):
    def setUp(self):
        """A namespace with a pod, and an account of whose requests one is served at a time and the others are refused."""
        self.namespace = server.namespace("busy")
        server.pod(self.namespace, "w-0", {"app": "t"}, "10.8.0.1")
        self.token = server.account(self.namespace, "trainer")
        account = {"namespace": self.namespace, "name": "trainer"}
        server.must("POST", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{self.namespace}/rolebindings", {
            "metadata": {"name": "all"}, "subjects": [{"kind": "ServiceAccount", **account}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}})
        server.must("POST", FAIRNESS + "/prioritylevelconfigurations", {"metadata": {"name": "one-at-a-time"}, "spec": ONE_AT_A_TIME})
        server.must("POST", FAIRNESS + "/flowschemas", {"metadata": {"name": "one-at-a-time"}, "spec": {
            "priorityLevelConfiguration": {"name": "one-at-a-time"}, "matchingPrecedence": 2, "rules": [{
                "subjects": [{"kind": "ServiceAccount", "serviceAccount": account}],
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}]}]}})

    def occupy(self):
        """A request of the account's that goes on until the connection is closed: its body never comes."""
        context = ssl.create_default_context(cafile=server.ready["ca"])
        connection = http.client.HTTPSConnection(server.ready["host"], server.ready["port"], timeout=60, context=context)
        self.addCleanup(connection.close)
        connection.putrequest("POST", f"/api/v1/namespaces/{self.namespace}/configmaps")
        for name, value in (("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json"), ("Content-Length", "100")):
            connection.putheader(name, value)
        connection.endheaders()
        return connection

    def test_a_request_that_it_has_no_place_for_is_made_again_when_it_says(self):
        env = {"KUBECONFIG": server.kubeconfig({"token": self.token}, self.namespace)}
        busy = self.occupy()
        deadline = time.monotonic() + 20
        while (run := ask(server, "{worker: [app=t]}", "--timeout", "1s", env=env)).code == 0 and time.monotonic() < deadline:
            busy.close()
            time.sleep(0.2)  # The server hears of its own rules a little later.
            busy = self.occupy()
        self.assertNotEqual(run.code, 0, run)
        self.assertEqual(run.out, "")
        self.assertIn("has too much to do: 'Too many requests", run.err)
        relief = threading.Timer(2.5, busy.close)
        relief.start()
        began = time.monotonic()
        run = ask(server, "{worker: [app=t]}", "--timeout", "30s", env=env, verb="explain")
        relief.join()
        self.assertEqual(run.code, 0, run)
        self.assertGreater(time.monotonic() - began, 2)
        # It says Retry-After: 1, and is not asked oftener.
        refusals = run.out.count("\n      429, ")
        self.assertGreaterEqual(refusals, 2, run)
        self.assertLess(refusals, time.monotonic() - began + 1, run)


if __name__ == "__main__":
    unittest.main()

"""proxy-url of a kubeconfig: the ways that kubectl goes too, and that NO_PROXY says nothing of it."""
import os
import shutil
import subprocess
import unittest

from asking import ask, world
from forwarding import Proxy

PODS = "  pods:\n    - {name: w-0, namespace: ml, labels: {app: t}, ip: 10.8.0.1}\n"
KUBECTL = shutil.which("kubectl") or os.environ.get("MUSTER_SIM_KUBECTL", "")


class ProxyUrl(unittest.TestCase):
    def test_muster_goes_through_the_proxy_that_kubectl_goes_through(self):
        with world(PODS) as sim, Proxy(sim.url.port) as proxy:
            path = os.path.join(sim.folder.name, "by-proxy")
            for scheme in ("http", "socks5"):
                # A name that the proxy alone can look up.
                with open(path, "w") as file:
                    file.write(f"""
current-context: c
clusters:
- name: c
  cluster: {{server: 'https://only-the-proxy.knows:6443', tls-server-name: localhost, certificate-authority: '{sim.ready['ca']}',
            proxy-url: '{scheme}://127.0.0.1:{proxy.own}'}}
users: [{{name: u, user: {{token: {sim.token}}}}}]
contexts: [{{name: c, context: {{cluster: c, user: u, namespace: ml}}}}]
""")
                with self.subTest(scheme=scheme):
                    proxy.asked.clear()
                    run = ask(sim, "{worker: [app=t]}", "--timeout", "10s", env={"KUBECONFIG": path, "NO_PROXY": "*"})
                    self.assertEqual(run.answer and run.cluster(), {"worker": ["10.8.0.1:8470"]}, run)
                    self.assertEqual(set(proxy.asked), {"only-the-proxy.knows:6443"})
                    if os.access(KUBECTL, os.X_OK):
                        proxy.asked.clear()
                        judge = subprocess.run([KUBECTL, "get", "pods", "-o", "name"], capture_output=True, text=True, timeout=60,
                                               env={"HOME": sim.folder.name, "KUBECONFIG": path, "NO_PROXY": "*"},
                                               stdin=subprocess.DEVNULL)
                        self.assertEqual((judge.stdout, set(proxy.asked)), ("pod/w-0\n", {"only-the-proxy.knows:6443"}), judge)


if __name__ == "__main__":
    unittest.main()

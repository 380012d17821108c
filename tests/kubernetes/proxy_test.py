"""proxy-url of a kubeconfig: the ways that kubectl goes too, and that NO_PROXY says nothing of it."""
import os
import shutil
import socket
import subprocess
import threading
import unittest

from asking import ask, world

PODS = "  pods:\n    - {name: w-0, namespace: ml, labels: {app: t}, ip: 10.8.0.1}\n"
KUBECTL = shutil.which("kubectl") or os.environ.get("MUSTER_SIM_KUBECTL", "")


class Proxy:
    """Opens each way that it is asked for to `port` on loopback, by SOCKS 5 or by CONNECT; `asked` is for what."""

    def __init__(self, port):
        self.port, self.asked = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(peer,), daemon=True).start()

    def serve(self, peer):
        peer.settimeout(20)
        with peer, socket.create_connection(("127.0.0.1", self.port), timeout=20) as server:
            stream = peer.makefile("rb")
            first = stream.read(1)
            if first == b"\5":
                stream.read(stream.read(1)[0])
                peer.sendall(b"\5\0")
                kind = stream.read(4)[3]
                host = stream.read(stream.read(1)[0]).decode() if kind == 3 else socket.inet_ntoa(stream.read(4))
                self.asked.append(f"{host}:{int.from_bytes(stream.read(2), 'big')}")
                peer.sendall(b"\5\0\0\1\0\0\0\0\0\0")
            else:
                self.asked.append((first + stream.readline()).split()[1].decode())
                while stream.readline() not in (b"\r\n", b""):
                    pass
                peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            threading.Thread(target=self.copy, args=(server.recv, peer.sendall, peer), daemon=True).start()
            self.copy(stream.read1, server.sendall, server)

    @staticmethod
    def copy(take, give, end):
        try:
            while piece := take(65536):
                give(piece)
            end.shutdown(socket.SHUT_WR)
        except OSError:
            pass


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

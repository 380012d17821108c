"""An id-token of an OpenID Connect issuer at the real kube-apiserver, which asks the issuer for its keys."""
import base64
import http.server
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

from apiserver import started
from asking import ask


def unpadded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """On https://127.0.0.1:PORT with a certificate of its own; `token` signs what it is given."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="issuer.")
        self.key, self.certificate = (os.path.join(self.folder.name, name) for name in ("key.pem", "certificate.pem"))
        self.openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", self.key, "-out", self.certificate, "-days", "1",
                     "-subj", "/CN=issuer", "-addext", "subjectAltName=IP:127.0.0.1")
        issuer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps(issuer.documents().get(self.path, {})).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        self.listener.socket = context.wrap_socket(self.listener.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.listener.server_port}"
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    @staticmethod
    def openssl(*arguments, data=b""):
        return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True, timeout=60).stdout

    def documents(self):
        modulus = self.openssl("rsa", "-in", self.key, "-noout", "-modulus").decode().strip().partition("=")[2]
        return {"/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": self.url + "/keys"},
                "/keys": {"keys": [{"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one",
                                    "n": unpadded(bytes.fromhex(modulus)), "e": "AQAB"}]}}

    def token(self, name, lifetime):
        claims = {"iss": self.url, "aud": "muster", "sub": name, "iat": int(time.time()), "exp": int(time.time()) + lifetime}
        text = ".".join(unpadded(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "one"}, claims))
        return text + "." + unpadded(self.openssl("dgst", "-sha256", "-sign", self.key, data=text.encode()))

    def close(self):
        self.listener.shutdown()
        self.listener.server_close()
        self.folder.cleanup()


def setUpModule():
    global issuer, server
    issuer = Issuer()
    unittest.addModuleCleanup(issuer.close)
    server = started(f"--oidc-issuer-url={issuer.url}", "--oidc-client-id=muster", f"--oidc-ca-file={issuer.certificate}",
                     "--oidc-username-prefix=oidc:")
    server.namespace("ml")
    server.pod("ml", "w-0", {"app": "t"}, "10.8.0.1")
    server.allow("ml", "User", "oidc:frank")


class Tokens(unittest.TestCase):
    def ask_with(self, token):
        provider = {"name": "oidc", "config": {"idp-issuer-url": issuer.url, "client-id": "muster", "id-token": token}}
        return ask(server, env={"KUBECONFIG": server.kubeconfig({"auth-provider": provider}, "ml")})

    def test_an_id_token_is_somebody_and_counts_from_the_binding(self):
        # The server asks the issuer for its keys by itself, some seconds after it is ready.
        token, deadline = issuer.token("frank", 3600), time.monotonic() + 60
        while (run := self.ask_with(token)).code == 13 and "Unauthorized" in run.err and time.monotonic() < deadline:
            time.sleep(0.5)
        self.assertEqual((run.code, run.answer and run.cluster()), (0, {"worker": ["10.8.0.1:8470"]}), run)
        other = self.ask_with(issuer.token("grace", 3600))
        self.assertEqual(other.code, 13, other)
        self.assertIn('User "oidc:grace" cannot list resource "pods"', other.err)
        self.assertNotIn(token, run.all)

    def test_one_that_has_expired_is_told_before_anything_is_asked(self):
        run = self.ask_with(issuer.token("frank", -60))
        self.assertEqual(run.code, 13, run)
        self.assertIn("the id-token of its auth-provider expired at", run.err)
        self.assertNotIn("Unauthorized", run.err)


if __name__ == "__main__":
    unittest.main()

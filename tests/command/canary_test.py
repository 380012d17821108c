"""No secret gets out: a canary stands in every credential, servers and programs do what they like, and everything that muster writes is looked through."""
import base64
import concurrent.futures
import http.server
import json
import os
import ssl
import subprocess
import threading
import unittest
import urllib.parse

from world import MUSTER, World, main

# Every canary has this in it, so that one that nobody thought of is found too.
MARK = "cAnArY"
FORMATS = ("table", "json", "yaml", "tf_config", "cluster_def", "env", "hostfile", "addresses", "names")
TOKEN_URL = "/token"


def canary(name):
    return f"{MARK}-{name}-0123456789"


def forms(text):
    """What a secret looks like on its way: as it is, in base64 (behind 0, 1 or 2 other bytes), percent-encoded."""
    out = {text, urllib.parse.quote(text, safe="")}
    for before in range(3):
        encoded = base64.b64encode(b"x" * before + text.encode()).decode().rstrip("=")
        out.add(encoded[4:-3])
    return out


class Server:
    """Answers each request by `self.behave`, which is handed all that it was sent. With `folder` over TLS, with a certificate made there."""

    def __init__(self, folder=None):
        outer = self
        self.behave = None
        self.seen = []  # all that was sent here

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 5

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode(errors="replace")
                said = " ".join([self.headers.get("Authorization", ""), self.headers.get("Proxy-Authorization", ""), self.path, body])
                outer.seen.append(said)
                outer.behave(self, said.replace("\r", " ").replace("\n", " "))
                self.close_connection = True

            do_GET = do_POST = do_PUT = do_CONNECT = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.scheme = "http"
        if folder:
            files = [os.path.join(folder, name) for name in ("server.key", "server.crt")]
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2",
                            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", files[0], "-out", files[1]],
                           check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(files[1], files[0])
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
            self.scheme, self.key, self.certificate = "https", *files
        self.port = self.server.server_address[1]
        self.url = f"{self.scheme}://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def end(self):
        self.server.shutdown()
        self.server.server_close()


def send(handler, status, body, reason=None, **headers):
    handler.send_response(status, reason)
    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body.encode())), "Metadata-Flavor": "Google", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body.encode())


def token_of(handler):
    """What is given to who asks for a token; what is asked for data is no secret of the server's."""
    gives_tokens = any(word in handler.path for word in ("/token", "AccessToken", "/keys", "/session", "/subject"))
    return canary("given-token") if gives_tokens else "a"


def echoing(status):
    """All that was sent comes back, in the reason, a header, as JSON and bare; and to who asks for a token, one that nobody may see either."""
    def behave(handler, said):
        send(handler, status, json.dumps({"kind": "Status", "message": said, "reason": said, "error": {"message": said, "status": said, "code": status},
                                          "access_token": token_of(handler)}),
             f"no: {said}"[:300], X_Echo=said[:300], WWW_Authenticate=f'Bearer error="{said[:200]}"')
    return behave


def elsewhere(handler, said):
    send(handler, 302, said, Location=f"http://127.0.0.1:9/?access_token={urllib.parse.quote(said[:300], safe='')}")


def bare(handler, said):
    send(handler, 200, said)


def twice(handler, said):
    send(handler, 200, json.dumps({"access_token": "a"})[:-1] + f', "access_token": "{token_of(handler)}", "items": 1}}')


def cut(handler, said):
    handler.wfile.write(f"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n{said}".encode())


def no_http(handler, said):
    handler.wfile.write(f"{said}\r\n\r\n".encode())


def gives(handler, said):
    """A token, and to who has one an answer that holds all that was sent where members have their names."""
    if token_of(handler) != "a":
        return send(handler, 200, json.dumps({"access_token": token_of(handler), "expires_in": 3600, "token_type": "Bearer"}))
    return send(handler, 200, json.dumps({
        "kind": "PodList", "apiVersion": "v1", "metadata": {}, "nextPageToken": "",
        "items": [{"name": said, "metadata": {"name": said, "namespace": said}, "status": {"phase": said, "podIP": said, "message": said}, "spec": {}}]}))


BEHAVIOURS = {"401": echoing(401), "403": echoing(403), "404": echoing(404), "500": echoing(500), "418": echoing(418), "200": echoing(200), "302": elsewhere,
              "bare": bare, "twice": twice, "cut": cut, "no http": no_http, "gives": gives}


class Canary(World):
    def setUp(self):
        super().setUp()
        self.secure, self.plain = Server(self.folder), Server()
        self.addCleanup(self.secure.end)
        self.addCleanup(self.plain.end)
        self.ways = 0
        with open(self.secure.key) as file:  # a real key, whose lines are canaries of their own
            self.key = file.read()
        with open(self.secure.certificate) as file:
            self.certificate = file.read()
        self.hidden = {form for name in NAMES for form in forms(canary(name))} | {MARK}
        lines = [line for line in self.key.split("\n") if len(line) == 64]
        self.hidden |= set(lines[1:4]) | {base64.b64encode(self.key.encode()).decode()[80:140]}

    def held(self, where, text):
        """The text has no canary in any form."""
        self.ways += 1
        for secret in self.hidden:
            if secret in text:
                at = text.index(secret)
                self.fail(f"{where}: ...{text[max(0, at - 300):at + 100]}...")

    def muster_says(self, number, who, arguments, env, everywhere=True, answers=True):
        """Everything that the command writes about this source: streams, frames, log and recording. Not `everywhere`: errors
        alone; not `answers`: where there can be none."""
        record = os.path.join(self.folder, f"recording.{number}")
        commands = [["explain", *arguments, "-v", "-v", "--record", record],
                    ["plugins", "trace", *arguments, "-v"],
                    ["resolve", *arguments, "-o", FORMATS[number % len(FORMATS)], "--allow-incomplete"],
                    ["resolve", *arguments, "-o", "json", "--replay", record],
                    ["permissions", *arguments]]
        if not everywhere:
            commands = [["explain", *arguments], commands[2]]
        elif not answers:
            commands = [commands[0], commands[1], commands[3]]
        for words in commands:
            if words[-2] == "--replay" and not os.path.exists(record):
                continue
            if words[0] != "permissions":
                words += ["--timeout", "1500ms"]
            run = subprocess.run([MUSTER, *words], env=self.environment(**env), cwd=self.folder, capture_output=True, timeout=60,
                                 stdin=subprocess.DEVNULL)
            self.held(f"{who}: {words[:2]}", (run.stdout + run.stderr).decode(errors="replace"))
            self.assertGreaterEqual(run.returncode, 0, (words, run.stderr))
        if os.path.exists(record):
            with open(record, errors="replace") as file:
                self.held(f"{who}: the recording", file.read())
            os.remove(record)
        return True

    def try_all(self, sources, sent):
        """`sources` by name: arguments and environment. Each is asked while the servers behave in each of the ways. The canaries of the names
        `sent` have to have reached a server, or nothing was tried."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for number, (way, behave) in enumerate(BEHAVIOURS.items()):
                self.secure.behave = self.plain.behave = behave
                runs = [pool.submit(self.muster_says, number * 100 + at, f"{who}, {way}", arguments, env, True, way in ("200", "gives"))
                        for at, (who, (arguments, env)) in enumerate(sources.items())]
                for run in runs:
                    self.assertTrue(run.result())
        seen = "\n".join(self.secure.seen + self.plain.seen)
        self.assertEqual([name for name in sent if not any(form in seen for form in forms(canary(name)))], [])

    # ---- kubernetes

    def kubeconfig(self, name, user="", cluster="", server=None, more=""):
        path = self.file(f"{name}.kubeconfig", f"""\
current-context: c
contexts: [{{name: c, context: {{cluster: k, user: u, namespace: ml}}}}]
clusters: [{{name: k, cluster: {{server: '{server or self.secure.url}', insecure-skip-tls-verify: true{cluster}}}}}]
users:
- name: u
  user: {{{user}}}
{more}""")
        return ["--backend", "kubernetes", "-O", f"kubeconfig={path}", "-O", "job_to_label_mapping={worker: [app=t]}"], {}

    def program(self, name, text):
        return self.file(name, "#!/bin/sh\n" + text, 0o755)

    def by_program(self, name, text, more=""):
        path = self.program(f"{name}.sh", text)
        return self.kubeconfig(name, f"exec: {{apiVersion: client.authentication.k8s.io/v1, command: '{path}', interactiveMode: Never{more}}}")

    def test_a_kubeconfig(self):
        def printing(status):
            return "cat <<'END'\n" + json.dumps({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": status}) + "\nEND\n"

        encoded = base64.b64encode(self.key.encode()).decode()
        certificate = base64.b64encode(self.certificate.encode()).decode()
        token_file = self.file("token", canary("token-file"))
        env = f", env: [{{name: A_TOKEN, value: {canary('env')}}}, {{name: PLAIN, value: {canary('plain-env')}}}]"
        arguments = f", args: [get, --client-secret, {canary('flag')}, --password={canary('equals')}]"
        self.try_all({
            "token": self.kubeconfig("token", f"token: {canary('token')}"),
            "token file": self.kubeconfig("file", f"tokenFile: '{token_file}'"),
            "password": self.kubeconfig("password", f"username: u, password: {canary('password')}"),
            "key": self.kubeconfig("key", f"client-key-data: {encoded}, client-certificate-data: {certificate}"),
            "id-token": self.kubeconfig("oidc", f"auth-provider: {{name: oidc, config: {{id-token: {canary('id-token')}, refresh-token: {canary('refresh')}}}}}"),
            "exec": self.by_program("exec", printing({"token": canary("exec-token")}), env + arguments),
            "exec key": self.by_program("exec-key", printing({"clientKeyData": self.key, "clientCertificateData": self.certificate})),
            "exec fails": self.by_program("exec-fails", f"echo {canary('out')}; echo {canary('err')} >&2; exit 3", env + arguments),
            "exec is wrong": self.by_program("exec-wrong", f"echo '{{\"kind\": \"ExecCredential\", \"apiVersion\": \"{canary('out')}\"}}'; echo {canary('err')} >&2"),
            "exec prints a key twice": self.by_program("exec-twice", printing({"token": "x"}).replace('"token": "x"', f'"token": "{canary("out")}", "token": "b"')),
            "exec tells": self.by_program("exec-tells", f"echo $A_TOKEN {canary('err')} >&2; " + printing({"token": canary("exec-token")}), env),
            "proxy": self.kubeconfig("proxy", f"token: {canary('token')}", f", proxy-url: 'http://me:{canary('proxy')}@127.0.0.1:{self.plain.port}'"),
            "proxy variable": (self.kubeconfig("proxied", f"token: {canary('token')}", server="https://elsewhere.example:6443")[0],
                               {"HTTPS_PROXY": f"http://me:{canary('proxy')}@127.0.0.1:{self.plain.port}"}),
            "user in the server": self.kubeconfig("userinfo", f"token: {canary('token')}", server=f"https://me:{canary('userinfo')}@127.0.0.1:{self.secure.port}"),
        }, ["token", "token-file", "password", "id-token", "exec-token", "proxy"])

    def test_a_wrong_kubeconfig(self):
        secret = canary("token")
        self.secure.behave = self.plain.behave = echoing(401)
        for number, user in enumerate((
                f"token: {secret}, token: {secret}", f"token: [{secret}]", f"token: {{a: {secret}}}", f"token: *{secret}", f"token: \"\\{secret}\"",
                f"token: '{secret}", f"token: a: {secret}", f"client-key-data: {secret}, client-certificate-data: {secret}",
                f"client-key-data: {secret}", f"token: {secret}, username: a, password: {secret}", f"exec: {secret}",
                f"exec: {{command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: {{T: {secret}}}}}",
                f"exec: {{command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{{name: 'T={secret}', value: a}}]}}",
                f"exec: {{command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, args: {secret}}}",
                f"token: \"a\\nb{secret}\"", f"auth-provider: {{name: gcp, config: {{access-token: {secret}}}}}")):
            arguments, env = self.kubeconfig(f"wrong-{number}", user)
            self.muster_says(number, user, arguments, env)

    # ---- Google

    def google(self, name, content=None, options=(), **env):
        if content is not None:
            env["GOOGLE_APPLICATION_CREDENTIALS"] = self.file(f"{name}.json", content if isinstance(content, str) else json.dumps(content))
        env.setdefault("GCE_METADATA_HOST", "127.0.0.1:9")
        given = [f"endpoint={self.plain.url}/compute/v1", "project=p", "zone=z-a", "instance_group=g", *options]
        return ["--backend", "gce", *[word for option in given for word in ("-O", option)]], env

    def test_credentials_of_google(self):
        url = self.plain.url + TOKEN_URL
        account = {"type": "service_account", "client_email": "a@b.c", "private_key_id": "1", "private_key": self.key, "token_uri": url}
        user = {"type": "authorized_user", "client_id": "i", "client_secret": canary("client-secret"), "refresh_token": canary("refresh"), "token_uri": url}

        def external(source):
            return {"type": "external_account", "audience": "a", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": url,
                    "client_id": "i", "client_secret": canary("client-secret"), "credential_source": source}

        program = self.program("subject.sh", f"echo '{{\"version\": 1, \"success\": true, \"id_token\": \"{canary('id-token')}\"}}'; echo {canary('err')} >&2")
        failing = self.program("failing.sh", f"echo {canary('out')}; echo {canary('err')} >&2; exit 3")
        gcloud = self.program("bin/gcloud", f"echo {canary('gcloud')}; echo {canary('err')} >&2")
        no_gcloud = self.program("no/gcloud", f"echo {canary('out')}; echo {canary('err')} >&2; exit 3")
        allowed = {"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1"}
        subject = self.file("subject", json.dumps({"field": canary("subject")}))
        subject_twice = self.file("subject-twice", f'{{"field": "{canary("subject")}", "field": "b"}}')
        self.try_all({
            "service account": self.google("account", account),
            "broken key": self.google("broken", {**account, "private_key": "-----BEGIN PRIVATE KEY-----\n" + canary("key")}),
            "user": self.google("user", user),
            "a key twice": self.google("twice", json.dumps(user).replace('"type"', f'"refresh_token": "{canary("refresh")}", "type"')),
            "no JSON": self.google("no-json", f"{{\"refresh_token\": \"{canary('refresh')}\""),
            "user in the URL": self.google("userinfo", {**user, "token_uri": f"http://me:{canary('userinfo')}@127.0.0.1:{self.plain.port}/token"}),
            "query of the URL": self.google("query", {**user, "token_uri": f"{url}?key={canary('userinfo')}"}),
            "subject of a URL": self.google("url", external({"url": self.plain.url + "/subject?key=" + canary("userinfo"),
                                                             "headers": {"Authorization": canary("header"), "X-Any": canary("header")}})),
            "user in the subject's URL": self.google("url-user", external({"url": f"http://me:{canary('userinfo')}@127.0.0.1:{self.plain.port}/subject"})),
            "subject of a file": self.google("file", external({"file": subject, "format": {"type": "json", "subject_token_field_name": "field"}})),
            "subject twice": self.google("file-2", external({"file": subject_twice, "format": {"type": "json", "subject_token_field_name": "field"}})),
            "executable": self.google("executable", external({"executable": {"command": program}}), **allowed),
            "executable fails": self.google("failing", external({"executable": {"command": f"{failing} --client-secret {canary('flag')}"}}), **allowed),
            "AWS": self.google("aws", external({"environment_id": "aws1", "regional_cred_verification_url": "https://sts.{region}.amazonaws.com/?v=1"}),
                               AWS_REGION="us-east-2", AWS_ACCESS_KEY_ID="AKIA", AWS_SECRET_ACCESS_KEY=canary("aws"), AWS_SESSION_TOKEN=canary("session")),
            "AWS's metadata": self.google("aws-2", external({
                "environment_id": "aws1", "regional_cred_verification_url": "https://sts.{region}.amazonaws.com/?v=1", "region_url": self.plain.url + "/region",
                "url": self.plain.url + "/keys", "imdsv2_session_token_url": self.plain.url + "/session"})),
            "impersonation": self.google("impersonated", {"type": "impersonated_service_account", "source_credentials": user,
                                                          "service_account_impersonation_url": self.plain.url + "/v1/x:generateAccessToken"}),
            "metadata": self.google("metadata", GCE_METADATA_HOST=f"127.0.0.1:{self.plain.port}"),
            "gcloud": self.google("gcloud", options=["credentials=gcloud"], PATH=os.path.dirname(gcloud) + ":" + os.environ["PATH"]),
            "gcloud fails": self.google("no-gcloud", options=["credentials=gcloud"], PATH=os.path.dirname(no_gcloud) + ":" + os.environ["PATH"]),
            "token": self.google("token", options=[f"access_token={canary('token')}"]),
            "token of a variable": self.google("variable", options=["access_token=${A_TOKEN}"], A_TOKEN=canary("token")),
            "token of a file": self.google("token-file", options=[f"access_token_file={self.file('google-token', canary('token-file'))}"]),
            "tpu": (["--backend", "tpu", "-O", f"endpoint={self.plain.url}", "-O", "project=p", "-O", "zone=z-a", "-O", "tpu=t", "-O",
                     f"access_token={canary('token')}"], {"GCE_METADATA_HOST": "127.0.0.1:9"}),
        }, ["given-token", "refresh", "client-secret", "userinfo", "header", "subject", "id-token", "session", "gcloud", "token", "token-file"])

    # ---- configurations and programs

    def test_a_configuration(self):
        token = canary("token")
        address = canary("variable") + " is no host"
        head = "cluster:\n  backend: gce\n  options:\n    project: p\n    zone: z\n    instance_group: g\n"
        program = self.program("roster", "echo 'worker 0 10.0.0.1:1'")
        for number, text in enumerate((
                head + f"    access_token: {token}\n    access_token: {token}2\n", head + f"    access_token: [{token}]\n",
                head + f"    acces_token: {token}\n", head + f"    access_token: {token}: x\n", head + f"    access_token: '{token}\n",
                head + f"    access_token: \"{token} \\q\"\n", head + f"    access_token: {token}\n    zone: [\n",
                f"cluster: {{backend: nowhere, options: {{token: {token}}}}}\n", f"token: {token}\ncluster: {{backend: static}}\n",
                'cluster: {backend: static, options: {cluster_spec: {worker: ["${ADDRESS}"]}}}\n',
                'cluster: {backend: static, options: {cluster_spec: {worker: ["10.0.0.1:${PORT}"]}}}\n',
                'cluster: {backend: static, options: {cluster_spec: {worker: {"0": "${ADDRESS}"}}}}\n',
                'cluster: {backend: static, options: {cluster_spec: "${ADDRESS}"}}\n',
                'cluster: {backend: gce, options: {project: "${ADDRESS}", zone: "${ADDRESS}", instance_group: "${ADDRESS}", port: "${ADDRESS}"}}\n',
                'cluster: {backend: kubernetes, options: {namespace: "${ADDRESS}", job_to_label_mapping: {worker: ["${ADDRESS}"]}}}\n',
                'timeout: "${ADDRESS}"\ncluster: {backend: static, options: {cluster_spec: {}}}\n',
                'expect: {worker: "${ADDRESS}"}\ncluster: {backend: static, options: {cluster_spec: {}}}\n',
                f"cluster: {{backend: exec, options: {{command: ['{program}', --token, {token}, --password={token}]}}}}\n")):
            path = self.file(f"config-{number}.yaml", text)
            env = {"ADDRESS": address, "PORT": canary("variable"), "GCE_METADATA_HOST": "127.0.0.1:9"}
            # What a variable stands for is no secret in itself: a replay needs it, and it may be an address of the answer. No error says it.
            self.muster_says(number, text, ["-f", path], env, everywhere="${" not in text)
            run = subprocess.run([MUSTER, "config", "check", path], env=self.environment(**env), capture_output=True, timeout=60)
            self.held(text, (run.stdout + run.stderr).decode(errors="replace"))


NAMES = ("token", "given-token", "token-file", "password", "id-token", "refresh", "exec-token", "env", "plain-env", "flag", "equals", "out", "err", "proxy",
         "userinfo", "client-secret", "subject", "header", "key", "aws", "session", "gcloud", "variable")

if __name__ == "__main__":
    main()

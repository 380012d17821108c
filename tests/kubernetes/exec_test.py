"""Credential programs: what they are told, what comes of what they print, and the same of the real kubectl."""
import fcntl
import json
import os
import pty
import shutil
import subprocess
import sys
import termios
import threading
import time
import unittest

from asking import MUSTER, PLUGINS, ask, lists, world

PODS = "  pods:\n    - {name: w-0, namespace: ml, labels: {app: t}, ip: 10.8.0.1}\n"
FOUND = {"worker": ["10.8.0.1:8470"]}
KUBECTL = shutil.which("kubectl")
if KUBECTL is None:
    print("SKIP: NO KUBECTL on PATH, so muster is not compared with it", file=sys.stderr)

# Adds what it got to FILE.told, one JSON a line, and prints what stands in FILE.print.
PROGRAM = """#!/bin/sh
printf '{"arguments": "%s", "mine": "%s", "stdin": "%s", "info": %s}\\n' "$*" "$MINE" "$(wc -c)" "$(printf %s "$KUBERNETES_EXEC_INFO")" >> "$0.told"
cat "$0.print"
"""


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


class World:
    """A sim, a credential program beside the kubeconfig, and a user who has it."""

    def __init__(self, sim, version="v1", more="", cluster=""):
        self.sim = sim
        folder = os.path.join(sim.folder.name, "kube")
        self.program = write(os.path.join(folder, "bin", "fetch"), PROGRAM, 0o755)
        self.version = f"client.authentication.k8s.io/{version}"
        self.config = write(os.path.join(folder, "config"), f"""
current-context: c
clusters:
- name: k
  cluster: {{server: '{sim.ready['url']}', certificate-authority: '{sim.ready['ca']}'{cluster}}}
users:
- name: u
  user:
    exec:
      apiVersion: {self.version}
      command: ./bin/fetch
      args: [get-token, two words]
      env: [{{name: MINE, value: mine}}]
      interactiveMode: IfAvailable
{more}
contexts: [{{name: c, context: {{cluster: k, user: u, namespace: ml}}}}]
""")
        self.prints({"token": sim.token})

    def prints(self, status):
        write(self.program + ".print", json.dumps({"kind": "ExecCredential", "apiVersion": self.version, "status": status}))

    def told(self):
        path = self.program + ".told"
        if not os.path.exists(path):
            return []
        with open(path) as file:
            lines = [json.loads(line) for line in file]
        os.remove(path)
        return lines

    def ask(self, *arguments, **more):
        return ask(self.sim, "{worker: [app=t]}", *arguments, env={"KUBECONFIG": self.config}, **more)

    def kubectl(self):
        return subprocess.run([KUBECTL, "get", "pods", "-o", "name"], capture_output=True, text=True, timeout=60,
                              env={"HOME": self.sim.folder.name, "KUBECONFIG": self.config, "PATH": os.environ["PATH"]},
                              stdin=subprocess.DEVNULL)


class Exec(unittest.TestCase):
    def test_a_program_beside_the_kubeconfig_gives_the_token_and_is_told_what_kubectl_tells(self):
        with world(PODS) as sim:
            for version, more, cluster in (
                    ("v1", "", ""), ("v1beta1", "", ""), ("v1", "      provideClusterInfo: true", ""),
                    ("v1beta1", "      provideClusterInfo: true",
                     ", tls-server-name: localhost, extensions: [{name: client.authentication.k8s.io/exec,"
                     " extension: {audience: '06f3', number: 7, really: yes, f: 1.5, none: ~, list: [a, 0x1f]}}]")):
                with self.subTest(version=version, more=more):
                    here = World(sim, version, more, cluster)
                    run = here.ask()
                    self.assertEqual(run.answer and run.cluster(), FOUND, run)
                    told = here.told()
                    self.assertEqual(len(told), 1)
                    self.assertEqual((told[0]["arguments"], told[0]["mine"], told[0]["stdin"]), ("get-token two words", "mine", "0"))
                    if KUBECTL:
                        judge = here.kubectl()
                        self.assertEqual(judge.stdout, "pod/w-0\n", judge)
                        self.assertEqual(told, here.told()[:1])

    def test_a_program_may_give_a_client_certificate(self):
        with world(PODS) as sim:
            here = World(sim)
            with open(sim.ready["client_certificate"]) as cert, open(sim.ready["client_key"]) as key:
                here.prints({"clientCertificateData": cert.read(), "clientKeyData": key.read()})
            run = here.ask()
            self.assertEqual(run.answer and run.cluster(), FOUND, run)
            if KUBECTL:
                self.assertEqual(here.kubectl().stdout, "pod/w-0\n")

    def test_a_credential_may_be_printed_as_YAML_and_a_recording_of_it_has_no_secret(self):
        with world(PODS) as sim:
            here = World(sim)
            head = f"# as kubectl takes it\napiVersion: {here.version}\nkind: ExecCredential\nstatus:\n"
            with open(sim.ready["client_certificate"]) as cert, open(sim.ready["client_key"]) as key:
                pair = [text.read().replace("\n", "\n    ").rstrip(" ") for text in (cert, key)]
            secrets = [line.strip() for line in pair[1].split("\n") if len(line.strip()) == 64]
            self.assertTrue(secrets)
            for status, hidden in ((f"  token: {sim.token}\n  expirationTimestamp: 2100-01-01T00:00:00Z\n", [sim.token]),
                                   (f"  clientCertificateData: |\n    {pair[0]}  clientKeyData: |\n    {pair[1]}", secrets)):
                with self.subTest(status=status[:20]):
                    write(here.program + ".print", head + status)
                    path = os.path.join(sim.folder.name, "recording")
                    run = here.ask("--record", path)
                    self.assertEqual(run.answer and run.cluster(), FOUND, run)
                    if KUBECTL:
                        self.assertEqual(here.kubectl().stdout, "pod/w-0\n")
                    with open(path) as file:
                        text = file.read()
                    self.assertIn("ExecCredential", text)
                    self.assertEqual([secret for secret in hidden if secret in text], [])
                    again = here.ask("--replay", path)
                    self.assertEqual((again.code, again.out), (0, run.out), again)

    def test_explain_shows_the_program_and_how_it_ended_in_a_replay_too(self):
        with world(PODS) as sim:
            here = World(sim)
            path = os.path.join(sim.folder.name, "recording")
            for run in (here.ask("--record", path, verb="explain"), here.ask("--replay", path, verb="explain")):
                self.assertEqual(run.code, 0, run)
                self.assertRegex(run.out, r"1 request, 1 program\n +in process: [^\n]+\n +ran /\S+/fetch get-token two words\n +exit status 0, \d+ ms\n +GET http")
            write(here.program, "#!/bin/sh\nexit 7\n", 0o755)
            run = here.ask(verb="explain")
            self.assertEqual(run.code, 13, run)
            self.assertRegex(run.all, r"ran /\S+/fetch get-token two words\n +exit status 7, \d+ ms")

    def test_a_refused_credential_is_fetched_once_more_and_no_oftener(self):
        with world(PODS) as sim:
            here = World(sim)
            here.prints({"token": "not-the-token"})
            run = here.ask()
            self.assertEqual(run.code, 13, run)
            self.assertEqual((len(here.told()), len(lists(sim))), (2, 2))
            self.assertNotIn("not-the-token", run.all)

    def test_what_a_failing_program_said_may_be_the_secret_and_is_shown_and_recorded_nowhere(self):
        with world(PODS) as sim:
            here = World(sim)
            path = os.path.join(sim.folder.name, "recording")
            for end in ("exit 7", "echo broken", 'echo "{}"', f'echo \'{{"kind": "ExecCredential", "apiVersion": "{here.version}", "status": '
                        f'{{"token": "{sim.token}"}}}}\''):
                with self.subTest(end=end):
                    write(here.program, f"#!/bin/sh\necho 'the mine is the-secret-word {sim.token}' >&2\n{end}\n", 0o755)
                    run = here.ask("--record", path)
                    self.assertEqual(run.code, 0 if sim.token in end else 13, run)
                    if run.code:
                        self.assertIn("what it says is not shown", run.err)
                        self.assertIn("run it by hand", run.err)
                    with open(path) as file:
                        self.assertNotIn("secret-word", run.all + file.read())
            os.remove(here.program)
            run = here.ask()
            self.assertIn(f"the program '{os.path.dirname(here.config)}/./bin/fetch' does not exist", run.err)

    def test_a_program_may_ask_its_user_in_the_terminal(self):
        with world(PODS) as sim:
            here = World(sim)
            write(here.program, """#!/bin/sh
echo 'the code: ' >&2
read code
printf '%s' "$KUBERNETES_EXEC_INFO" > "$0.info"
[ "$code" = 1234 ] && cat "$0.print"
""", 0o755)
            ours, theirs = pty.openpty()

            def user():  # types the code when asked for it
                said = b""
                while b"the code:" not in said:
                    said += os.read(ours, 1000)
                os.write(ours, b"1234\n")

            thread = threading.Thread(target=user, daemon=True)
            thread.start()
            command = [MUSTER, "resolve", "--plugin-dir", PLUGINS, "--backend", "kubernetes", "-O", "job_to_label_mapping={worker: [app=t]}",
                       "-o", "addresses", "--timeout", "20s"]
            run = subprocess.Popen(command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True,
                                   env={"PATH": os.environ["PATH"], "HOME": sim.folder.name, "KUBECONFIG": here.config},
                                   start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            answer, _ = run.communicate(timeout=30)
            thread.join(timeout=10)
            os.close(ours)
            os.close(theirs)
            self.assertEqual((run.returncode, answer), (0, "10.8.0.1:8470\n"))
            with open(here.program + ".info") as file:
                self.assertTrue(json.load(file)["spec"]["interactive"])

    def test_a_program_that_does_not_end_is_ended_by_the_timeout(self):
        with world(PODS) as sim:
            here = World(sim)
            write(here.program, "#!/bin/sh\ntrap '' TERM\nsleep 60\nsleep 60\n", 0o755)
            start = time.monotonic()
            run = here.ask("--timeout", "1s")
            self.assertLess(time.monotonic() - start, 4)
            self.assertEqual(run.code, 15, run)
            self.assertIn("still running at the deadline", run.err)

    def test_a_recording_has_the_program_and_no_token_and_a_replay_starts_nothing(self):
        with world(PODS) as sim:
            here = World(sim)
            path = os.path.join(sim.folder.name, "recording")
            # As Go's encoder writes it: a '=' of a token may be \\u003d.
            write(here.program + ".print", '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"%s",'
                  '"expirationTimestamp":"2100-01-01T00:00:00Z"}}'
                  % (here.version, "".join("\\u%04x" % ord(c) if c in "=e" else c for c in sim.token)))
            run = here.ask("--record", path)
            self.assertEqual(run.code, 0, run)
            with open(path) as file:
                text = file.read()
            self.assertIn("fetch", text)
            self.assertIn("get-token", text)
            self.assertNotIn(sim.token[4:12], text)
            here.told()
            again = here.ask("--replay", path)
            self.assertEqual((again.code, again.out), (0, run.out), again)
            self.assertEqual(here.told(), [])


if __name__ == "__main__":
    unittest.main()

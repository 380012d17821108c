"""The questions of tests/fault/documents, and one run of the command with one of them."""
import json
import os
import subprocess
import time

DOCUMENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "documents")


class Question:
    """A question to a backend: its options and files, what a right server says, and the cluster that this makes."""

    def __init__(self, backend, scheme, files, given):
        self.backend, self.tls, self.files = backend, scheme == "https", files
        self.name, self.options = given["name"], given["options"]
        self.variables = given.get("variables", {})
        self.pages = {one["path"]: [json.dumps(page).encode() for page in one["pages"]] for one in given.get("requests", [])}
        self.texts = {path: text.encode() for path, text in given.get("texts", {}).items()}
        self.members = given["members"]

    def answer(self, target):
        """Who is asked for by a request's target: (path, page, body), or None."""
        path, _, query = target.partition("?")
        page = 1 if "pageToken=" in query or "continue=" in query else 0
        for end, pages in self.pages.items():
            if path.endswith("/" + end) and page < len(pages):
                return end, page, pages[page]
        for end, text in self.texts.items():
            if path.endswith("/" + end):
                return end, 0, text
        return None

    def places(self):
        """Each (path, page) that is asked for."""
        return [(path, page) for path, pages in self.pages.items() for page in range(len(pages))] + [(path, 0) for path in self.texts]


def read(backends):
    """All questions, or those of the backends named."""
    out = []
    for name in sorted(os.listdir(DOCUMENTS)):
        with open(os.path.join(DOCUMENTS, name)) as file:
            given = json.load(file)
        if not backends or given["backend"] in backends:
            out += [Question(given["backend"], given["scheme"], given.get("files", {}), one) for one in given["questions"]]
    return out


def certificate(folder):
    """A certificate of 127.0.0.1 that is its own authority, with its key in one file."""
    path = os.path.join(folder, "server.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=fault", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path + ".key", "-out", path + ".crt"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(path, "w") as out:
        for part in (".key", ".crt"):
            with open(path + part) as one:
                out.write(one.read())
    return path


class Result:
    """What came of a run. status is less than 0 where a signal ended it, None where nothing did but us."""

    def __init__(self, status, out, err, seconds, recording, peak):
        self.status, self.out, self.err, self.seconds, self.recording, self.peak = status, out, err, seconds, recording, peak


class Run:
    """How the command is asked: in which form, isolated or not, with a recording or without."""

    def __init__(self, chance, question, timeout):
        self.question, self.timeout = question, timeout
        self.form = chance.choices(["json", "explain", "table", "names"], [6, 2, 1, 1])[0]
        self.isolated = chance.random() < 0.15
        self.recorded = chance.random() < 0.15

    def __str__(self):
        return f"as {self.form}" + (", isolated" if self.isolated else "") + (", recorded" if self.recorded else "")

    def ask(self, muster, plugins, folder, server, ca):
        """A Result of the command in a folder and an environment of its own."""
        def placed(text):
            return text.replace("$SERVER", server.url).replace("$HOST", server.host).replace("$CA", ca)

        for path, text in self.question.files.items():
            path = os.path.join(folder, os.path.relpath(path, "/home/user"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as out:
                out.write(placed(text))
        config = os.path.join(folder, "muster.json")
        with open(config, "w") as out:
            out.write(placed(json.dumps({"cluster": {"backend": self.question.backend, "options": self.question.options,
                                                     "isolate": self.isolated}})))
        recording = os.path.join(folder, "recording")
        command = [muster, "resolve", "--plugin-dir", plugins, "-f", config, "-o", self.form, "--timeout", f"{self.timeout * 1000:.0f}ms"]
        if self.recorded:
            command += ["--record", recording]
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder}
        environment.update({name: value for name, value in os.environ.items() if "SAN_OPTIONS" in name or name == "LD_PRELOAD"})
        environment.update({name: placed(value) for name, value in self.question.variables.items()})
        began = time.monotonic()
        with open(os.path.join(folder, "out"), "wb+") as out, open(os.path.join(folder, "err"), "wb+") as err:
            process = subprocess.Popen(command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            status, peak = wait(process, began + self.timeout + 20)
            seconds = time.monotonic() - began
            out.seek(0)
            err.seek(0)
            said = out.read(), err.read()
        text = b""
        if os.path.exists(recording):
            with open(recording, "rb") as file:
                text = file.read()
        return Result(status, *said, seconds, text, peak)


def wait(process, until):
    """The status and the most memory, in KiB, of a process that has ended; (None, 0) of one that does not, which is ended then."""
    pause = 0.002
    while time.monotonic() < until:
        pid, raw, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(raw)
            return process.returncode, used.ru_maxrss
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
    process.kill()
    process.wait()
    return None, 0

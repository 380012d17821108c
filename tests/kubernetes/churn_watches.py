"""muster as it runs for hours: `muster watch` as a program, and what it said last."""
import json
import os
import subprocess
import threading
import time

from asking import MUSTER, PLUGINS


def config(folder, name, kubeconfig, namespace, options, isolate):
    path = os.path.join(folder, name.replace(" ", "-").replace(",", "") + ".yaml")
    with open(path, "w") as file:
        json.dump({"cluster": {"backend": "kubernetes", "isolate": isolate,
                               "options": {"kubeconfig": kubeconfig, "namespace": namespace, **options}}}, file)
    return path


def environment(folder):
    clean = {"PATH": os.environ.get("PATH", ""), "HOME": folder}
    clean.update({name: value for name, value in os.environ.items() if "SAN_OPTIONS" in name})
    return clean


def resolved(path, folder):
    """The exit status, the answer (None: none was printed) and the words of one resolve."""
    run = subprocess.run([MUSTER, "resolve", "--plugin-dir", PLUGINS, "-f", path, "-o", "json"], capture_output=True, text=True,
                         timeout=60, stdin=subprocess.DEVNULL, env=environment(folder))
    return run.returncode, json.loads(run.stdout) if run.stdout else None, run.stderr


class Watch:
    """One running `muster watch`; `answer` is the newest that it printed, `answers` how many, `news` those since they were taken."""

    def __init__(self, path, folder):
        self.answer, self.answers, self.news, self.broken = None, 0, [], None
        self.words_path = path + ".stderr"
        with open(self.words_path, "w") as words:
            self.process = subprocess.Popen([MUSTER, "watch", "--plugin-dir", PLUGINS, "-f", path, "-o", "json"], stdout=subprocess.PIPE,
                                            stderr=words, stdin=subprocess.DEVNULL, text=True, env=environment(folder))
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        """An answer is a JSON object; the next one begins behind an empty line."""
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line.rstrip("\n") != "}":
                continue
            try:
                self.answer = json.loads("".join(lines))
                self.answers += 1
                self.news.append(self.answer)
            except ValueError:
                self.broken = self.broken or "".join(lines)
            lines = []

    def take_news(self):
        taken, self.news = self.news, []
        return taken

    def words(self, most=2000):
        with open(self.words_path) as file:
            return file.read()[-most:]

    def resident(self):
        """KiB of memory of the process and of those that it runs; None when it has ended."""
        try:
            return sum(resident(pid) for pid in family(self.process.pid))
        except OSError:
            return None

    def stop(self):
        """Its exit status; by SIGTERM it ends soon."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        finally:
            self.thread.join(5)
            self.process.stdout.close()


def family(pid):
    """A process and its descendants."""
    found = [pid]
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        for child in file.read().split():
            found += family(int(child))
    return found


def resident(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def seconds_until(holds, within):
    """How long it took until that holds, or `within` when it did not."""
    began = time.monotonic()
    while not holds() and time.monotonic() - began < within:
        time.sleep(0.02)
    return min(time.monotonic() - began, within)

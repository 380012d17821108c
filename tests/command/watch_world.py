"""muster watch over a roster that changes."""
import json
import os
import subprocess
import threading
import time

from world import MUSTER, World


class WatchWorld(World):
    def roster(self, *lines):
        """What the source says from now on; one that reads it meanwhile sees all of it."""
        os.rename(self.file("roster.new", "".join(line + "\n" for line in lines)), os.path.join(self.folder, "roster"))

    def no_roster(self):
        """The source fails from now on: what should be a file is none. That there is no file at all would be its word that nobody is there."""
        link = os.path.join(self.folder, "roster.new")
        os.symlink(".", link)
        os.rename(link, os.path.join(self.folder, "roster"))

    def watch(self, *words, umask=-1, source=("--backend", "static", "-O", "file=roster"), **variables):
        """The command over that roster, and the lines of each of its streams as they come."""
        process = subprocess.Popen([MUSTER, "watch", *source, "--interval", "100ms", *words],
                                   env=self.environment(**variables), cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, umask=umask)
        return self.read(process)

    def read(self, process):
        process.lines, process.talk = [], []
        for stream, lines in ((process.stdout, process.lines), (process.stderr, process.talk)):
            threading.Thread(target=lambda s=stream, to=lines: to.extend(iter(s.readline, "")), daemon=True).start()

        def stop():
            process.kill()
            process.wait()
        self.addCleanup(stop)
        return process

    def until(self, holds, process):
        end = time.monotonic() + 20
        while not holds():
            self.assertLess(time.monotonic(), end, (process.lines, process.talk))
            time.sleep(0.01)

    def content(self, name):
        """What the file has, byte by byte; None where there is none."""
        try:
            with open(os.path.join(self.folder, name), encoding="latin-1") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def state(self, name):
        """What FILE.state says; {} where there is none."""
        return json.loads(self.content(name + ".state") or "{}")

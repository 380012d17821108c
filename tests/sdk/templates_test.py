"""What `muster plugins new` writes, built as its own page says, outside of the tree and on what is installed, and asked."""
import contextlib
import functools
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest

MUSTER = os.environ["MUSTER"]
MUSTER_CHECK = os.environ["MUSTER_CHECK"]
BUILD = os.environ["MUSTER_BUILD"]
NAME = "gpu_lab"


def blocks(page, language="sh"):
    with open(page) as file:
        return re.findall(rf"^```{language}\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


class Installed:
    """What is installed, in a folder of its own: once for all tests."""

    def __init__(self, folder):
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", folder], check=True, stdout=subprocess.DEVNULL)
        found = [root for root, _, files in os.walk(folder) if "muster-plugin.pc" in files]
        self.pkgconfig = found[0]
        with open(os.path.join(self.pkgconfig, "muster-plugin.pc")) as file:
            text = file.read()
        self.prefix = folder + re.search(r"^prefix=(.*)$", text, re.MULTILINE)[1]
        with open(os.path.join(self.pkgconfig, "muster-plugin.pc"), "w") as file:
            file.write(re.sub(r"^prefix=.*$", "prefix=" + self.prefix, text, flags=re.MULTILINE))


class Template(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="muster-sdk.")
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.installed = Installed(os.path.join(cls.root, "installed"))

    def new(self, language):
        folder = os.path.join(self.root, self.id().split(".")[-1])
        self.run_in(self.root, f"'{MUSTER}' plugins new {NAME} --lang {language} --dir '{folder}'")
        for root, folders, files in os.walk(folder):
            self.assertFalse([name for name in files if "roster" in name and "include" not in root])
        return folder

    def run_in(self, folder, script):
        environment = {**os.environ, "MUSTER": MUSTER, "PATH": ":".join((os.path.dirname(MUSTER), os.path.dirname(MUSTER_CHECK), os.environ["PATH"])), "PYTHONDONTWRITEBYTECODE": "1",
                       "CMAKE_PREFIX_PATH": self.installed.prefix, "PKG_CONFIG_PATH": self.installed.pkgconfig}
        run = subprocess.run(["bash", "-euc", script], cwd=folder, env=environment, text=True, timeout=240, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, f"\n{script}\n{run.stdout}")
        return run.stdout

    def look_at(self, folder, file):
        """It exports its entry and nothing else, needs what every process has, and keeps every duty."""
        said = self.run_in(folder, f"nm -D --defined-only --format=posix {file} | cut -d' ' -f1,2; objdump -p {file}")
        self.assertEqual(re.findall(r"^(\S+) [A-Za-z]$", said, re.MULTILINE), ["muster_plugin_entry_v1"])
        self.assertLessEqual(set(re.findall(r"NEEDED +(\S+)", said)),
                             {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})
        self.ask(folder)

    @contextlib.contextmanager
    def serve(self, folder):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            server.server_close()

    def ask(self, folder):
        """The last block of the page, which describes, asks and checks it; the server on a port of its own."""
        script = blocks(os.path.join(folder, "README.md"))[-1]
        serve = "python3 -m http.server --bind 127.0.0.1 8000 &\n"
        self.assertIn(serve, script)
        with self.serve(folder) as port:
            said = self.run_in(folder, "set +e\n" + script.replace(serve, "").replace("8000", str(port)))
        for line in (f"{NAME} 1.0.0", "INCOMPLETE: worker 3 (1 missing)", "this process is worker 1"):
            self.assertIn(line + "\n", said)
        self.assertRegex(said, r"\n\d+ passed, 0 failed, 0 skipped\n")

    def test_c(self):
        folder = self.new("c")
        self.run_in(folder, blocks(os.path.join(folder, "README.md"))[0])
        self.look_at(folder, f"./libmuster-{NAME}.so")
        self.run_in(folder, "make clean && make CFLAGS='-std=c99 -pedantic -Wall -Wextra -Werror' && make check")

    def test_an_isolated_one_knows_its_host_and_a_replay_the_host_of_the_recording(self):
        folder, own = self.new("c"), socket.gethostname()
        self.run_in(folder, "make")
        with open(os.path.join(folder, "members.txt"), "w") as out:
            out.write(f"{own} 10.0.0.1:1\nanother 10.0.0.2:1\n")
        with self.serve(folder) as port:
            with open(os.path.join(folder, "muster.yaml"), "w") as out:
                out.write(f"cluster: {{backend: {NAME}, isolate: true, options: {{url: 'http://127.0.0.1:{port}/members.txt'}}}}\n"
                          "plugins: {search: [.]}\n")
            said = self.run_in(folder, "muster resolve -f muster.yaml -o json --record r.yaml")
        self.assertEqual(json.loads(said)["task"]["evidence"], [f"the host's name is '{own}'"])
        said = self.run_in(folder, "sed -i 's/hostname: .*/hostname: another/' r.yaml; muster resolve -f muster.yaml -o json --replay r.yaml")
        self.assertEqual(json.loads(said)["task"]["evidence"], ["the host's name is 'another'"])

    def test_cpp_by_cmake(self):
        folder = self.new("cpp")
        said = self.run_in(folder, blocks(os.path.join(folder, "README.md"))[0])
        self.assertIn("100% tests passed, 0 tests failed out of 2\n", said)
        self.look_at(folder, f"build/libmuster-{NAME}.so")

    def test_cpp_by_pkg_config(self):
        folder = self.new("cpp")
        self.run_in(folder, blocks(os.path.join(folder, "README.md"))[1])
        self.look_at(folder, f"build/libmuster-{NAME}.so")
        self.run_in(folder, f"PLUGIN_DIR=$PWD/build python3 test_{NAME}.py")

    def test_rust(self):
        folder = self.new("rust")
        build, test, _ = blocks(os.path.join(folder, "README.md"))
        self.run_in(folder, build)
        self.look_at(folder, f"./libmuster-{NAME}.so")
        self.run_in(folder, test)
        self.run_in(os.path.join(folder, "muster-plugin"), "cargo test --offline")

    @unittest.skipIf(shutil.which("go") is None, "there is no go; tools/install-deps go brings one")
    def test_go(self):
        folder = self.new("go")
        self.run_in(folder, "export GOPROXY=off GOTOOLCHAIN=local GOFLAGS= CGO_ENABLED=0\n" + blocks(os.path.join(folder, "README.md"))[0])
        self.ask(folder)

    def test_python(self):
        folder = self.new("python")
        # With the setuptools and wheel of Debian's own python3 instead of those that pip would fetch; 0 is pip's way to say: none.
        self.run_in(folder, "export PIP_NO_INDEX=1 PIP_NO_BUILD_ISOLATION=0 PYTHONPATH=/usr/lib/python3/dist-packages PATH=/usr/bin:$PATH\n" + blocks(os.path.join(folder, "README.md"))[0])
        self.ask(folder)


if __name__ == "__main__":
    unittest.main(verbosity=1)

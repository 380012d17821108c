#!/usr/bin/env python3
"""The interfaces as they were released: the headers, plugins built from them, and a binary that is kept.

    python3 frozen_test.py SOURCE_ROOT "CC" "CXX" [MUSTER MUSTER_CHECK]

Without the programs: that the headers are unchanged, or that sdk/CHANGES.md says why they are not.
"""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, CC, CXX = sys.argv[1], sys.argv[2].split(), sys.argv[3].split()
PROGRAMS = [os.path.abspath(program) for program in sys.argv[4:]]
del sys.argv[1:]
FROZEN = os.path.join(ROOT, "tests/abi/frozen")
RELEASES = sorted(name for name in os.listdir(FROZEN) if name.startswith("v"))
# Where each of them stands today.
CURRENT = {
    "frames.proto": "sdk/frames/frames.proto",
    "http.h": "sdk/include/muster/http.h",
    "http_streams.h": "sdk/include/muster/http_streams.h",
    "muster.h": "core/include/muster/muster.h",
    "plugin.h": "sdk/include/muster/plugin.h",
    "process.h": "sdk/include/muster/process.h",
}
ANSWER = {"worker": ["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"]}


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as file:
        return file.read()


def frozen(release, name):
    return read(FROZEN, release, "include/muster" if name.endswith(".h") else "", name)


def later(text):
    """plugin.h of a next minor: every struct that may grow has grown."""
    text, count = re.subn(r"(#define MUSTER_PLUGIN_ABI_MINOR )(\d+)", lambda m: m[1] + str(int(m[2]) + 1), text)
    assert count == 1
    grown = []

    def grow(struct):
        grown.append(struct[0])
        return struct[0][:struct.start(1) - struct.start()] + "  uint64_t later_flags;\n  void (*later_function)(void);\n" + struct[1]
    text = re.sub(r"struct muster_\w+_v1 \{\n  uint64_t struct_size;\n.*?(^\}[^;]*;)", grow, text, flags=re.DOTALL | re.MULTILINE)
    assert len(grown) > 10, len(grown)
    return text


class Headers(unittest.TestCase):
    def test_a_header_that_differs_has_its_reason_in_the_changes(self):
        changes = read(ROOT, "sdk/CHANGES.md")
        newest = RELEASES[-1]
        after = re.search(rf"^## After {re.escape(newest.removeprefix('v'))}\n(.*?)(^## |\Z)", changes, re.MULTILINE | re.DOTALL)
        self.assertIsNotNone(after, f"sdk/CHANGES.md has no heading 'After {newest.removeprefix('v')}'")
        for name, path in CURRENT.items():
            if frozen(newest, name) == read(ROOT, path):
                continue
            self.assertRegex(after[1], rf"(?m)^- {re.escape(name)}: .*because",
                             f"{path} is not what {newest} froze: say what changed and why, '- {name}: ..., because ...', in sdk/CHANGES.md")

    def test_every_released_header_compiles_in_every_dialect(self):
        for release in RELEASES:
            include = os.path.join(FROZEN, release, "include")
            for dialect in ("c99", "c11", "c++17", "c++20"):
                compiler = [*CXX, "-x", "c++"] if "++" in dialect else [*CC, "-x", "c"]
                text = "".join(f"#include <muster/{name}>\n" for name in sorted(os.listdir(os.path.join(include, "muster"))))
                done = subprocess.run([*compiler, f"-std={dialect}", "-Wall", "-Wextra", "-Wpadded", "-pedantic", "-Werror", "-fsyntax-only",
                                       "-I", include, "-"], input=text, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, f"{release} in {dialect}: {done.stderr}")

    def test_the_layout_of_every_release_is_that_of_the_numbers(self):
        for release in RELEASES:
            include = os.path.join(FROZEN, release, "include")
            done = subprocess.run([*CC, "-std=c11", "-fsyntax-only", "-I", include, "-idirafter", os.path.join(ROOT, "sdk/include"),
                                   os.path.join(ROOT, "tests/abi/layout.c")], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, f"{release}: {done.stderr}")


@unittest.skipUnless(PROGRAMS, "without the programs")
class Plugins(unittest.TestCase):
    """A plugin of each minor, and cores of 1.0, of today and of the next minor, which muster-check plays."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def build(self, include, *flags):
        folder = tempfile.mkdtemp(dir=self.folder)
        file = os.path.join(folder, "libmuster-frozen.so")
        subprocess.run([*CC, "-std=c99", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-z,noexecstack", "-I", include, *flags,
                        os.path.join(FROZEN, RELEASES[-1], "frozen.c"), "-o", file], check=True, timeout=60)
        return file

    def works(self, file):
        muster, check = PROGRAMS
        done = subprocess.run([muster, "resolve", "--plugin-dir", os.path.dirname(file), "--backend", "frozen", "-O", "count=3", "-o", "json"],
                              env={"HOME": "/nonexistent"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 10, done.stderr)  # the missing one
        answer = json.loads(done.stdout)
        self.assertEqual(answer["cluster"], ANSWER)
        self.assertEqual(answer["jobs"]["worker"]["missing"], [{"index": 3, "name": "last", "reason": "it never comes"}])
        self.assertEqual(answer["task"], {"type": "worker", "index": 0, "evidence": ["it is the first"]})
        self.assertEqual(answer["attributes"], {"zone": "attic"})
        self.assertIn("it is old", answer["warnings"])
        done = subprocess.run([check, "--exclude", "backend", file], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_plugin_of_every_released_header(self):
        for release in RELEASES:
            with self.subTest(release):
                self.works(self.build(os.path.join(FROZEN, release, "include")))

    def test_a_plugin_of_todays_header(self):
        self.works(self.build(os.path.join(ROOT, "sdk/include")))

    def test_a_plugin_of_the_next_minor(self):
        include = os.path.join(self.folder, "later")
        shutil.copytree(os.path.join(ROOT, "sdk/include"), include)
        text = later(read(include, "muster/plugin.h"))
        with open(os.path.join(include, "muster/plugin.h"), "w", encoding="utf-8") as file:
            file.write(text)
        minor = re.search(r"#define MUSTER_PLUGIN_ABI_MINOR (\d+)", text)[1]
        self.works(self.build(include, "-DMINOR_TEXT=" + minor, "-DLATER_FIELDS=~UINT64_C(0),0"))
        self.works(self.build(include, "-DLATER_FIELDS=~UINT64_C(0),0"))  # compiled with it, and in need of nothing of it

    @unittest.skipUnless(platform.machine() == "x86_64", "the binary is one for x86_64")
    def test_the_binary_that_is_kept_of_every_release(self):
        for release in RELEASES:
            with self.subTest(release):
                file = shutil.copy(os.path.join(FROZEN, release, "libmuster-frozen.so"), tempfile.mkdtemp(dir=self.folder))
                os.chmod(file, 0o644)
                self.works(file)


if __name__ == "__main__":
    unittest.main(verbosity=1)

"""sdk/README.md, followed word by word in an empty folder outside of the tree: every block of it is run or compiled."""
import os
import re
import subprocess
import tempfile
import unittest

SOURCE = os.environ["MUSTER_SOURCE"]
INCLUDE = os.path.join(SOURCE, "sdk", "include")
PRELUDE = {
    "c": "#include <muster/http.h>\n#include <muster/plugin.h>\n#include <muster/process.h>\n#include <string.h>\n",
    "cpp": "#include <muster/plugin.hpp>\n",
}
COMPILE = {"c": ["cc", "-std=c99", "-xc"], "cpp": ["c++", "-std=c++17", "-xc++"]}
# "/* rack.c */" or "# muster.yaml" in the first line: the block is this file.
NAMED = re.compile(r"^(?:/\* (\S+\.\w+) \*/|# (\S+\.\w+))\n")


def blocks():
    with open(os.path.join(SOURCE, "sdk", "README.md")) as page:
        return re.findall(r"^```(\w*)\n(.*?)^```$", page.read(), re.MULTILINE | re.DOTALL)


class Page(unittest.TestCase):
    maxDiff = None

    def test_what_it_tells_to_do_works_in_its_order(self):
        script, told = "", 0
        for language, text in blocks():
            name = NAMED.match(text)
            if language == "sh":
                script += text
                told += 1
            elif name:
                script += f"cat >{name[1] or name[2]} <<'END_OF_BLOCK'\n{text}END_OF_BLOCK\n"
        self.assertGreaterEqual(told, 5)
        path = [os.path.dirname(os.environ[name]) for name in ("MUSTER", "MUSTER_CHECK")]
        with tempfile.TemporaryDirectory(prefix="muster-page.") as folder:
            run = subprocess.run(["bash", "-euxc", script], cwd=folder, text=True, timeout=200, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                 env={"PATH": ":".join([*path, os.environ["PATH"]]), "HOME": folder, "CPATH": INCLUDE, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(run.returncode, 0, run.stdout)
        for seen in ("complete: worker 2", "complete: worker 3", '"node-2.rack:8470"', "OK\n"):
            self.assertIn(seen, run.stdout)

    def test_every_fragment_of_it_compiles(self):
        fragments = [(language, text) for language, text in blocks() if language in PRELUDE and not NAMED.match(text)]
        self.assertGreaterEqual(len(fragments), 6)
        for language, text in fragments:
            with self.subTest(text=text):
                run = subprocess.run([*COMPILE[language], "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-I", INCLUDE, "-"],
                                     input=PRELUDE[language] + text, text=True, capture_output=True, timeout=60)
                self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_reference_has_every_function_of_every_header(self):
        with open(os.path.join(SOURCE, "sdk", "README.md")) as page:
            reference = page.read().split("## Reference\n")[1].split("\n## ")[0]
        rows = [line.split("|") for line in reference.splitlines() if line.startswith("| ")]
        for row in rows:
            self.assertTrue(all(cell.strip() for cell in row[1:3]), row)
        told = set(re.findall(r"[`>](\w+)`", "".join(row[1] for row in rows)))
        declared = set()
        for header in ("plugin.h", "http.h", "http_streams.h", "process.h"):
            with open(os.path.join(INCLUDE, "muster", header)) as file:
                declared |= set(re.findall(r"^  (?:const )?\w+ \*?\(\*(\w+)\)\(", file.read(), re.MULTILINE))
        self.assertGreater(len(declared), 40)
        self.assertEqual(declared - told, {"on_body"})  # one of the plugin's own, in a request
        self.assertEqual(told - declared, {"muster_plugin_entry_v1"})

    def test_there_is_no_block_that_nobody_looks_at(self):
        for language, text in blocks():
            self.assertTrue(language in ("sh", *PRELUDE) or NAMED.match(text), text)


if __name__ == "__main__":
    unittest.main(verbosity=1)

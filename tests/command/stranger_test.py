"""A backend that a stranger begins with `muster plugins new`, in C: built by one line, outside of the tree, from the headers alone."""
import json
import os
import re
import subprocess

from world import MUSTER, World, main


class Stranger(World):
    def setUp(self):
        super().setUp()
        self.muster("plugins", "new", "my_rack", "--lang", "c")
        self.backend = os.path.join(self.folder, "my_rack")

    def built(self):
        with open(os.path.join(self.backend, "README.md")) as page:
            line = re.search(r"^cc .*$", page.read(), re.MULTILINE)[0]
        subprocess.run(line, shell=True, check=True, cwd=self.backend)

    def test_its_own_tests_pass_and_it_is_described_without_being_run(self):
        self.built()
        run = self.muster("plugins", "describe", "./libmuster-my_rack.so", cwd=self.backend)
        self.assertTrue(run.stdout.startswith("my_rack 1.0.0\n"), run.stdout)
        self.assertRegex(run.stdout, r"(?m)^  token +string +Sent as 'Authorization: Bearer'. \(secret\)$")
        tests = subprocess.run(["python3", "test_my_rack.py"], cwd=self.backend, env={**os.environ, "MUSTER": MUSTER},
                               text=True, capture_output=True, timeout=120)
        self.assertEqual(tests.returncode, 0, tests.stderr)
        self.assertRegex(tests.stderr, "Ran [0-9]+ tests")

    def test_it_stands_in_a_chain_like_any_other(self):
        self.built()
        config = self.file("m.yaml", f"""
cluster:
  chain:
    - {{backend: my_rack, options: {{url: "http://127.0.0.1:1/nobody"}}}}
    - {{backend: static, options: {{cluster_spec: {{worker: ["a:1"]}}}}}}
timeout: 5s
plugins: {{search: [{self.backend}]}}
""")
        run = self.muster("resolve", "-f", config, "-o", "json")
        sources = {source["path"]: source["status"] for source in json.loads(run.stdout)["sources"]}
        self.assertEqual(sources["cluster.chain[1]"], "OK")
        self.assertNotEqual(sources["cluster.chain[0]"], "OK")

    def test_what_is_there_is_not_written_over(self):
        run = self.muster("plugins", "new", "my_rack", "--lang", "c", status=2)
        self.assertIn("'my_rack' is there already and is not empty; say --dir for another place", run.stderr)

    def test_a_name_that_no_backend_can_have_is_told(self):
        run = self.muster("plugins", "new", "my rack", "--lang", "c", status=2)
        self.assertIn("'my rack' cannot be the name of a backend", run.stderr)

    def test_every_language_is_named(self):
        run = self.muster("plugins", "new", "x", "--lang", "cobol", status=2)
        for language in ("c", "cpp", "rust"):
            self.assertIn(language, run.stderr)
        for language in ("cpp", "rust"):
            self.muster("plugins", "new", "x", "--lang", language, "--dir", "in-" + language)
            self.assertTrue(os.path.exists(os.path.join(self.folder, "in-" + language, "test_x.py")))


if __name__ == "__main__":
    main()

"""A backend written outside of the tree from sdk/templates/c alone, by the page beside it."""
import json
import os
import re
import shutil
import subprocess

from world import SOURCE, World, main


class Stranger(World):
    def setUp(self):
        super().setUp()
        template = os.path.join(SOURCE, "sdk", "templates", "c")
        include = os.path.join(self.folder, "sdk", "include")
        self.backend = os.path.join(self.folder, "sdk", "mine", "c")
        shutil.copytree(os.path.join(SOURCE, "sdk", "include"), include)
        shutil.copytree(template, self.backend)
        with open(os.path.join(template, "README.md")) as page:
            line = re.search(r"^cc .*$", page.read(), re.MULTILINE)[0]
        subprocess.run(line, shell=True, check=True, cwd=self.backend)

    def test_it_is_described_without_being_run(self):
        run = self.muster("plugins", "describe", "./libmuster-roster.so", cwd=self.backend)
        self.assertTrue(run.stdout.startswith("roster 1.0.0\n"), run.stdout)
        self.assertRegex(run.stdout, r"(?m)^  path +string")

    def test_it_is_found_and_asked_as_the_page_says(self):
        run = self.muster("resolve", "--plugin-dir", ".", "--backend", "roster", "-O", "path=members.txt", "-o", "json", cwd=self.backend, status=None)
        self.assertIn(run.returncode, (0, 10), run.stderr)
        self.assertIn("worker", json.loads(run.stdout)["cluster"])

    def test_it_stands_in_a_chain_like_any_other(self):
        config = self.file("m.yaml", f"""
cluster:
  chain:
    - {{backend: roster, options: {{path: {self.folder}/nowhere.txt}}}}
    - {{backend: roster, options: {{path: {self.backend}/members.txt}}}}
plugins: {{search: [{self.backend}]}}
""")
        run = self.muster("resolve", "-f", config, "-o", "json", status=None)
        sources = {source["path"]: source["status"] for source in json.loads(run.stdout)["sources"]}
        self.assertEqual(sources, {"cluster": "OK", "cluster.chain[0]": "NOT_FOUND", "cluster.chain[1]": "OK"})


if __name__ == "__main__":
    main()

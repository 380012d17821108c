"""'..' behind a symbolic link: what is read, trusted and run is what the system opens for the words that the user wrote."""
import os

from world import TEST_PLUGINS, World, main


class Paths(World):
    """here/link leads to there/deep, so that here/link/.. is there for the system, and here for who reads text alone."""

    def setUp(self):
        super().setUp()
        self.here, self.there = (os.path.join(self.folder, name) for name in ("here", "there"))
        os.makedirs(self.here)
        os.makedirs(os.path.join(self.there, "deep"))
        os.symlink("../there/deep", os.path.join(self.here, "link"))

    def odd(self, folder, variant="odd-right"):
        return self.plugin("odd", folder=folder, source=os.path.join(TEST_PLUGINS, f"lib{variant}.so"))

    def config(self, where, address, more=""):
        return self.file(os.path.join(where, "m.yaml"),
                         "cluster: {backend: static, options: {cluster_spec: {worker: [\"%s\"]}}}\n%s" % (address, more))

    def test_a_config_file(self):
        self.config("here", "here:1")
        self.config("there", "there:1")
        for words in ("here/link/../m.yaml", os.path.join(self.here, "link/../m.yaml"), "./here//link/.././m.yaml"):
            self.assertEqual(self.answer("-f", words)["cluster"], {"worker": ["there:1"]}, words)

    def test_what_a_config_names_counts_from_the_file_that_was_read(self):
        directory = self.odd("there")
        path = os.path.join(self.folder, "m.yaml")
        self.file("m.yaml", "cluster: {backend: odd}\nplugins: {search: [here/link/..]}\n")
        check = self.muster("config", "check", path)
        self.assertIn(os.path.join(directory, "libmuster-odd.so"), check.stdout)

    def test_a_directory_of_plugins(self):
        self.odd("there")
        self.odd("here", "odd-refuses")
        for words in ("here/link/..", os.path.join(self.here, "link/../")):
            for run in (self.muster("plugins", "describe", "odd", "--plugin-dir", words, "--json"),
                        self.muster("plugins", "describe", os.path.join(words, "libmuster-odd.so"), "--json")):
                self.assertIn(os.path.join(self.there, "libmuster-odd.so"), run.stdout)
        listed = self.muster("plugins", "list", env={"MUSTER_PLUGIN_PATH": os.path.join(self.here, "link/..")})
        self.assertIn(os.path.join(self.here, "link/.."), listed.stdout)

    def test_a_command_is_trusted_by_the_file_that_runs(self):
        self.file("here/backend", "#!/bin/sh\nexit 3\n", mode=0o755)
        self.file("there/backend", "#!/bin/sh\nexit 3\n", mode=0o777)
        os.chmod(os.path.join(self.there, "backend"), 0o777)
        path = self.file("m.yaml", "cluster: {backend: mine, command: [here/link/../backend]}\n")
        run = self.muster("resolve", "-f", path, status=None)
        self.assertEqual(run.returncode, 13, run.stderr)
        self.assertIn(os.path.join(self.folder, "here/link/../backend"), run.stderr)
        self.assertIn(f"file '{os.path.join(self.there, 'backend')}' is not trusted", run.stderr)

    def test_behind_a_file_there_is_nothing(self):
        self.odd("here")
        path = self.file("m.yaml", "cluster: {backend: mine, command: [here/libmuster-odd.so/../link/../backend]}\n")
        self.file("there/backend", "#!/bin/sh\nexit 3\n", mode=0o755)
        run = self.muster("resolve", "-f", path, status=None)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("Not a directory", run.stderr)


if __name__ == "__main__":
    main()

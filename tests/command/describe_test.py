"""config, plugins, completion: what is there, without asking any source."""
import json
import os
import shutil
import stat
import subprocess
import unittest

from world import MUSTER, STATIC, World, main


class Configs(World):
    def test_a_right_config_is_told_with_its_plugins(self):
        path = self.file("m.yaml", STATIC)
        for words in ([path], ["-f", path]):
            run = self.muster("config", "check", *words)
            self.assertIn(f"{path}: right", run.stdout)
            self.assertIn("libmuster-static.so", run.stdout)
        self.assertEqual(self.muster("config", "check", "-q", path).stdout, "")
        self.assertIn("right", self.muster("config", "check", "-", stdin=STATIC).stdout)

    def test_a_wrong_config_is_12_with_every_error(self):
        path = self.file("m.yaml", STATIC + "timeot: 3s\nexpect: {worker: -1}\n")
        run = self.muster("config", "check", path, status=12)
        self.assertEqual(run.stdout, "")
        self.assertIn(f"{path}:4:1: ", run.stderr)
        self.assertIn("'timeout'", run.stderr)
        self.assertIn(f"{path}:5:18: ", run.stderr)

    def test_an_unset_variable_is_an_error_with_its_place(self):
        run = self.muster("config", "check", self.file("m.yaml", STATIC + "rpc_layer: ${NOT_SET_HERE}\n"), status=12)
        self.assertIn("m.yaml:4:", run.stderr)
        self.assertIn("NOT_SET_HERE", run.stderr)

    def test_what_a_check_calls_right_resolve_takes_whatever_the_variables_say(self):
        path = self.file("m.yaml", STATIC)
        for variables in ({"MUSTER_ISOLATE": "perhaps"}, {"MUSTER_WATCH_INTERVAL": "often"}, {"MUSTER_TIMEOUT": "soon"},
                          {"MUSTER_EXPECT": "worker=1048577"}, {"MUSTER_TASK_TYPE": "worker"},
                          {"MUSTER_TASK_TYPE": "worker", "MUSTER_TASK_ID": "first"}):
            with self.subTest(**variables):
                check, resolve = (self.muster(*words, path, status=None, env=variables)
                                  for words in (("config", "check"), ("resolve", "-f")))
                self.assertEqual((check.returncode, check.stderr), (resolve.returncode, resolve.stderr))
                self.assertEqual(check.returncode, 12)
                self.assertIn(list(variables)[-1], check.stderr)

    def test_no_code_of_a_plugin_runs_for_a_check(self):
        path = self.file("m.yaml", STATIC)
        self.assertNotIn("libmuster-static", self.muster("config", "check", path, env={"LD_DEBUG": "libs"}).stderr)

    def test_the_schema_is_json(self):
        self.assertIn("cluster", json.loads(self.muster("config", "schema").stdout)["properties"])


class Plugins(World):
    def listed(self, *words, **more):
        return {plugin["path"]: plugin for plugin in json.loads(self.muster("plugins", "list", "--json", *words, **more).stdout)}

    def test_the_list_has_the_installed_backends(self):
        run = self.muster("plugins", "list")
        for name in ("kubernetes", "static", "tf_config"):
            self.assertRegex(run.stdout, rf"(?m)^{name} +[0-9.]+ ")
        self.assertNotIn("libmuster-http", run.stdout)

    def test_a_shadowed_plugin_says_by_which(self):
        first, second = self.plugin("bad", "one"), self.plugin("bad", "two")
        listed = self.listed("--plugin-dir", first, "--plugin-dir", second)
        self.assertTrue(listed[first + "/libmuster-bad.so"]["usable"])
        shadowed = listed[second + "/libmuster-bad.so"]
        self.assertFalse(shadowed["usable"])
        self.assertIn(first, shadowed["reason"])
        text = self.muster("plugins", "list", "--plugin-dir", first, "--plugin-dir", second).stdout
        self.assertIn("not usable: shadowed by", text)

    def test_a_file_that_others_may_write_is_not_trusted_and_not_taken(self):
        directory = self.plugin("bad")
        path = directory + "/libmuster-bad.so"
        os.chmod(path, stat.S_IMODE(os.stat(path).st_mode) | stat.S_IWGRP)
        self.assertIn("group", self.listed("--plugin-dir", directory)[path]["reason"])
        described = json.loads(self.muster("plugins", "describe", path, "--json").stdout)
        self.assertIn("group", described["trust"])
        run = self.muster("resolve", "--plugin-dir", directory, "--backend", "bad", status=13)
        self.assertIn("group", run.stderr)
        self.assertIn(path, run.stderr)

    def test_a_folder_that_others_may_write_is_not_trusted(self):
        directory = self.plugin("bad")
        os.chmod(directory, 0o775)
        self.muster("resolve", "--plugin-dir", directory, "--backend", "bad", status=13)

    def test_a_plugin_is_described_by_name_and_by_path(self):
        path = self.plugin("bad") + "/libmuster-bad.so"
        by_path = json.loads(self.muster("plugins", "describe", path, "--json").stdout)
        by_name = json.loads(self.muster("plugins", "describe", "bad", "--json", env={"MUSTER_PLUGIN_PATH": os.path.dirname(path)}).stdout)
        self.assertEqual(by_path["descriptor"], by_name["descriptor"])
        sums = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout.split()[0]
        self.assertEqual((by_path["sha256"], by_name["sha256"]), (sums, sums))
        text = self.muster("plugins", "describe", "kubernetes").stdout
        self.assertRegex(text, r"(?m)^  tf_server_port +integer +")
        self.assertRegex(text, r"(?m)^sha256 +[0-9a-f]{64}$")
        self.assertRegex(text, r"(?m)^trust +trusted$")

    def test_what_is_no_plugin_is_told(self):
        self.assertIn("nope", self.muster("plugins", "describe", "nope", status=11).stderr)
        run = self.muster("plugins", "describe", self.file("libmuster-text.so", "no ELF file at all"), status=12)
        self.assertIn("libmuster-text.so", run.stderr)

    def test_the_places_are_told_in_order(self):
        places = json.loads(self.muster("plugins", "path", "--json", "--plugin-dir", self.folder).stdout)
        self.assertEqual([place["origin"] for place in places],
                         ["--plugin-dir", "MUSTER_PLUGIN_PATH", "plugins.search", "user", "site", "installed"])
        self.assertEqual(places[0]["directory"], self.folder)
        self.assertIn(self.folder, self.muster("plugins", "path", "--plugin-dir", self.folder).stdout)


class Completions(World):
    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = self.file("muster.bash", self.muster("completion", "bash").stdout)
        run = subprocess.run(["bash", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _muster; printf "%s\\n" "${COMPREPLY[@]}"',
                              "bash", script, *words], capture_output=True, text=True, check=True)
        self.assertEqual(run.stderr, "")
        return run.stdout.split()

    def test_bash_takes_the_script_and_completes(self):
        subprocess.run(["bash", "-n", self.file("x", self.muster("completion", "bash").stdout)], check=True)
        self.assertEqual(self.complete("muster", "res"), ["resolve"])
        self.assertEqual(self.complete("muster", "resolve", "-o", "tf"), ["tf_config"])
        self.assertEqual(self.complete("muster", "plugins", "d"), ["describe"])
        self.assertEqual(self.complete("muster", "resolve", "--tim"), ["--timeout"])
        self.assertEqual(self.complete("muster", "permissions", "--pri"), ["--principal"])
        self.assertEqual(self.complete("muster", "plan", "--mem"), ["--members"])
        self.assertEqual(self.complete("muster", "-q", "explain", "--js"), ["--json"])
        self.assertEqual(self.complete("muster", "completion", "z"), ["zsh"])

    def test_bash_completes_files(self):
        self.file("job.yaml", "")
        self.assertEqual(self.complete("muster", "resolve", "-f", self.folder + "/jo"), [self.folder + "/job.yaml"])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_takes_the_script(self):
        subprocess.run(["zsh", "-n", self.file("x", self.muster("completion", "zsh").stdout)], check=True)

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish_takes_the_script(self):
        subprocess.run(["fish", "-n", self.file("x", self.muster("completion", "fish").stdout)], check=True)


if __name__ == "__main__":
    main()

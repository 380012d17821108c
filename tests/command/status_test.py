"""Every exit status, with the message that goes with it."""
import os
import socket
import subprocess
import time
import unittest

from world import OVERHEAD, STATIC, World, cloud, kubernetes, main


class Statuses(World):
    def test_0_for_a_complete_answer(self):
        run = self.muster("resolve", "-f", self.file("m.yaml", STATIC))
        self.assertEqual(run.stderr, "")

    def test_10_for_fewer_tasks_than_expected(self):
        run = self.muster("resolve", "-f", self.file("m.yaml", STATIC), "--expect", "worker=3", status=10)
        self.assertIn("INCOMPLETE: worker 2 of 3", run.stdout)

    def test_10_and_nothing_printed_where_the_format_cannot_say_incomplete(self):
        run = self.muster("resolve", "-f", self.file("m.yaml", STATIC), "--expect", "worker=3", "-o", "tf_config", status=10)
        self.assertEqual(run.stdout, "")
        self.assertIn("the answer is incomplete: worker 2 of 3", run.stderr)
        self.assertIn("--allow-incomplete", run.stderr)

    def test_10_and_the_answer_with_allow_incomplete(self):
        run = self.muster("resolve", "-f", self.file("m.yaml", STATIC), "--expect", "worker=3", "-o", "tf_config",
                          "--allow-incomplete", status=10)
        self.assertIn("10.0.0.1:8470", run.stdout)
        self.assertIn("incomplete", run.stderr)

    def test_10_for_a_pod_that_waits_with_its_reason(self):
        with cloud() as sim:
            run = self.muster("resolve", *kubernetes(sim, "worker ps"), status=10)
            self.assertIn("0/4 nodes are available", run.stdout)

    def test_11_when_no_pod_matches(self):
        with cloud() as sim:
            run = self.muster("resolve", *kubernetes(sim, namespace="empty"), status=11)
            self.assertIn("no pod in namespace 'empty' matches", run.stderr)
            self.assertEqual(run.stdout, "")

    def test_11_when_no_resolver_of_a_chain_is_here(self):
        run = self.muster("resolve", "-f", self.file("m.yaml", "cluster: {chain: [{backend: tf_config}, "
                                                     "{backend: static, options: {file: /none}}]}"), status=11)
        self.assertIn("no resolver of the chain cluster answered:", run.stderr)
        self.assertIn("cluster.chain[1] (static)", run.stderr)

    def test_12_for_an_unknown_option_with_place_line_and_nearest(self):
        path = self.file("m.yaml", "cluster:\n  backend: static\n  options:\n    clustr_spec: {}\n")
        run = self.muster("resolve", "-f", path, status=12)
        self.assertIn(f"{path}:4:5: unknown option 'clustr_spec'", run.stderr)
        self.assertIn("    clustr_spec: {}\n", run.stderr)
        self.assertIn("did you mean 'cluster_spec'?", run.stderr)

    def test_12_tells_every_error_of_a_file_at_once(self):
        path = self.file("m.yaml", "clustr: {}\ntimeout: soon\nexpect: {worker: many}\n")
        run = self.muster("resolve", "-f", path, status=12)
        for place in (f"{path}:1:1:", f"{path}:2:10:", f"{path}:3:18:"):
            self.assertIn(place, run.stderr)

    def test_12_for_a_config_file_that_is_not_there(self):
        self.assertIn("there is no such file", self.muster("resolve", "-f", "/none.yaml", status=12).stderr)

    def test_12_for_a_plugin_that_is_not_there_with_the_whole_search(self):
        run = self.muster("resolve", "--backend", "nope", status=12)
        self.assertIn("cannot find plugin 'nope'", run.stderr)
        for place in ("--plugin-dir", "MUSTER_PLUGIN_PATH", "plugins.search", "user", "site", "installed"):
            self.assertIn(place, run.stderr)

    def test_12_without_any_configuration(self):
        self.assertIn("no configuration", self.muster("resolve", status=12).stderr)

    def test_13_when_listing_is_forbidden(self):
        with cloud() as sim:
            run = self.muster("resolve", *kubernetes(sim, namespace="secret"), status=13)
            self.assertIn("may not list pods in namespace 'secret'", run.stderr)

    def test_13_for_a_wrong_token(self):
        with cloud() as sim:
            run = self.muster("resolve", *kubernetes(sim, context="sim-wrong"), status=13)
            self.assertIn("refuses the credentials", run.stderr)

    def test_14_when_the_connection_is_refused(self):
        with cloud() as sim:
            words = kubernetes(sim)
            kubeconfig = open(sim.ready["kubeconfig"]).read()
            with socket.socket() as taken:  # bound and not listening: refused for sure
                taken.bind(("127.0.0.1", 0))
                port = taken.getsockname()[1]
                path = self.file("kubeconfig", kubeconfig.replace(str(sim.ready["port"]), str(port)), 0o600)
                words[words.index(f"kubeconfig={sim.ready['kubeconfig']}")] = f"kubeconfig={path}"
                run = self.muster("resolve", *words, "--timeout", "20s", status=14)
        self.assertIn("refused", run.stderr)
        self.assertIn(str(port), run.stderr)

    def test_14_when_the_server_says_503_and_goes_on_so(self):
        with cloud("status: 503") as sim:
            run = self.muster("resolve", *kubernetes(sim), "--timeout", "20s", status=14)
            self.assertIn("503", run.stderr)

    def test_15_when_an_answer_drips_and_in_time(self):
        for fault in ("drip: 1", "delay: 20s"):
            with self.subTest(fault), cloud(fault) as sim:
                begin = time.monotonic()
                run = self.muster("resolve", *kubernetes(sim), "--timeout", "1s", status=15)
                self.assertLess(time.monotonic() - begin, 1.5 + OVERHEAD)
                self.assertRegex(run.stderr, "the time was over: waited (1.0 s|99[0-9] ms) for ")
                self.assertNotIn("cancelled", run.stderr)
                self.assertIn("allow more time (--timeout)", run.stderr)

    def test_15_for_a_plugin_that_hangs_naming_it_and_in_time(self):
        begin = time.monotonic()
        run = self.muster("resolve", "--plugin-dir", self.plugin("bad"), "--backend", "bad", "-O", "do=hangs",
                          "--timeout", "1s", status=15)
        self.assertLess(time.monotonic() - begin, 1.5 + OVERHEAD)
        self.assertIn("bad", run.stderr)

    def test_16_for_a_plugin_that_misbehaves_naming_it_and_its_duty(self):
        for deed in ("duplicate_index", "negative_index", "empty_job", "invalid_utf8", "nul_in_address", "ok_with_error"):
            with self.subTest(deed):
                run = self.muster("resolve", "--plugin-dir", self.plugin("bad"), "--backend", "bad", "-O", f"do={deed}", status=16)
                self.assertRegex(run.stderr, r"'?bad'?")
                self.assertRegex(run.stderr, r"MP-[0-9]+")
                self.assertEqual(run.stdout, "")

    def test_2_for_wrong_usage_with_the_nearest_word(self):
        for words, said in (
                (["resolv"], "did you mean 'resolve'?"),
                (["resolve", "--expct", "worker=1"], "did you mean '--expect'?"),
                (["plugins", "lst"], "did you mean 'list'?"),
                ([], "no command given"),
                (["resolve", "more"], "'more' is one word too many"),
                (["resolve", "-f", "a", "--backend", "b"], "excludes"),
                (["resolve", "-O", "a=b"], "--backend"),
                (["resolve", "--task-type", "worker"], "--task-id"),
                (["completion", "tcsh"], "tcsh"),
                (["resolve", "--record", "a", "--replay", "b"], "excludes")):
            with self.subTest(words):
                run = self.muster(*words, status=2)
                self.assertEqual(run.stdout, "")
                self.assertTrue(run.stderr.startswith("muster: "), run.stderr)
                self.assertIn(said, run.stderr)
                self.assertIn("--help", run.stderr)

    def test_2_for_an_unknown_format_with_the_list_and_without_asking(self):
        run = self.muster("resolve", "-f", "/none.yaml", "-o", "tabel", status=2)
        for name in ("table", "json", "yaml", "tf_config", "cluster_def", "cluster_def_binary", "env", "addresses", "hostfile", "names"):
            self.assertIn(f"\n  {name} ", run.stderr)

    def test_an_answer_never_goes_into_a_connection_when_standard_output_is_closed(self):
        with cloud() as sim:
            self.muster("resolve", *kubernetes(sim), status=17, preexec_fn=lambda: os.close(1))
            self.assertEqual({request["status"] for request in sim.requests()}, {200})

    def test_closed_standard_input_and_error_are_fine(self):
        def close():
            os.close(0)
            os.close(2)
        self.muster("resolve", "-f", self.file("m.yaml", STATIC), preexec_fn=close)

    def test_help_is_0_and_on_stdout(self):
        run = self.muster("--help")
        self.assertIn("Exit status:", run.stdout)
        self.assertIn("Example", self.muster("resolve", "--help").stdout)
        self.assertRegex(self.muster("version").stdout, r"^muster [0-9]+\.[0-9]+\.[0-9]+\n$")


if __name__ == "__main__":
    main()

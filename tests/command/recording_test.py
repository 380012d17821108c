"""--record and --replay as a user sees them."""
import base64
import os
import re
import time

from world import OVERHEAD, TOKEN, World, cloud, kubernetes, main

CONFIG = """cluster:
  merge:
    - {backend: kubernetes, options: {kubeconfig: "${KUBE}", namespace: ml, job_to_label_mapping: {worker: "role=worker", chief: "role=chief"}}}
    - chain:
        - {backend: tf_config, options: {variable: SOME_TF_CONFIG}}
        - {backend: static, options: {cluster_spec: {ps: ["ps-0:2222"]}}}
"""


class Recordings(World):
    def record(self, sim, name="r.yaml", context="sim"):
        config = self.file("m.yaml", CONFIG.replace("namespace: ml", f"namespace: ml, context: {context}"))
        path = os.path.join(self.folder, name)
        run = self.muster("resolve", "-f", config, "-o", "json", "--record", path, env={"KUBE": sim.ready["kubeconfig"]})
        with open(path) as file:
            return config, path, run.stdout, file.read()

    def test_a_replay_without_cloud_and_environment_gives_the_same_bytes(self):
        with cloud("times: 1, status: 503, retry_after: 0") as sim:
            config, path, answer, text = self.record(sim)
        self.assertIn("status: 503", text)
        again = self.muster("resolve", "-f", config, "-o", "json", "--replay", path, env={"HOME": "/none"})
        self.assertEqual(again.stdout, answer)

    def test_a_recording_has_no_secret(self):
        for context in ("sim", "sim-cert"):
            with self.subTest(context), cloud() as sim:
                with open(sim.ready["client_key"]) as file:
                    key = file.read()
                with open(sim.ready["kubeconfig"]) as file:
                    kubeconfig = file.read()
                text = self.record(sim, context=context)[3]
                inner = "".join(key.splitlines()[1:-1])
                data = re.findall(r"client-key-data: *\"?([A-Za-z0-9+/=]+)", kubeconfig)
                hidden = [TOKEN, base64.b64encode(TOKEN.encode()).decode(), *key.splitlines()[1:-1],
                          inner[:40], base64.b64encode(key.encode()).decode()[:60], *data, "PRIVATE KEY"]
                for secret in hidden:
                    self.assertNotIn(secret, text)
                self.assertIn("REDACTED", text)

    def test_a_recording_is_closed_to_others(self):
        with cloud() as sim:
            path = self.record(sim)[1]
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_two_recordings_of_one_world_differ_in_times_alone(self):
        def without_times(text):
            text = re.sub(r"milliseconds: [0-9]+", "milliseconds: N", text)
            text = re.sub(r"continue(=|\"?: *\")[A-Za-z0-9_%=-]+", r"continue\1TOKEN", text)  # the sim puts the time into it
            return re.sub(r"[0-9-]{10}T[0-9:.]{8,18}Z", "TIME", text)
        with cloud() as sim:
            first, second = self.record(sim, "a.yaml")[3], self.record(sim, "b.yaml")[3]
        self.assertEqual(without_times(first), without_times(second))

    def test_a_failure_is_recorded_and_replayed_too(self):
        with cloud() as sim:
            words = kubernetes(sim, namespace="secret")
            path = os.path.join(self.folder, "r.yaml")
            failed = self.muster("resolve", *words, "--record", path, status=13)
        self.assertEqual(self.muster("resolve", *words, "--replay", path, status=13).stderr, failed.stderr)

    def test_a_replay_of_another_question_says_what_is_not_there(self):
        with cloud() as sim:
            config, path, _, _ = self.record(sim)
        with open(config) as file:
            other = self.file("other.yaml", file.read().replace("role=chief", "role=evaluator"))
        run = self.muster("resolve", "-f", other, "--replay", path, status=12)
        self.assertIn("role%3Devaluator", run.stderr)

    def test_a_broken_recording_has_line_and_column(self):
        path = self.file("r.yaml", "muster_recording: 1\nresolvrs: []\n")
        run = self.muster("resolve", "--backend", "static", "-O", "cluster_spec={}", "--replay", path, status=12)
        self.assertIn(f"{path}:2:1:", run.stderr)
        self.muster("resolve", "--backend", "static", "-O", "cluster_spec={}", "--replay", "/none", status=12)

    def test_the_timeout_counts_while_a_recording_is_read(self):
        huge = self.file("huge.yaml", "muster_recording: 1\nresolvers:\n  - path: cluster\n    times:\n" +
                         "      - '2026-01-31T12:00:00.000000000Z'\n" * 1_000_000)
        start = time.monotonic()
        run = self.muster("resolve", "--backend", "static", "-O", "cluster_spec={worker: [a:1]}", "--replay", huge, "--timeout", "500ms", status=15)
        self.assertLess(time.monotonic() - start, 0.5 + OVERHEAD)
        self.assertIn("huge.yaml: the deadline came when", run.stderr)

    def test_a_record_that_cannot_be_written_is_an_error(self):
        run = self.muster("resolve", "--backend", "static", "-O", "cluster_spec={w: ['a:1']}", "--record", "/none/r.yaml", status=None)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("/none/r.yaml", run.stderr)


if __name__ == "__main__":
    main()

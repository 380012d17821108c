"""A program that prints a cluster, asked by the command."""
import json
import time

from world import MUSTER, OVERHEAD, World, main


class Exec(World):
    def program(self, text, name="roster"):
        return self.file(name, "#!/bin/sh\n" + text, mode=0o755)

    def config(self, command, **options):
        return self.file("m.yaml", "cluster: " + json.dumps({"backend": "exec", "options": {"command": command, **options}}))

    def test_its_lines_are_the_cluster(self):
        program = self.program('echo "worker 0 10.0.0.1:8470"; echo "worker 1 [fd00::2]:$1"\n')
        answer = self.answer("-f", self.config([program, "8471"]))
        self.assertEqual(answer["cluster"], {"worker": ["10.0.0.1:8470", "[fd00::2]:8471"]})
        self.assertEqual(answer["sources"][0]["requests"], 0)

    def test_muster_asks_muster_and_says_the_same(self):
        inner = self.file("inner.yaml", """
cluster: {backend: static, options: {cluster_spec: {worker: ["a:1", "b:1"], ps: {"3": "c:1"}}, task_type: worker, task_id: 1}}
expect: {worker: 3}
rpc_layer: grpc
""")
        whole = self.answer("-f", inner, status=10)
        again = self.answer("-f", self.config([MUSTER, "resolve", "-f", inner, "-o", "json"]), status=10)
        for key in ("cluster", "rpc_layer", "master", "complete", "jobs", "tasks", "digest"):
            self.assertEqual(again[key], whole[key], key)
        self.assertEqual((again["task"]["type"], again["task"]["index"]), ("worker", 1))

    def test_its_failure_is_told_with_its_own_words(self):
        program = self.program('echo "no rack 7" >&2; exit 3\n')
        run = self.muster("resolve", "-f", self.config([program]), status=14)
        self.assertIn(f"the program '{program}' failed with exit status 3: no rack 7", run.stderr)

    def test_one_that_hangs_is_ended_in_its_time(self):
        program = self.program("sleep 60\n")
        begin = time.monotonic()
        self.muster("resolve", "-f", self.config([program], timeout_seconds=1), status=15)
        self.assertLess(time.monotonic() - begin, 1.5 + OVERHEAD)

    def test_one_that_prints_without_end_is_ended(self):
        program = self.program("yes 'worker 0 a:1'\n")
        run = self.muster("resolve", "-f", self.config([program], maximum_size=100000), status=None)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("100000", run.stderr)


if __name__ == "__main__":
    main()

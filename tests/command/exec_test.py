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

    def test_what_it_prints_beyond_the_limits_is_its_own_fault_and_no_plugins(self):
        long = 65537 * "x"
        task = {"job": "worker", "index": 0, "address": "a:1", "name": "w"}
        missing = {"index": 1, "name": "w-1", "reason": "Pending"}
        for words, answer in {
                "there are more than 4096 jobs": {"cluster": {f"j{n}": [] for n in range(4097)}},
                "is no name for a job": {"cluster": {"w\u0085": ["a:1"]}},
                "the attribute 'k' has 65537 bytes, more than 65536: 'xxx": {"attributes": {"k": long}},
                "is not 1 to 255 bytes": {"attributes": {"a\x1bb": ""}},
                "there are more than 256 attributes of the cluster": {"attributes": {f"k{n}": "" for n in range(257)}},
                "there are more than 256 attributes of one task": {"tasks": [{**task, "attributes": {f"k{n}": "" for n in range(257)}}]},
                "the name of task 0 named 'xxx": {"tasks": [{**task, "name": long}]},
                "a warning has 65537 bytes": {"warnings": [long]},
                "1048577 tasks of job 'worker' are expected, which is not 0 to 1048576": {"jobs": {"worker": {"expected": 1048577}}},
                "the reason why task 1 named 'w-1' of job 'worker' is missing has 65537 bytes":
                    {"jobs": {"worker": {"missing": [{**missing, "reason": long}]}}},
                "the evidence of which task this process is has": {"task": {"type": "worker", "index": 0, "evidence": [long]}}}.items():
            with self.subTest(words):
                self.file("answer.json", json.dumps({"cluster": {"worker": ["a:1"]}, **answer}))
                run = self.muster("resolve", "-f", self.config(["/bin/cat", "answer.json"], format="answer"), status=None)
                self.assertNotEqual(run.returncode, 16, run.stderr)
                self.assertEqual((run.returncode, run.stdout), (14, ""))
                self.assertIn("the program '/bin/cat' printed what", run.stderr)
                self.assertIn(words, run.stderr)
                self.assertLess(len(run.stderr), 2000)

    def test_a_member_that_it_names_twice_is_told_by_name(self):
        twice = {"index": None, "name": "w-1", "reason": "Pending"}
        self.file("answer.json", json.dumps({"cluster": {}, "jobs": {"worker": {"missing": [twice, twice]}}}))
        run = self.muster("resolve", "-f", self.config(["/bin/cat", "answer.json"], format="answer"), status=None)
        self.assertEqual(run.returncode, 12, run.stderr)
        self.assertIn("a task named 'w-1' of job 'worker' is there twice", run.stderr)

    def test_of_more_warnings_than_there_is_room_for_the_rest_are_counted(self):
        for count, last in ((1000, "w999"), (1001, "and 2 more warnings"), (5000, "and 4001 more warnings")):
            self.file("answer.json", json.dumps({"cluster": {"worker": ["a:1"]}, "warnings": [f"w{n}" for n in range(count)]}))
            warnings = self.answer("-f", self.config(["/bin/cat", "answer.json"], format="answer"))["warnings"]
            self.assertEqual((len(warnings), warnings[998], warnings[999]), (1000, "w998", last))

    def test_a_tf_config_beyond_the_limits_is_the_users_to_mend(self):
        many = {"cluster": {f"j{n}": [] for n in range(4097)}}
        run = self.muster("resolve", "--backend", "tf_config", status=12, env={"TF_CONFIG": json.dumps(many)})
        self.assertIn("TF_CONFIG: there are more than 4096 jobs", run.stderr)
        long = {"cluster": {"worker": ["a:1"]}, "environment": 65537 * "x"}
        run = self.muster("resolve", "--backend", "tf_config", status=12, env={"TF_CONFIG": json.dumps(long)})
        self.assertIn("TF_CONFIG: the attribute 'environment' has 65537 bytes", run.stderr)
        self.file("tf.json", json.dumps(long))
        self.muster("resolve", "-f", self.config(["/bin/cat", "tf.json"], format="tf_config"), status=14)

    def test_a_file_or_a_config_beyond_the_limits_is_the_users_to_mend(self):
        path = self.file("roster", "".join(f"j{n} 0 a:1\n" for n in range(4097)))
        run = self.muster("resolve", "--backend", "static", "-O", f"file={path}", status=12)
        self.assertIn(f"'{path}': there are more than 4096 jobs", run.stderr)
        jobs = json.dumps({f"j{n}": ["a:1"] for n in range(4097)})
        run = self.muster("resolve", "--backend", "static", "-O", f"cluster_spec={jobs}", status=12)
        self.assertIn("cluster_spec: there are more than 4096 jobs", run.stderr)

    def test_a_key_that_stands_twice_is_refused_wherever_it_stands(self):
        whole = '{"cluster": {"worker": ["a:1"]}, "tasks": [{"job": "worker", "index": 0, "address": "a:1", "name": "w"}]}'
        for at, twice in {
                "the key 'complete' is there twice": whole[:-1] + ', "complete": true, "complete": false}',
                "/tasks/0: the key 'name' is there twice": whole.replace('"name"', '"name": "v", "name"'),
                "/task: the key 'index' is there twice": whole[:-1] + ', "task": {"type": "worker", "index": 0, "index": 1}}',
                "/jobs/worker: the key 'expected' is there twice": whole[:-1] + ', "jobs": {"worker": {"expected": 1, "expected": 2}}}',
                "/attributes: the key 'k' is there twice": whole[:-1] + ', "attributes": {"k": "1", "\\u006b": "2"}}'}.items():
            with self.subTest(at):
                self.file("answer.json", twice)
                run = self.muster("resolve", "-f", self.config(["/bin/cat", "answer.json"], format="answer"), status=14)
                self.assertIn(at, run.stderr)

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

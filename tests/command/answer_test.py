"""What is asked, by whom it is said, and what is printed."""
import json
import os
import re
import subprocess
import unittest

from world import SOURCE, STATIC, TOKEN, World, cloud, kubernetes, main

FALLS_BACK = """cluster:
  merge:
    - {backend: kubernetes, options: {kubeconfig: "${KUBE}", namespace: ml, job_to_label_mapping: {worker: "role=worker"}}}
    - chain:
        - {backend: tf_config, options: {variable: NOT_SET}}
        - {backend: static, options: {cluster_spec: {ps: ["[fd00::2]:2222"]}}}
        - {backend: static, options: {cluster_spec: {ps: ["never:1"]}}}
"""


def differences(schema, value, root=None, place="answer"):
    """What of this value is not as a draft-7 schema says; of the words, those that answer.schema.json uses."""
    root = root or schema
    if "$ref" in schema:
        schema = root["definitions"][schema["$ref"].rsplit("/", 1)[1]]
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
    found = []
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        fits = any(isinstance(value, kinds[name]) and (name != "integer" or not isinstance(value, bool)) for name in names)
        if not fits:
            return [f"{place}: {value!r} is no {names}"]
    if "oneOf" in schema and sum(not differences(one, value, root, place) for one in schema["oneOf"]) != 1:
        found.append(f"{place}: {value!r} is not just one of the forms")
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{place}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, int) and value < schema.get("minimum", value):
        found.append(f"{place}: {value} is too small")
    if isinstance(value, list):
        for n, item in enumerate(value):
            found += differences(schema.get("items", {}), item, root, f"{place}[{n}]")
    if isinstance(value, dict):
        found += [f"{place}: no {key}" for key in schema.get("required", []) if key not in value]
        for key, item in value.items():
            rest = schema.get("additionalProperties", {})
            found += differences(schema.get("properties", {}).get(key, rest), item, root, f"{place}.{key}")
    return found


class Answers(World):
    def schema(self):
        with open(os.path.join(SOURCE, "sdk", "answer.schema.json")) as file:
            return json.load(file)

    def test_a_merge_with_a_chain_inside_is_one_answer(self):
        with cloud() as sim:
            answer = self.answer("-f", self.file("m.yaml", FALLS_BACK), env={"KUBE": sim.ready["kubeconfig"]})
        self.assertEqual(answer["cluster"], {"worker": [f"10.8.0.{n}:8470" for n in range(1, 8)], "ps": ["[fd00::2]:2222"]})
        self.assertTrue(answer["complete"])

    def test_json_is_as_its_schema_says(self):
        with cloud() as sim:
            for words, status in ((kubernetes(sim, "worker chief ps"), 10), (["-f", self.file("m.yaml", STATIC)], 0)):
                answer = self.answer(*words, status=status)
                self.assertEqual(differences(self.schema(), answer), [])
        answer["digest"] = "md5:0"
        del answer["tasks"][0]["address"]
        self.assertEqual(len(differences(self.schema(), answer)), 2)  # the check itself sees what is wrong

    def test_ipv6_is_the_same_member_in_every_format(self):
        with cloud() as sim:
            words = kubernetes(sim, "chief")
            out = {name: self.muster("resolve", *words, "-o", name).stdout
                   for name in ("table", "json", "yaml", "tf_config", "cluster_def", "env", "addresses", "hostfile", "names", "explain")}
            binary = self.muster("resolve", *words, "-o", "cluster_def_binary", text=False).stdout
        address = "[fd00:8::1]:8470"
        for name in ("table", "json", "yaml", "tf_config", "cluster_def", "env", "addresses"):
            self.assertIn(address, out[name], name)
        self.assertEqual(out["addresses"], address + "\n")
        self.assertEqual(out["hostfile"], "fd00:8::1 slots=1\n")
        self.assertEqual(out["names"], "six\n")
        self.assertEqual(json.loads(out["tf_config"])["cluster"], {"chief": [address]})
        task = b"\x12" + bytes([len(address)]) + address.encode()
        job = b"\x0a\x05chief\x12" + bytes([len(task)]) + task
        self.assertIn(binary, (b"\x0a" + bytes([len(job)]) + job, b"\x0a" + bytes([len(job) + 2]) + b"\x0a\x05chief\x12"
                               + bytes([len(task) + 2]) + b"\x08\x00" + task))

    def test_env_is_taken_by_a_shell_word_for_word(self):
        odd = "a'b\"c $(touch owned) `touch owned`"
        path = self.file("m.yaml", STATIC + "environment: \"%s\"\ntask: {type: worker, index: 1}\n" % odd.replace('"', '\\"').replace("$", "$$"))
        lines = self.muster("resolve", "-f", path, "-o", "env").stdout
        shown = subprocess.run(["sh", "-c", 'eval "$1"; env -0', "sh", lines], capture_output=True, env={"PATH": os.environ["PATH"]},
                               cwd=self.folder, check=True).stdout.decode().split("\0")
        variables = dict(line.split("=", 1) for line in shown if "=" in line)
        self.assertEqual(json.loads(variables["TF_CONFIG"])["environment"], odd)
        self.assertEqual((variables["MASTER_ADDR"], variables["MASTER_PORT"]), ("10.0.0.1", "8470"))
        self.assertEqual((variables["RANK"], variables["WORLD_SIZE"]), ("1", "3"))
        self.assertEqual(variables["MUSTER_ADDRESS"], "[fd00::2]:8470")
        self.assertNotIn("owned", os.listdir(self.folder))

    def test_a_config_comes_by_flag_by_standard_input_or_by_the_environment(self):
        path = self.file("m.yaml", STATIC)
        by_file = self.muster("resolve", "-f", path).stdout
        self.assertEqual(self.muster("resolve", "-f", "-", stdin=STATIC).stdout, by_file)
        self.assertEqual(self.muster("resolve", env={"MUSTER_CONFIG": path}).stdout, by_file)
        other = self.file("other.yaml", "cluster: {backend: static, options: {cluster_spec: {only: [\"a:1\"]}}}")
        self.assertIn("only", self.muster("resolve", "-f", other, env={"MUSTER_CONFIG": path}).stdout)
        self.assertIn("a:1", self.muster("resolve", "--backend", "static", "-O", "cluster_spec={only: ['a:1']}",
                                         env={"MUSTER_CONFIG": path}).stdout)

    def test_an_error_in_standard_input_has_line_and_column(self):
        run = self.muster("resolve", "-f", "-", stdin="cluster:\n  backnd: static\n", status=12)
        self.assertIn("<standard input>:2:3:", run.stderr)

    def test_an_error_of_a_shorthand_shows_the_option_as_it_was_typed(self):
        run = self.muster("resolve", "--backend", "kubernetes", "-O", "tf_server_port=many", status=12)
        self.assertIn("-O tf_server_port=many\n", run.stderr)

    def test_a_flag_wins_over_the_environment_and_that_over_the_file(self):
        path = self.file("m.yaml", STATIC + "rpc_layer: infile\ntask: {type: worker, index: 0}\nexpect: {worker: 2}\n")
        self.assertEqual(self.answer("-f", path)["master"], "infile://10.0.0.1:8470")
        variables = {"MUSTER_RPC_LAYER": "invar", "MUSTER_TASK_TYPE": "ps", "MUSTER_TASK_ID": "0", "MUSTER_EXPECT": "worker=4"}
        answer = self.answer("-f", path, env=variables, status=10)
        self.assertEqual((answer["master"], answer["jobs"]["worker"]["expected"]), ("invar://ps-0:2222", 4))
        answer = self.answer("-f", path, "--rpc-layer", "flag", "--task-type", "worker", "--task-id", "1", "--expect", "ps=1",
                             env=variables)
        self.assertEqual((answer["master"], answer["jobs"]["ps"]["expected"]), ("flag://[fd00::2]:8470", 1))
        self.assertEqual(self.answer("-f", path, "--rpc-layer", "")["master"], "10.0.0.1:8470")

    def test_the_timeout_has_the_same_precedence(self):
        with cloud("delay: 3s") as sim:
            path = self.file("m.yaml", "timeout: 200ms\n" + FALLS_BACK)
            kube = {"KUBE": sim.ready["kubeconfig"]}
            self.muster("resolve", "-f", path, env=kube, status=15)
            self.muster("resolve", "-f", path, "--timeout", "20s", env={**kube, "MUSTER_TIMEOUT": "200ms"})
            self.muster("resolve", "-f", self.file("n.yaml", "timeout: 20s\n" + FALLS_BACK), env={**kube, "MUSTER_TIMEOUT": "200ms"}, status=15)

    def test_data_is_on_stdout_and_talk_on_stderr(self):
        with cloud() as sim:
            words = kubernetes(sim)
            plain = self.muster("resolve", *words, "-o", "addresses")
            loud = self.muster("resolve", *words, "-o", "addresses", "-vv")
            quiet = self.muster("resolve", *words, "-o", "addresses", "-q")
            self.assertEqual((plain.stderr, quiet.stderr), ("", ""))
            self.assertEqual({plain.stdout, loud.stdout, quiet.stdout}, {"".join(f"10.8.0.{n}:8470\n" for n in range(1, 8))})
            once = self.muster("resolve", *words, "-v").stderr
        self.assertEqual(once.count("GET https://"), 3)
        self.assertIn(": 200, ", once)
        self.assertRegex(once, r"kubernetes \(cluster\): OK, tasks: 7, [0-9]+ ms")

    def test_quiet_still_says_errors(self):
        self.assertIn("no configuration", self.muster("resolve", "-q", status=12).stderr)

    def test_explain_tells_what_each_resolver_did_and_why_a_chain_went_on(self):
        with cloud() as sim:
            env = {"KUBE": sim.ready["kubeconfig"]}
            path = self.file("m.yaml", FALLS_BACK)
            text = self.muster("explain", "-f", path, env=env).stdout
            answer = json.loads(self.muster("explain", "-f", path, "--json", env=env).stdout)
        self.assertRegex(text, r"cluster\.merge\[0\] \(kubernetes\): OK, 7 tasks, [0-9]+ ms, 3 requests")
        self.assertRegex(text, r"cluster\.merge\[1\]\.chain\[0\] \(tf_config\): NOT_FOUND")
        self.assertIn("cluster.merge[1].chain[1] answered; cluster.merge[1].chain[0] did not: NOT_FOUND", text)
        self.assertIn("cluster.merge[1].chain[2] (static): NOT_ASKED", text)
        statuses = {source["path"]: (source["status"], source["requests"]) for source in answer["sources"]}
        self.assertEqual(statuses["cluster.merge[0]"], ("OK", 3))
        self.assertEqual(statuses["cluster.merge[1].chain[2]"], ("NOT_ASKED", 0))

    def test_explain_of_a_failure_has_the_sources_on_stdout_and_the_error_on_stderr(self):
        with cloud("status: 403") as sim:
            env = {"KUBE": sim.ready["kubeconfig"]}
            path = self.file("m.yaml", FALLS_BACK)
            run = self.muster("explain", "-f", path, env=env, status=13)
            listed = json.loads(self.muster("explain", "-f", path, "--json", env=env, status=13).stdout)
        self.assertRegex(run.stdout, r"cluster\.merge\[0\] \(kubernetes\): PERMISSION_DENIED")
        self.assertIn("403", run.stdout)
        self.assertIn("may not list pods", run.stderr)
        self.assertIn(("cluster.merge[0]", "PERMISSION_DENIED"), [(source["path"], source["status"]) for source in listed])

    def test_a_static_answer_loads_no_network_library_and_needs_no_folder(self):
        run = self.muster("resolve", "-f", self.file("m.yaml", STATIC), env={"LD_DEBUG": "libs", "HOME": "/none"})
        self.assertIn("libmuster-static.so", run.stderr)
        for name in ("libmuster-http", "libssl", "libcrypto", "libcurl"):
            self.assertNotIn(name, run.stderr)
        self.assertEqual(os.listdir(self.folder), ["m.yaml"])


if __name__ == "__main__":
    main()

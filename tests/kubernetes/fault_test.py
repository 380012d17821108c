"""Servers that refuse, stall or break off: told as they are, and never a part as the whole."""
import json
import os
import tempfile
import threading
import time
import unittest

from asking import ask, lists, world

PODS = """  pods:
    - {name: "w-{0..5}", namespace: ml, labels: {app: t}, ip: "10.8.0.{1..6}"}
"""
LATER = """tls: true
kubernetes:
  namespaces: [ml, other]
  pods:
    - {name: "w-{0..7}", namespace: ml, labels: {app: t}, ip: "10.77.0.{1..8}"}
"""
ALL = {"worker": [f"10.8.0.{n}:8470" for n in range(1, 7)]}


def fault(keys):
    return PODS + '  faults: [{match: "GET *pods", ' + keys + "}]\n"


class Refused(unittest.TestCase):
    def told(self, run, code, *words):
        self.assertEqual(run.code, code, run)
        self.assertEqual(run.out, "")
        for word in words:
            self.assertIn(word, run.err)

    def test_401_is_status_13_and_names_the_user(self):
        with world(PODS) as sim:
            self.told(ask(sim, options=["context=sim-wrong"]), 13, "sim-wrong", "expired")
            self.told(ask(sim, options=["context=sim-anonymous"]), 13, "no credentials were sent")

    def test_403_is_status_13_and_prints_the_role_to_paste(self):
        with world("  forbid: [{resource: pods, namespace: other}, {resource: pods, scope: cluster}]\n" + PODS) as sim:
            rule = "{apiGroups: [\"\"], resources: [pods], verbs: [list]}"
            self.told(ask(sim, options=["namespace=other"]), 13, "kind: RoleBinding", 'namespace: "other"', rule)
            self.told(ask(sim, options=["all_namespaces=true"]), 13, "kind: ClusterRoleBinding", rule)

    def test_nothing_matches_is_status_11_with_what_to_type(self):
        with world(PODS) as sim:
            self.told(ask(sim, "{worker: [app=nobody]}"), 11, "app=nobody", "kubectl get pods -n ml -l 'app=nobody'",
                      sim.ready["url"])

    def test_a_bad_selector_is_status_12_at_its_place_in_the_config(self):
        with world(PODS) as sim:
            config = os.path.join(sim.folder.name, "muster.yaml")
            with open(config, "w") as file:
                file.write("cluster:\n  backend: kubernetes\n  options:\n    job_to_label_mapping:\n"
                           "      worker: [app=t, a====]\n")
            self.told(ask(sim, "", file=config), 12, f"{config}:5:23", "'a===='")

    def test_429_in_plain_text_is_told_with_the_servers_words(self):
        with world(fault("status: 429, retry_after: 1, times: 1")) as sim:
            run = ask(sim)
            self.assertEqual(run.cluster(), ALL, run)
            self.assertEqual([r["status"] for r in lists(sim)], [429, 200])
        with world(fault("status: 429")) as sim:
            self.told(ask(sim, "{worker: [app=t]}", "--timeout", "3s"), 14, "too much to do")

    def test_each_status_has_its_code_and_a_chain_goes_on_where_the_table_says_so(self):
        """The table: plugins/README.md."""
        for status, code, goes_on in ((402, 12, True), (405, 12, True), (410, 11, True), (451, 12, True), (422, 12, False)):
            with self.subTest(status), world(PODS + f'  faults: [{{match: "GET *jobsets/train", status: {status}}}]\n') as sim:
                self.told(ask(sim, None, options=["jobset=train"]), code)
                config = os.path.join(sim.folder.name, "muster.yaml")
                with open(config, "w") as file:
                    file.write("cluster:\n  chain:\n    - {backend: kubernetes, options: {jobset: train}}\n"
                               "    - {backend: static, options: {cluster_spec: {worker: ['10.9.9.9:1']}}}\n")
                run = ask(sim, file=config)
                if goes_on:
                    self.assertEqual(run.cluster(), {"worker": ["10.9.9.9:1"]}, run)
                else:
                    self.told(run, code)


class Broken(unittest.TestCase):
    def no_part(self, run, *codes):
        self.assertIn(run.code, codes, run)
        self.assertEqual(run.out, "")

    def test_503_twice_with_retry_after_then_fine(self):
        with world(fault("times: 2, status: 503, retry_after: 1")) as sim:
            began = time.monotonic()
            run = ask(sim, verb="explain")
            self.assertGreaterEqual(time.monotonic() - began, 1.9)
            self.assertEqual([r["status"] for r in lists(sim)], [503, 503, 200])
        self.assertEqual(run.code, 0, run)
        self.assertIn("3 requests", run.out)
        self.assertEqual(run.out.count("503"), 2)

    def test_410_in_the_middle_begins_the_list_again(self):
        with world(fault("page: 2, times: 1, status: 410")) as sim:
            run = ask(sim, options=["page_size=2"])
            self.assertEqual([r["status"] for r in lists(sim)], [200, 410, 200, 200, 200])
        self.assertEqual(run.cluster(), ALL, run)

    def test_pages_of_two_moments_are_never_mixed(self):
        for status, first_octets in (("status: 410, ", "10.77"), ("", "10.8")):
            with world(fault(f"page: 2, times: 1, {status}delay: 1s")) as sim:
                def change():
                    while len(sim.requests()) < 1:
                        time.sleep(0.02)
                    sim.get("/_sim/scenario", method="PUT", body=LATER)
                other = threading.Thread(target=change)
                other.start()
                run = ask(sim, options=["page_size=2"])
                other.join()
            found = run.cluster()["worker"]
            self.assertEqual({address.rsplit(".", 2)[0] for address in found}, {first_octets}, run)
            self.assertEqual(len(found), 8 if first_octets == "10.77" else 6)

    def test_410_for_ever_ends(self):
        with world(fault("page: 2, status: 410")) as sim:
            run = ask(sim, options=["page_size=2"])
            self.assertLess(len(lists(sim)), 12)
        if run.code == 0:  # the last attempt asks for all in one
            self.assertEqual(run.cluster(), ALL)
        else:
            self.no_part(run, 14)

    def test_a_connection_cut_in_the_middle_of_a_body_is_no_answer(self):
        for how in ("drop_after_bytes: 700", "drop_after_bytes: 700, reset: true", "drop: true", "drop_after_bytes: 0"):
            for where in ("", "page: 3, "):
                with world(fault(where + how)) as sim:
                    self.no_part(ask(sim, "{worker: [app=t]}", "--timeout", "3s", options=["page_size=2"]), 14, 15)
                with world(fault(where + how + ", times: 1")) as sim:
                    self.assertEqual(ask(sim, options=["page_size=2"]).cluster(), ALL)

    def test_what_goes_wrong_while_the_page_before_is_still_read(self):
        many = ('  protobuf: false\n  generate: {count: 2500, name: "w-{i}", namespace: ml, labels: {app: t}, bytes: 6144}\n'
                '  faults: [{match: "GET *pods", page: 3, ')
        for how, statuses in (("status: 410", [200, 200, 410] + 5 * [200]), ("drop_after_bytes: 1500000", 6 * [200])):
            with world(many + how + ", times: 1}]\n") as sim:
                run = ask(sim)
                self.assertEqual([r["status"] for r in lists(sim)], statuses)
            self.assertEqual([task["name"] for task in run.answer["tasks"]], [f"w-{n}" for n in range(2500)], how)
        for how, *codes in (("status: 403", 13), ("drop_after_bytes: 1500000", 14), ("body: '{\"items\": [{}]}'", 14), ("delay: 60s", 15)):
            with world(many + how + "}]\n") as sim:
                began = time.monotonic()
                self.no_part(ask(sim, "{worker: [app=t]}", "--timeout", "3s"), *codes)
                self.assertLess(time.monotonic() - began, 8)

    def test_a_body_that_ends_too_early_or_is_no_list_is_no_answer(self):
        for body in ('{"kind": "PodList", "items": [', "", "<html>login</html>", '{"kind": "Status"}', '{"items": [{}]}'):
            with world(PODS + "  faults: [{match: \"GET *pods\", content_type: application/json, body: '" + body +
                       "'}]\n") as sim:
                run = ask(sim, "{worker: [app=t]}", "--timeout", "5s")
            self.no_part(run, 14)

    def test_a_body_that_drips_ends_with_the_deadline(self):
        with world(fault("drip: 20")) as sim:
            began = time.monotonic()
            run = ask(sim, "{worker: [app=t]}", "--timeout", "1500ms")
            self.assertLess(time.monotonic() - began, 5)
        self.no_part(run, 15)

    def test_nobody_listens_is_status_14_with_the_address(self):
        with world(PODS) as sim:
            pass
        # the sim has gone, and its folder with it
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write(f"current-context: c\nclusters: [{{name: k, cluster: {{server: '{sim.ready['url']}'}}}}]\n"
                         "contexts: [{name: c, context: {cluster: k}}]\n")
            config.flush()
            run = ask(sim, "{worker: [app=t]}", "--timeout", "2s", env={"KUBECONFIG": config.name})
        self.no_part(run, 14, 15)
        self.assertIn(str(sim.ready["port"]), run.err)


def pod(name, **more):
    """A running pod as the API server prints it; `more` goes into its metadata, and that of `spec` and `status` into theirs."""
    spec, status = more.pop("spec", {}), more.pop("status", {})
    return {"metadata": {"name": name, "namespace": "ml", "uid": "u-" + name, **more}, "spec": {"nodeName": "n", **spec},
            "status": {"phase": "Running", "podIP": "10.8.0.1", "conditions": [{"type": "Ready", "status": "True"}], **status}}


def answering(*answers):
    """A server that answers a request that matches with that body: pairs, the narrower ones first."""
    faults = "".join("    - {match: '%s', body: %s}\n" % (match, json.dumps(json.dumps(body))) for match, body in answers)
    return PODS + "  faults:\n" + faults


def pods_of(*items, token=""):
    return {"kind": "PodList", "metadata": {"resourceVersion": "7", "continue": token}, "items": list(items)}


class OfTheSource(unittest.TestCase):
    """What a server says and no cluster can have is that server's fault, and not the plugin's; here and in a process of its own."""

    def told(self, text, words, *options, mapping="{worker: [app=t]}", code=14):
        with world(text) as sim:
            for isolate in ("false", "true"):
                run = ask(sim, mapping, options=options, env={"MUSTER_ISOLATE": isolate})
                self.assertEqual(run.code, code, run)
                self.assertEqual(run.out, "")
                self.assertIn(words, run.err)
                self.assertNotIn("author", run.err)

    def test_a_pod_on_two_pages(self):
        ranks = [{"labels": {"apps.kubernetes.io/pod-index": str(n)}} for n in range(2)]
        for first, second in (({}, {}), ranks):
            one, other = pod("w-0", **first), pod("w-1", **second)
            self.told(answering(("GET *pods?*continue=x*", pods_of(one)), ("GET *pods", pods_of(one, other, token="x"))),
                      "the API server's list has pod 'ml/w-0' twice", code=12)

    def test_two_pods_of_one_name_in_a_list_of_one_namespace(self):
        other = {**pod("w-0"), "metadata": {"name": "w-0", "namespace": "other", "uid": "v"}}
        self.told(answering(("GET *pods", pods_of(pod("w-0"), pod("w-1"), other))), "a task named 'w-0' of job 'worker' is there twice", code=12)

    def test_a_text_that_is_too_long(self):
        long = "n" * 70000
        for one in (pod("w-0", spec={"nodeName": long}), pod(long), pod("w-0", uid=long)):
            self.told(answering(("GET *pods", pods_of(one))), "70000 bytes" if one["metadata"]["name"] == "w-0" else "70002 bytes")

    def test_a_name_with_a_slash(self):
        self.told(answering(("GET *pods", pods_of(pod("ml/w-0")))), "the name or namespace 'ml/w-0', and none has a '/' in it", "all_namespaces=true")

    def test_a_name_that_is_no_address(self):
        self.told(answering(("GET *pods", pods_of(pod("w-0", spec={"hostname": "a b", "subdomain": "s"})))), "'a b.s.ml.svc.",
                  "address=dns")

    def test_an_endpoint_whose_address_is_no_host(self):
        slices = {"kind": "EndpointSliceList", "metadata": {}, "items": [
            {"metadata": {"name": "s", "namespace": "ml"}, "addressType": "FQDN", "ports": [{"port": 7}], "endpoints": [{"addresses": ["a b"]}]}]}
        self.told(answering(("GET *endpointslices*", slices)), "task named 'a b' of job 'worker': 'a b'", "service=s", mapping=None)

    def job_set(self, *names):
        return {"kind": "JobSet", "metadata": {"name": "train", "namespace": "ml", "uid": "u", "resourceVersion": "7"}, "spec": {"replicatedJobs": [
            {"name": name, "replicas": 1, "template": {"spec": {"parallelism": 1, "completions": 1, "completionMode": "Indexed"}}} for name in names]}}

    def of_job_set(self, job_set, words):
        self.told(answering(("GET *jobsets/train", job_set), ("GET *pods", pods_of())), words, "jobset=train", mapping=None)

    def test_a_job_whose_name_has_control_characters(self):
        self.of_job_set(self.job_set("a\u0085b"), "is no name for a job")

    def test_more_jobs_than_a_cluster_may_have(self):
        self.of_job_set(self.job_set(*(f"r{n}" for n in range(4097))), "more than 4096 jobs")


class Recorded(unittest.TestCase):
    def test_a_recording_gives_the_same_bytes_again_without_a_server_and_holds_no_secret(self):
        with world(PODS) as sim:
            path = os.path.join(sim.folder.name, "recording")
            for context in ("sim", "sim-cert"):
                for form in ("tf_config", "json"):
                    recorded = ask(sim, "{worker: [app=t]}", "--record", path, "--task-type", "worker", "--task-id", "1",
                                   options=["page_size=2", f"context={context}"], form=form)
                    self.assertEqual(recorded.code, 0, recorded)
                    with open(path) as file:
                        text = file.read()
                    with open(sim.ready["client_key"]) as file:
                        key = file.read()
                    for secret in (sim.token, key, key.splitlines()[1], "not-a-token-of-this-server"):
                        self.assertFalse(secret in text, [l for l in text.splitlines() if secret in l])
                    asked = len(sim.requests())
                    replayed = ask(sim, "{worker: [app=t]}", "--replay", path, "--task-type", "worker", "--task-id", "1",
                                   options=["page_size=2", f"context={context}"], form=form,
                                   env={"KUBECONFIG": sim.ready["kubeconfig"]})
                    self.assertEqual(replayed.out, recorded.out)
                    self.assertEqual(len(sim.requests()), asked)


if __name__ == "__main__":
    unittest.main()

"""Which TPU is meant: TensorFlow's decision tree, a TPU VM's metadata, a GKE pod's variables, the discovery document; and who we are."""
import json
import os
import unittest

from asking import ZONE, api_requests, ask, metadata, tpu, world

HOSTS = [f"10.164.0.{n}:8470" for n in range(1, 5)]
PODS = ",".join(f"train-slice-1-{n}.train" for n in range(2))


def nothing_said(sim, env, *options, **more):
    """A run with neither name, project, zone nor key: only what the environment says."""
    return ask(sim, "project=", "zone=", *options, name=None, key=None, env=env, **more)


class Variables(unittest.TestCase):
    def test_the_first_that_says_anything_counts_and_blank_ones_say_nothing(self):
        config = json.dumps({"tpu_node_name": "config", "zone": ZONE, "project": "orchard"})
        with world(tpu(name="{0..2}").replace('"{0..2}"', '"t{0..2}"')) as sim:
            said = {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": "grpc://10.0.0.1:8470", "TPU_NAME": "t0", "TPU_CONFIG": config.replace("config", "t1"),
                    "TPU_WORKER_HOSTNAMES": "a,b"}
            answers = [["10.0.0.1:8470"], [f"10.164.0.{n}:8470" for n in range(1, 5)], [f"10.164.0.{n}:8470" for n in range(5, 9)],
                       ["a:8470", "b:8470"]]
            for name, answer in zip(list(said), answers):
                with self.subTest(name):
                    run = ask(sim, name=None, env=said)
                    self.assertEqual(run.code, 0, run)
                    self.assertEqual(run.cluster(), {"worker": answer})
                said[name] = "  "
            run = ask(sim, name=None, env=said)
            self.assertEqual(run.code, 11, run)
            self.assertIn("nothing says which TPU it is", run.all)
            self.assertIn("gcloud compute tpus tpu-vm list", run.all)
            self.assertEqual(ask(sim, "tpu=t2", env={"TPU_NAME": "t0"}).cluster()["worker"][0], "10.164.0.9:8470")

    def test_addresses_need_no_api_with_or_without_scheme_and_port(self):
        with world("  {}\n") as sim:
            for text in ("grpc://10.0.0.1,grpc://10.0.0.2:9,grpc://[fd00::1]", "10.0.0.1, 10.0.0.2:9, [fd00::1]:8470"):
                run = nothing_said(sim, {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": text})
                self.assertEqual(run.cluster(), {"worker": ["10.0.0.1:8470", "10.0.0.2:9", "[fd00::1]:8470"]})
                self.assertEqual(run.answer["master"], "grpc://10.0.0.1:8470")
            self.assertEqual(nothing_said(sim, {"TPU_NAME": "grpc://10.0.0.1"}).cluster(), {"worker": ["10.0.0.1:8470"]})
            self.assertEqual(nothing_said(sim, {}, "tpu=[grpc://a:1, grpc://b]").cluster(), {"worker": ["a:1", "b:8470"]})
            run = nothing_said(sim, {"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": "10.0.0.1:99999"})
            self.assertEqual(run.code, 12, run)
            self.assertIn("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS: '10.0.0.1:99999' is not an address", run.all)
            self.assertEqual(nothing_said(sim, {}, "tpu=[grpc://a, plum]").code, 12)
            self.assertEqual(sim.requests(), [])

    def test_local_is_local_wherever_it_is_said_and_keeps_its_coordinator(self):
        with world("  {}\n") as sim:
            for run in (nothing_said(sim, {}, "tpu=local"), nothing_said(sim, {}, "tpu=[local]"), nothing_said(sim, {"TPU_NAME": "local"})):
                self.assertEqual(run.code, 0, run)
                self.assertEqual((run.cluster(), run.answer["master"]), ({}, ""))
                self.assertEqual((run.answer["task"]["type"], run.answer["task"]["index"]), ("worker", 0))
            run = nothing_said(sim, {}, "tpu=local", "coordinator_name=chief", "coordinator_address=10.0.0.9:1")
            self.assertEqual(run.cluster(), {"chief": ["10.0.0.9:1"]})
            self.assertEqual(sim.requests(), [])

    def test_a_tpu_config_that_is_none_is_told(self):
        with world("  {}\n") as sim:
            for text, words in {"{": "TPU_CONFIG:1:", '{"zone": "z"}': "has no tpu_node_name", '{"tpu_node_name": 7}': "has no tpu_node_name",
                                "[]": "has no tpu_node_name"}.items():
                run = nothing_said(sim, {"TPU_CONFIG": text})
                self.assertEqual(run.code, 12, run)
                self.assertIn(words, run.all)


class Vm(unittest.TestCase):
    MACHINE = "  machine: {tpu: plum, worker: 2}\n"

    def test_a_tpu_vm_answers_out_of_its_metadata_alone_in_two_requests(self):
        with world(tpu(self.MACHINE, topology="4x4", spot="true")) as sim:
            run = nothing_said(sim, metadata(sim))
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": HOSTS})
            self.assertEqual((run.answer["task"]["type"], run.answer["task"]["index"]), ("worker", 2))
            self.assertEqual(run.answer["task"]["evidence"], ["the metadata server says that this is worker 2 of TPU 'plum'"])
            self.assertEqual(run.answer["master"], "grpc://" + HOSTS[2])
            self.assertEqual(run.answer["accelerators"], {"TPU": 4})
            self.assertEqual({key: run.answer["attributes"][key] for key in ("tpu.name", "zone", "accelerator.topology", "runtime.version",
                                                                             "provisioning", "coordinator")},
                             {"tpu.name": "plum", "zone": ZONE, "accelerator.topology": "4x4", "runtime.version": "v2-alpha-tpuv5-lite",
                              "provisioning": "PREEMPTIBLE", "coordinator": "10.164.0.1:8476"})
            self.assertEqual([one["path"].rsplit("/", 1)[1] for one in sim.requests()], ["tpu-env", "worker-network-endpoints"])

    def test_addresses_of_ipv6_are_whole(self):
        with world(tpu(self.MACHINE, ip='"fd20:4c::{i}"')) as sim:
            self.assertEqual(nothing_said(sim, metadata(sim)).cluster()["worker"][3], "[fd20:4c::3]:8470")

    def test_a_worker_number_that_tpu_env_lacks_is_asked_for(self):
        env = '  machine: {tpu: plum, worker: 1, attributes: {tpu-env: "NODE_ID: plum\\nZONE: \\"z\\"\\nnonsense\\n"}}\n'
        with world(tpu(env)) as sim:
            run = nothing_said(sim, metadata(sim))
            self.assertEqual((run.answer["task"]["index"], run.answer["attributes"]["zone"]), (1, "z"))
            self.assertEqual(len(sim.requests()), 3)

    def test_by_name_the_vm_knows_which_worker_it_is(self):
        with world(tpu(self.MACHINE)) as sim:
            run = ask(sim, "project=", key=None, env=metadata(sim))
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.answer["task"]["index"], 2)
            self.assertEqual(run.answer["master"], "grpc://" + HOSTS[0])
            self.assertNotEqual(ask(sim, "task_id=0", env=metadata(sim)).code, 0)
        with world(tpu(f"    - {{name: fig, zone: {ZONE}}}\n  machine: {{tpu: fig}}\n")) as sim:
            self.assertIsNone(ask(sim, env=metadata(sim)).answer["task"]["index"])

    def test_a_vm_of_a_multislice_group_finds_all_slices(self):
        text = tpu("  machine: {tpu: s-1, worker: 1, slices: [s-0, s-1, s-2]}\n", name="s-{0..2}", type="v4-16")
        with world(text) as sim:
            run = nothing_said(sim, metadata(sim))
            self.assertEqual(run.code, 0, run)
            self.assertEqual(len(run.cluster()["worker"]), 6)
            self.assertEqual(run.answer["task"]["index"], 3)
            self.assertEqual(run.answer["attributes"]["megascale.coordinator"], "10.164.0.1")
        with world(text.replace("s-{0..2}", "s{0..2}").replace("s-", "s")) as sim:
            run = nothing_said(sim, metadata(sim))
            self.assertEqual(run.code, 12, run)
            self.assertIn("the names of the other slices do not follow from that", run.all)

    def test_another_vm_of_google_cloud_says_that_it_is_none(self):
        with world("  machine: {instance: x, zone: z}\n") as sim:
            run = nothing_said(sim, metadata(sim))
            self.assertEqual(run.code, 11, run)
            self.assertIn("is no TPU VM: its metadata server has no attribute tpu-env", run.all)
            run = nothing_said(sim, {**metadata(sim), "TPU_SKIP_MDS_QUERY": "1"})
            self.assertIn("TPU_SKIP_MDS_QUERY says not to ask", run.all)

    def test_metadata_that_does_not_fit_is_an_error_and_no_smaller_slice(self):
        for attributes in ('worker-network-endpoints: "10.0.0.1"', 'worker-network-endpoints: "a:b:10.0.0.1,a:b:"',
                           'worker-network-endpoints: ""', 'worker-network-endpoints: "a:b:10.0.0.1"', 'worker-network-endpoints: "a:b:x y"'):
            with self.subTest(attributes), world(tpu(f"  machine: {{tpu: plum, worker: 2, attributes: {{{attributes}}}}}\n")) as sim:
                run = nothing_said(sim, metadata(sim))
                self.assertEqual(run.code, 14, run)
                self.assertIn("tells no slice", run.all)


class Gke(unittest.TestCase):
    def test_a_pods_variables_are_the_slice(self):
        with world("  {}\n") as sim:
            run = nothing_said(sim, {"TPU_WORKER_ID": "1", "TPU_WORKER_HOSTNAMES": "a.train,b.train", "TPU_TOPOLOGY": "2x4",
                                     "TPU_ACCELERATOR_TYPE": "v5litepod-8"})
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": ["a.train:8470", "b.train:8470"]})
            self.assertEqual(run.answer["task"]["index"], 1)
            self.assertEqual(run.answer["accelerators"], {"TPU": 4})
            self.assertEqual(run.answer["attributes"]["coordinator"], "a.train:8476")
            self.assertEqual(run.answer["warnings"], [])
            self.assertEqual(sim.requests(), [])

    def test_a_jobsets_slices_are_one_whole(self):
        env = {"TPU_WORKER_ID": "1", "TPU_WORKER_HOSTNAMES": PODS, "MEGASCALE_NUM_SLICES": "3", "MEGASCALE_SLICE_ID": "1",
               "MEGASCALE_COORDINATOR_ADDRESS": "train-slice-0-0.train"}
        with world("  {}\n") as sim:
            run = nothing_said(sim, env)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster()["worker"], [f"train-slice-{s}-{w}.train:8470" for s in range(3) for w in range(2)])
            self.assertEqual(run.answer["task"]["index"], 3)
            self.assertEqual(run.answer["attributes"]["megascale.coordinator"], "train-slice-0-0.train")
            run = nothing_said(sim, {**env, "TPU_WORKER_HOSTNAMES": "a,b"})
            self.assertEqual(run.code, 10, run)
            self.assertEqual([task["index"] for task in run.answer["tasks"]], [2, 3])
            self.assertEqual(len(run.missing()), 4)

    def test_variables_that_contradict_each_other_are_told(self):
        with world("  {}\n") as sim:
            for env, words in (({"TPU_WORKER_ID": "2"}, "TPU_WORKER_ID is '2', and TPU_WORKER_HOSTNAMES has 2 hosts"),
                               ({"TPU_WORKER_ID": "x"}, "TPU_WORKER_ID is 'x'"),
                               ({"MEGASCALE_NUM_SLICES": "2"}, "they name no slice"),
                               ({"MEGASCALE_NUM_SLICES": "2", "MEGASCALE_SLICE_ID": "2"}, "they name no slice"),
                               ({"TPU_WORKER_HOSTNAMES": "a b"}, "TPU_WORKER_HOSTNAMES: 'a b:8470' is not an address")):
                run = nothing_said(sim, {"TPU_WORKER_HOSTNAMES": "a,b", **env})
                self.assertEqual(run.code, 12, run)
                self.assertIn(words.split(":")[0], run.all)


class Place(unittest.TestCase):
    def test_a_private_endpoint_may_have_a_path(self):
        with world(tpu()) as sim:
            ask(sim, f"endpoint={sim.ready['url']}/psc/tpu/")
            self.assertEqual(sim.requests()[0]["path"], f"/psc/tpu/v2/projects/orchard/locations/{ZONE}/nodes/plum")

    def test_a_token_has_the_one_scope_that_the_api_takes(self):
        with world(tpu("  machine: {tpu: plum}\n")) as sim:
            run = ask(sim, key=None, env=metadata(sim))
            self.assertEqual(run.code, 0, run)
            self.assertEqual([one["query"] for one in sim.requests() if one["path"].endswith("/token")],
                             ["scopes=https://www.googleapis.com/auth/cloud-platform"])

    def test_a_discovery_document_says_where_the_api_is(self):
        with world(tpu()) as sim:
            url = sim.ready["url"] + "/$discovery/rest?version={apiVersion}"
            run = ask(sim, "endpoint=", f"discovery_url={url}", "api_version=v1")
            self.assertEqual(run.code, 0, run)
            self.assertEqual([one["path"] for one in sim.requests()], ["/$discovery/rest", f"/v1/projects/orchard/locations/{ZONE}/nodes/plum"])
            self.assertEqual(ask(sim, "endpoint=", env={"TPU_API_DISCOVERY_URL": url.replace("{apiVersion}", "v2")}).code, 0)
            run = ask(sim, "endpoint=", f"discovery_url={url}x")
            self.assertEqual(run.code, 11, run)
            self.assertIn("is answered by 404", run.all)

    def test_permissions_are_those_of_the_question_and_none_where_nobody_is_asked(self):
        with world(tpu()) as sim:
            run = ask(sim, verb="permissions", arguments=["--json"])
            self.assertEqual(run.code, 0, run)
            self.assertEqual([one["rule"] for one in run.answer[0]["permissions"]],
                             ["tpu.nodes.get", "tpu.nodes.list", "tpu.queuedResources.list"])
            self.assertIn("--member='serviceAccount:grape@orchard.iam.gserviceaccount.com' --role=roles/tpu.viewer",
                          ask(sim, verb="permissions").out)
            self.assertNotIn("roles", ask(sim, "tpu=local", verb="permissions").out)
            self.assertEqual(sim.requests(), [])

    def test_a_recording_is_replayed_without_anybody_and_has_no_secret(self):
        with world(tpu("  machine: {tpu: plum, worker: 2}\n")) as sim:
            recording = os.path.join(sim.folder.name, "recording.yaml")
            for again in (lambda more: ask(sim, key="authorized_user.json", arguments=more),
                          lambda more: nothing_said(sim, metadata(sim), arguments=more)):
                run = again(["--record", recording])
                self.assertEqual(run.code, 0, run)
                sim.reset()
                self.assertEqual(again(["--replay", recording]).cluster(), run.cluster())
                self.assertEqual(sim.requests(), [])
                with open(recording) as file:
                    self.assertNotIn("ya29.sim", file.read())

    def test_the_environment_says_the_project(self):
        with world(tpu()) as sim:
            self.assertEqual(ask(sim, "project=", env={"GOOGLE_CLOUD_PROJECT": "orchard"}).code, 0)
            run = ask(sim, "project=", f"access_token={sim.token}", key=None)
            self.assertEqual(run.code, 12, run)
            self.assertIn("nothing says the project", run.all)
            self.assertEqual(api_requests(sim)[1:], [])


if __name__ == "__main__":
    unittest.main()

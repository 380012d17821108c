"""Every kind of Google credentials against a cloud that checks them, and what a VM knows of itself."""
import json
import os
import subprocess
import time
import unittest

from asking import ZONE, api_requests, ask, group, metadata, resolve_file, tls_world, world

MACHINE = f"  machine: {{instance: w-1, zone: {ZONE}}}\n"


class Kinds(unittest.TestCase):
    def test_each_kind_of_credential_file_gets_in(self):
        with world(group(2)) as sim:
            for key, asked in {
                "service_account.json": [],
                "authorized_user.json": ["/token"],
                "external_account.json": ["/v1/token", "generateAccessToken"],
                "aws.json": ["/api/token", "/availability-zone", "/security-credentials", "/trainer", "/v1/token", "generateAccessToken"],
                "impersonated.json": ["/token", "generateAccessToken"],
            }.items():
                with self.subTest(key):
                    sim.reset()
                    run = ask(sim, key=key)
                    self.assertEqual(run.code, 0, run)
                    others = [one["path"] for one in sim.requests() if not one["path"].startswith("/compute/")]
                    self.assertEqual(len(others), len(asked), others)
                    for path, end in zip(others, asked):
                        self.assertTrue(path.endswith(end), path)

    def test_on_aws_the_variables_stand_for_its_metadata_service(self):
        with world(group(2)) as sim:
            keys = {"AWS_REGION": "us-east-2", "AWS_ACCESS_KEY_ID": "ASIASIMULATED", "AWS_SECRET_ACCESS_KEY": "wrong", "AWS_SESSION_TOKEN": "x"}
            run = ask(sim, key="aws.json", env=keys)
            self.assertEqual(run.code, 13, run)
            self.assertIn("reason 'invalid_grant'", run.all)
            self.assertEqual([one["path"] for one in sim.requests()], ["/v1/token"])

    def test_a_certificate_gets_in_where_it_is_shown(self):
        with tls_world(group(2)) as sim:
            trust = {"SSL_CERT_FILE": sim.ready["ca"]}
            run = ask(sim, key="x509.json", env=trust)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(len(run.cluster()["worker"]), 2)
            # Another certificate, which no authority of the cloud's has signed.
            folder = os.path.join(sim.folder.name, "other")
            os.mkdir(folder)
            paths = {name: os.path.join(folder, name) for name in ("cert", "key", "config.json", "x509.json")}
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=other", "-keyout", paths["key"], "-out",
                            paths["cert"]], check=True, capture_output=True)
            with open(paths["config.json"], "w") as file:
                json.dump({"cert_configs": {"workload": {"cert_path": paths["cert"], "key_path": paths["key"]}}}, file)
            with open(os.path.join(sim.ready["google"], "x509.json")) as file:
                content = json.load(file)
            content["credential_source"]["certificate"]["certificate_config_location"] = paths["config.json"]
            with open(paths["x509.json"], "w") as file:
                json.dump(content, file)
            run = ask(sim, key=None, env={**trust, "GOOGLE_APPLICATION_CREDENTIALS": paths["x509.json"]})
            self.assertEqual(run.code, 13, run)
            self.assertIn("reason 'invalid_grant'", run.all)

    def test_a_service_account_goes_to_the_token_endpoint_where_its_own_token_is_refused(self):
        with world("  self_signed: false\n" + group(2)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(sorted(one["status"] for one in sim.requests()), [200, 200, 200, 401, 401])

    def test_a_token_and_a_token_file_get_in_and_a_wrong_one_is_told(self):
        with world(group(1)) as sim:
            self.assertEqual(ask(sim, f"access_token={sim.token}", key=None).code, 0)
            self.assertEqual(ask(sim, f"access_token_file={sim.ready['token_file']}", key=None).code, 0)
            run = ask(sim, "access_token=not-a-token", key=None)
            self.assertEqual(run.code, 13, run)
            self.assertIn("refuses the token of the option access_token", run.all)
            self.assertNotIn("not-a-token", run.all)

    def test_gcloud_is_asked_for_its_token_when_that_is_wanted(self):
        with world(group(1)) as sim:
            folder = os.path.join(sim.folder.name, "bin")
            os.mkdir(folder)
            with open(os.path.join(folder, "gcloud"), "w") as file:
                file.write(f'#!/bin/sh\n[ "$*" = "auth print-access-token --quiet" ] && echo {sim.token}\n')
            os.chmod(os.path.join(folder, "gcloud"), 0o755)
            run = ask(sim, "credentials=gcloud", key=None, env={"PATH": folder + ":" + os.environ["PATH"]})
            self.assertEqual(run.code, 0, run)

    def test_without_credentials_each_place_is_told_within_a_second(self):
        with world(group(1)) as sim:
            start = time.monotonic()
            run = ask(sim, key=None, env={"GCE_METADATA_HOST": ""})
            self.assertLess(time.monotonic() - start, 2.5)
            self.assertEqual(run.code, 13, run)
            for words in ("GOOGLE_APPLICATION_CREDENTIALS is not set", "application_default_credentials.json' does not exist",
                          "metadata.google.internal", "gcloud auth application-default login"):
                self.assertIn(words, run.all)

    def test_a_clock_that_is_wrong_is_told_with_the_time(self):
        with world("  clock_ahead: 2h\n" + group(1)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 13, run)
            self.assertIn("invalid_grant", run.all)
            self.assertIn("clock wrong? It says 20", run.all)

    def test_a_token_that_expires_between_two_pages_is_renewed(self):
        # The kept token is forgotten by the cloud after the first answer.
        faults = '  faults: [{match: "GET /compute/v1/*instances*", page: 2, times: 1, status: 401}]\n'
        with world(faults + "  page_size: 50\n" + group(101)) as sim:
            run = ask(sim, key="authorized_user.json")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(len(run.cluster()["worker"]), 101)
            self.assertEqual([one["path"] for one in sim.requests()].count("/token"), 2)

    def test_a_token_is_sent_to_no_stranger(self):
        with world(group(1)) as sim:
            run = ask(sim, "endpoint=https://compute.example.com/compute/v1")
            self.assertEqual(run.code, 12, run)
            self.assertIn("is not sent to 'https://compute.example.com/", run.all)

    def test_no_secret_is_shown_or_recorded_and_a_recording_is_replayed(self):
        with world(group(2)) as sim:
            with open(os.path.join(sim.ready["google"], "authorized_user.json")) as file:
                content = file.read()
            recording = os.path.join(sim.folder.name, "recording.yaml")
            for key in ("authorized_user.json", "service_account.json", "external_account.json", "aws.json"):
                run = ask(sim, key=key, arguments=["--record", recording])
                self.assertEqual(run.code, 0, run)
                with open(recording) as file:
                    recorded = file.read()
                for secret in ("ya29.sim", "PRIVATE KEY", "SecretAccessKey", "AWS4-HMAC-SHA256", content.split('"refresh_token":"')[1].split('"')[0]):
                    self.assertNotIn(secret, recorded)
                before = len(sim.requests())
                again = ask(sim, key=key, arguments=["--replay", recording])
                self.assertEqual(again.code, 0, again)
                self.assertEqual(again.cluster(), run.cluster())
                self.assertEqual(len(sim.requests()), before)


class Manners(unittest.TestCase):
    def test_a_token_is_asked_for_with_no_more_scope_than_reading_takes(self):
        with world(MACHINE + group(1)) as sim:
            self.assertEqual(ask(sim, key=None, env=metadata(sim)).code, 0)
            tokens = [one["query"] for one in sim.requests() if one["path"].endswith("/token")]
            self.assertEqual(tokens, ["scopes=https://www.googleapis.com/auth/compute.readonly"])

    def test_who_gives_tokens_is_asked_again_after_a_transient_failure(self):
        for key, match in (("authorized_user.json", "/token"), ("external_account.json", "/v1/token"), ("impersonated.json", "*generateAccessToken"),
                           ("aws.json", "PUT /latest/api/token"), ("aws.json", "/latest/meta-data/iam/*")):
            for what in ("status: 503", "status: 500", "drop: true"):
                with self.subTest(key + match + what), world(f'  faults: [{{match: "{match}", times: 1, {what}}}]\n' + group(1)) as sim:
                    run = ask(sim, key=key)
                    self.assertEqual(run.code, 0, run)

    def test_two_sources_of_one_cluster_ask_for_one_token(self):
        with world(MACHINE + group(2, f"    - {{name: plum, zone: {ZONE}, members: [{{name: w-0}}]}}\n")) as sim:
            config = os.path.join(sim.folder.name, "muster.yaml")
            common = f"endpoint: {sim.ready['url']}/compute/v1, project: orchard, zone: {ZONE}"
            with open(config, "w") as file:
                file.write(f"""\
cluster:
  merge:
    - {{backend: gce, options: {{{common}, instance_group: grape}}}}
    - {{backend: gce, options: {{{common}, instance_group: plum, task_type: ps}}}}
""")
            for key, tokens in (("authorized_user.json", 1), ("impersonated.json", 2)):
                sim.reset()
                run = resolve_file(sim, config, key)
                self.assertEqual(run.code, 0, run)
                self.assertEqual(sorted(run.cluster()), ["ps", "worker"])
                self.assertEqual(len(sim.requests()) - len(api_requests(sim)), tokens, sim.requests())
            # On a VM the token's requests are two, and as many for both sources.
            sim.reset()
            run = resolve_file(sim, config, None)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(sorted(run.cluster()), ["ps", "worker"])
            asked = [one["path"].rsplit("/", 1)[1] for one in sim.requests()]
            self.assertEqual((asked.count("token"), asked.count("universe-domain")), (1, 1), asked)
            # In a recording each has what it was told, so that a replay may ask in any order.
            recording = os.path.join(sim.folder.name, "recording.yaml")
            sim.reset()
            run = resolve_file(sim, config, "authorized_user.json", "--record", recording)
            self.assertEqual(len(sim.requests()) - len(api_requests(sim)), 2)
            for _ in range(5):
                again = resolve_file(sim, config, "authorized_user.json", "--replay", recording)
                self.assertEqual((again.code, again.cluster()), (0, run.cluster()), again)


class Permissions(unittest.TestCase):
    def test_what_is_needed_is_told_without_asking_anybody(self):
        with world(group(1)) as sim:
            run = ask(sim, "port=rpc", verb="permissions", arguments=["--json"])
            self.assertEqual(run.code, 0, run)
            self.assertEqual([one["rule"] for one in run.answer[0]["permissions"]],
                             ["compute.instanceGroupManagers.list", "compute.instanceGroups.list", "compute.instanceGroups.get",
                              "compute.instances.list"])
            self.assertIn("--member='serviceAccount:grape@orchard.iam.gserviceaccount.com' --role=roles/compute.viewer",
                          ask(sim, verb="permissions").out)
            run = ask(sim, "filter=name = x", "project=p", verb="permissions", arguments=["--principal", "me@example.com"], group=None)
            self.assertIn("gcloud projects add-iam-policy-binding 'p' --member='user:me@example.com'", run.out)
            run = ask(sim, "project=it's", verb="permissions", arguments=["--principal", "user:x;rm"])
            self.assertIn("binding 'it'\\''s' --member='user:x;rm'", run.out)
            self.assertEqual(sim.requests(), [])

    def test_where_nobody_is_known_the_free_place_is_told(self):
        with world(group(1)) as sim:
            run = ask(sim, verb="permissions", key="authorized_user.json")
            self.assertEqual(run.code, 0, run)
            self.assertIn("--member='user:EMAIL'", run.out)
            self.assertIn("nobody said who is to be allowed", run.err)
            run = ask(sim, verb="permissions", arguments=["--principal", "trainer"])
            self.assertEqual(run.code, 12, run)
            self.assertIn("'trainer' is nobody whom Google Cloud can allow something", run.err)


class Vm(unittest.TestCase):
    def test_a_vm_needs_no_project_no_zone_and_no_key_and_knows_itself(self):
        with world(MACHINE + group(3)) as sim:
            run = ask(sim, "project=", "zone=", key=None, env=metadata(sim))
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster()["worker"], [f"10.40.0.{n}:8470" for n in range(3)])
            self.assertEqual((run.answer["task"]["type"], run.answer["task"]["index"]), ("worker", 1))
            self.assertIn("which is 'w-1'", run.answer["task"]["evidence"][0])

    def test_where_the_metadata_server_says_no_instance_the_addresses_say_which_it_is(self):
        with open("/proc/net/fib_trie") as file:
            lines = [line.strip() for line in file]
        own = [at[4:] for at, below in zip(lines, lines[1:]) if below == "/32 host LOCAL" and not at.startswith("|-- 127.")]
        if not own:
            self.skipTest("this machine has no address but the loopback's")
        pod = f"  machine: {{zone: {ZONE}, attributes: {{cluster-name: vineyard}}}}\n"
        with world(pod + group(3).replace('name: "w-{0..2}", zone', 'name: "v-{0..2}", zone', 1)
                   .replace("  groups:", f"    - {{name: \"w-0\", zone: {ZONE}}}\n    - {{name: \"w-1\", zone: {ZONE}, ip: {own[0]}}}\n"
                            f"    - {{name: \"w-2\", zone: {ZONE}}}\n  groups:")) as sim:
            run = ask(sim, env=metadata(sim))
            self.assertEqual(run.code, 0, run)
            self.assertEqual((run.answer["task"]["type"], run.answer["task"]["index"]), ("worker", 1))
            self.assertIn(f"this machine has the address '{own[0]}' of 'w-1'", run.answer["task"]["evidence"][0])
            # Elsewhere than on Google Cloud the same address is somebody else's.
            self.assertIsNone(ask(sim).answer["task"]["index"])

    def test_an_identity_that_contradicts_task_id_is_an_error(self):
        with world(MACHINE + group(3)) as sim:
            run = ask(sim, "task_id=2", env=metadata(sim))
            self.assertNotEqual(run.code, 0, run)

    def test_a_recreated_instance_of_the_same_name_is_another_machine(self):
        with world(MACHINE + group(3)) as sim:
            self.assertEqual(ask(sim, env=metadata(sim)).answer["task"]["index"], 1)
        with world(MACHINE.replace("w-1", "elsewhere") + group(3)) as sim:
            self.assertIsNone(ask(sim, env=metadata(sim)).answer["task"]["index"])

    def test_a_vm_without_service_account_is_told(self):
        with world(MACHINE.replace("}", ", service_account: none}") + group(1)) as sim:
            run = ask(sim, key=None, env=metadata(sim))
            self.assertEqual(run.code, 13, run)
            self.assertIn("knows no service account", run.all)

    def test_a_server_without_the_flavour_is_not_believed(self):
        with world(MACHINE.replace("}", ", flavor: false}") + group(1)) as sim:
            run = ask(sim, key=None, env=metadata(sim))
            self.assertEqual(run.code, 14, run)
            self.assertIn("without Metadata-Flavor: Google", run.all)

    def test_the_metadata_server_is_asked_again_after_503_and_429(self):
        for status in (503, 429):
            faults = f'  faults: [{{match: "/computeMetadata/*", times: 1, status: {status}, headers: {{Metadata-Flavor: Google}}}}]\n'
            with self.subTest(status), world(faults + MACHINE + group(1)) as sim:
                self.assertEqual(ask(sim, key=None, env=metadata(sim)).code, 0)

    def test_nobody_asks_a_metadata_server_where_the_credentials_are_given(self):
        with world(MACHINE + group(1)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(sim.requests(), api_requests(sim))


if __name__ == "__main__":
    unittest.main()

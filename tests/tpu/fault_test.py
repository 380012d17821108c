"""What goes wrong at Cloud TPU: refusals, quotas, outages, odd answers; never a smaller cluster that looks whole."""
import json
import time
import unittest

from asking import ZONE, api_requests, ask, tpu, world

NODE = "GET /v2/*/nodes/plum"
LIST = "GET /v2/*/nodes"


def fault(match, rest):
    return f'  faults: [{{match: "{match}", {rest}}}]\n'


class Refusals(unittest.TestCase):
    def test_a_quota_that_is_used_up_is_waited_for(self):
        with world(fault(NODE, "times: 1, status: 429, retry_after: 1") + tpu()) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual([one["status"] for one in api_requests(sim)], [429, 200])

    def test_a_refusal_names_permission_role_and_command(self):
        words = "Permission 'tpu.nodes.get' denied on '//tpu.googleapis.com/projects/orchard'"
        with world(fault(NODE, f'status: 403, message: "{words}"') + tpu()) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 13, run)
            self.assertIn("takes the permission tpu.nodes.get", run.all)
            self.assertIn("gcloud projects add-iam-policy-binding orchard", run.all)
            self.assertIn("--role=roles/tpu.viewer", run.all)
            self.assertEqual(len(api_requests(sim)), 1)

    def test_an_api_that_is_not_enabled_is_told_with_the_command(self):
        body = '{\\"error\\": {\\"code\\": 403, \\"message\\": \\"not used before\\", \\"details\\": [{\\"reason\\": \\"SERVICE_DISABLED\\"}]}}'
        with world(fault(NODE, f'status: 403, body: "{body}"') + tpu()) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 13, run)
            self.assertIn("gcloud services enable tpu.googleapis.com --project orchard", run.all)

    def test_a_token_is_sent_to_no_stranger(self):
        with world(tpu()) as sim:
            run = ask(sim, "endpoint=https://tpu.example.com")
            self.assertEqual(run.code, 12, run)
            self.assertIn("is not sent to 'https://tpu.example.com", run.all)

    def test_not_found_forbidden_and_unreachable_are_told_apart(self):
        with world(tpu()) as sim:
            codes = [ask(sim, name="other").code, ask(sim, "project=other").code, ask(sim, "access_token=wrong", key=None).code]
        with world(fault(NODE, "status: 503") + tpu()) as sim:
            codes.append(ask(sim, arguments=["--timeout", "2s"]).code)
        self.assertEqual(codes[:3], [11, 13, 13])
        self.assertIn(codes[3], (14, 15))


    def test_a_list_that_is_not_there_is_told_in_words(self):
        with world(fault(LIST, 'status: 404, message: "no such project"') + tpu()) as sim:
            run = ask(sim, "zone=")
            self.assertEqual(run.code, 11, run)
            self.assertIn("the API knows no TPUs in all zones of project 'orchard': 'no such project'", run.all)


class Outages(unittest.TestCase):
    def test_503_and_cuts_are_tried_again(self):
        for match, options in ((NODE, []), (LIST, ["zone="])):
            for what in ("status: 503", "drop_after_bytes: 100", "drop: true"):
                with self.subTest(match + what), world(fault(match, "times: 1, " + what) + tpu()) as sim:
                    run = ask(sim, *options)
                    self.assertEqual(run.code, 0, run)
                    self.assertEqual(len(run.cluster()["worker"]), 4)

    def test_a_zone_that_does_not_answer_makes_no_smaller_cluster(self):
        slices = tpu(f"    - {{name: fig, zone: us-central1-b}}\n  unreachable: [us-central1-b]\n")
        with world(slices) as sim:
            for options in (["tpu=[plum, fig]", "zone="], ["tpu=fig", "zone="], ["tpu=[fig, plum]", "zone=us-central1-b"]):
                run = ask(sim, *options)
                self.assertEqual(run.code, 14, run)
                self.assertIn("lacks zone us-central1-b, which did not answer", run.all)
            self.assertEqual(ask(sim, "zone=").code, 0)
        # Nor where the queue answers and the nodes do not.
        with world(fault("GET /v2/*/queuedResources", 'body: "{}"') + slices) as sim:
            self.assertEqual(ask(sim, "tpu=fig", "zone=").code, 14)

    def test_a_zone_that_one_page_alone_calls_unreachable_is_not_forgotten(self):
        pages = """\
  faults:
    - {match: "GET /v2/*/nodes?*pageToken=x*", body: "{}"}
    - {match: "GET /v2/*/nodes", body: '{"nextPageToken": "x", "unreachable": ["projects/orchard/locations/z-a"]}'}
"""
        with world(pages + tpu()) as sim:
            run = ask(sim, "zone=")
            self.assertEqual(run.code, 14, run)
            self.assertIn("lacks zone z-a", run.all)

    def test_a_queue_in_an_outage_is_no_smaller_group(self):
        queue = f"  queued_resources: [{{name: q, zone: {ZONE}, nodes: [plum, fig], state: ACTIVE}}]\n  unreachable: [{ZONE}]\n"
        with world(tpu(queue)) as sim:
            run = ask(sim, "queued_resource=q", name=None)
            self.assertEqual(run.code, 14, run)

    def test_a_hanging_server_ends_at_the_deadline(self):
        with world(fault(NODE, "delay: 20s") + tpu()) as sim:
            start = time.monotonic()
            run = ask(sim, arguments=["--timeout", "1s"])
            self.assertEqual(run.code, 15, run)
            self.assertLess(time.monotonic() - start, 3)


class Odd(unittest.TestCase):
    def test_a_tpu_that_two_pages_have_is_one(self):
        node = f'{{"name": "projects/orchard/locations/{ZONE}/nodes/plum", "state": "READY", "networkEndpoints": [{{"ipAddress": "10.0.0.1"}}]}}'
        pages = f"""\
  faults:
    - {{match: "GET /v2/*/nodes?*pageToken=x*", body: '{{"nodes": [{node}]}}'}}
    - {{match: "GET /v2/*/nodes", body: '{{"nodes": [{node}], "nextPageToken": "x"}}'}}
"""
        with world(pages) as sim:
            self.assertEqual(ask(sim, "zone=").cluster(), {"worker": ["10.0.0.1:8470"]})

    def test_answers_that_are_none_are_data_loss(self):
        for body in ("<html>", "[]", "{}", '{\\"name\\": 7}', '{\\"name\\": \\"plum\\"}'):
            with self.subTest(body), world(fault(NODE, f'body: "{body}"') + tpu()) as sim:
                run = ask(sim)
                self.assertEqual(run.code, 14, run)
                self.assertIn("cannot be understood", run.all)
        for body in ("<html>", "[]", '{\\"kind\\": \\"Status\\"}', '{\\"error\\": {\\"code\\": 503}}', '{\\"nodes\\": 7}', '{\\"nodes\\": [{}]}', '{\\"nodes\\": [7]}'):
            with self.subTest(body), world(fault(LIST, f'body: "{body}"') + tpu()) as sim:
                run = ask(sim, "zone=")
                self.assertEqual(run.code, 14, run)

    def test_a_list_that_never_ends_is_told(self):
        with world(fault(LIST, 'body: "{\\"nextPageToken\\": \\"again\\"}"') + tpu()) as sim:
            run = ask(sim, "zone=")
            self.assertIn("two pages have one token", run.all)
            self.assertEqual(len(api_requests(sim)), 2)

    def test_a_ready_tpu_without_endpoints_is_missing(self):
        with world(tpu(hosts=0)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 10, run)
            self.assertEqual(set(run.missing().values()), {"it is READY, and the API tells no endpoint of it"})

    def test_a_tpu_of_an_unknown_type_is_resolved(self):
        with world(tpu(type="v9-64", hosts=2)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(len(run.cluster()["worker"]), 2)
            self.assertEqual(run.answer["attributes"]["accelerator.model"], "v9-64")
        with world(tpu(type="v9-64", state="CREATING")) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 10, run)
            self.assertEqual(list(run.missing()), ["plum"])


class OfTheSource(unittest.TestCase):
    """What Cloud TPU says and no cluster can have is its own fault, and not the plugin's; here and in a process of its own."""

    def told(self, words, **more):
        node = {"name": f"projects/orchard/locations/{ZONE}/nodes/plum", "state": "READY", "health": "HEALTHY",
                "networkEndpoints": [{"ipAddress": "10.0.0.1"}], **more}
        with world(fault(NODE, "body: " + json.dumps(json.dumps(node))) + tpu()) as sim:
            for isolate in ("false", "true"):
                run = ask(sim, env={"MUSTER_ISOLATE": isolate})
                self.assertEqual(run.code, 14, run)
                self.assertEqual(run.out, "")
                self.assertIn(words, run.err)
                self.assertNotIn("author", run.err)

    def test_a_text_that_is_too_long(self):
        self.told("the attribute 'runtime.version' has 70000 bytes, more than 65536", runtimeVersion="r" * 70000)
        self.told("the attribute 'accelerator.model' has 70000 bytes, more than 65536", acceleratorType="t" * 70000)

    def test_what_variables_say_is_the_users_to_mend(self):
        variables = {"TPU_WORKER_HOSTNAMES": "a", "TPU_ACCELERATOR_TYPE": "t" * 70000}
        with world(tpu()) as sim:
            run = ask(sim, name=None, env=variables)
            self.assertEqual(run.code, 12, run)
            self.assertIn("the attribute 'accelerator.model' has 70000 bytes, more than 65536", run.err)


if __name__ == "__main__":
    unittest.main()

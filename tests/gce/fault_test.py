"""What goes wrong at Compute Engine: refusals, quotas, outages, odd answers; never a smaller cluster that looks whole."""
import json
import time
import unittest

from asking import ZONE, api_requests, ask, group, world

LIST = "GET /compute/v1/*instances*"
GROUP = "POST /compute/v1/*listManagedInstances*"


def fault(match, rest):
    return f'  faults: [{{match: "{match}", {rest}}}]\n'


class Refusals(unittest.TestCase):
    def test_a_quota_that_is_used_up_is_waited_for(self):
        with world(fault(LIST, "times: 2, status: 403, retry_after: 1") + group(2)) as sim:
            start = time.monotonic()
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertGreaterEqual(time.monotonic() - start, 2)
            self.assertEqual(sorted(one["status"] for one in api_requests(sim)), [200, 200, 403, 403])

    def test_a_quota_that_the_deadline_does_not_outlast_ends_at_once(self):
        with world(fault(LIST, "status: 403") + group(2)) as sim:
            start = time.monotonic()
            run = ask(sim, arguments=["--timeout", "3s"])
            self.assertLess(time.monotonic() - start, 3)
            self.assertNotEqual(run.code, 0, run)
            self.assertIn("Quota exceeded", run.all)
            self.assertIn("a timeout of 90s waits for the next one", run.all)

    def test_other_403s_are_final_and_name_permission_and_role(self):
        words = "Required 'compute.instances.list' permission for 'projects/orchard'"
        with world(fault(LIST, f'status: 403, message: "{words}"') + group(2)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 13, run)
            self.assertIn("takes the permission compute.instances.list", run.all)
            self.assertIn("--role=roles/compute.viewer", run.all)
            self.assertEqual(len(api_requests(sim)), 2)

    def test_an_api_that_is_not_enabled_is_told_with_the_command(self):
        body = '{\\"error\\": {\\"code\\": 403, \\"message\\": \\"not used before\\", \\"errors\\": [{\\"reason\\": \\"accessNotConfigured\\"}]}}'
        with world(fault(GROUP, f'status: 403, body: "{body}"') + group(2)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 13, run)
            self.assertIn("gcloud services enable compute.googleapis.com --project orchard", run.all)

    def test_another_project_is_not_found(self):
        with world(group(1)) as sim:
            run = ask(sim, "project=elsewhere")
            self.assertEqual(run.code, 11, run)
            self.assertIn("projects/elsewhere", run.all)


class Outages(unittest.TestCase):
    def test_503_with_html_and_cuts_are_tried_again(self):
        for match in (LIST, GROUP):
            for what in ("status: 503", "drop_after_bytes: 100", "drop: true", "drop_after_bytes: 60, reset: true"):
                with self.subTest(match + what), world(fault(match, "times: 1, " + what) + group(3)) as sim:
                    run = ask(sim)
                    self.assertEqual(run.code, 0, run)
                    self.assertEqual(len(run.cluster()["worker"]), 3)

    def test_each_status_that_passes_is_tried_again(self):
        for match in (LIST, GROUP):
            for status in (408, 429, 500, 502, 504):
                with self.subTest(f"{match} {status}"), world(fault(match, f"times: 1, status: {status}") + group(3)) as sim:
                    run = ask(sim)
                    self.assertEqual(run.code, 0, run)
                    self.assertEqual(len(run.cluster()["worker"]), 3)

    def test_a_server_that_stays_away_is_unavailable(self):
        with world(fault(LIST, "status: 503") + group(1)) as sim:
            run = ask(sim, arguments=["--timeout", "2s"])
            self.assertIn(run.code, (14, 15), run)

    def test_a_zone_that_does_not_answer_makes_no_smaller_cluster(self):
        zones = """\
  instances:
    - {name: "a-{0..1}", zone: europe-west9-a, ip: "10.0.0.{i}", labels: {job: v}}
    - {name: "b-{0..1}", zone: europe-west9-b, ip: "10.0.1.{i}", labels: {job: v}}
  groups:
    - name: grape
      region: europe-west9
      members: [{name: "a-{0..1}", zone: europe-west9-a}, {name: "b-{0..1}", zone: europe-west9-b}]
"""
        for options, name in ((["region=europe-west9"], "grape"), (["filter=labels.job = v", "zone="], None)):
            with self.subTest(options), world("  unreachable: [europe-west9-b]\n" + zones) as sim:
                run = ask(sim, *options, group=name)
                self.assertEqual(run.code, 14, run)
                self.assertIn("lacks zones/europe-west9-b", run.all)
        with world("  unreachable: [europe-west9-c]\n" + zones) as sim:
            run = ask(sim, "region=europe-west9")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(len(run.cluster()["worker"]), 4)

    def test_answers_that_are_none_are_data_loss(self):
        for body in ("<html>", "[]", '{\\"kind\\": \\"Status\\"}', '{\\"error\\": {\\"code\\": 503}}', '{\\"items\\": 7}', '{\\"items\\": [{}]}', '{\\"items\\": [{\\"name\\": 7}]}'):
            with self.subTest(body), world(fault(LIST, f'body: "{body}"') + group(2)) as sim:
                run = ask(sim)
                self.assertEqual(run.code, 14, run)
                self.assertIn("cannot be understood", run.all)

    def test_a_list_that_never_ends_is_told(self):
        body = '{\\"nextPageToken\\": \\"again\\"}'
        with world(fault(LIST, f'body: "{body}"') + group(2)) as sim:
            run = ask(sim)
            self.assertNotEqual(run.code, 0, run)
            self.assertIn("two pages have one token", run.all)

    def test_a_hanging_server_ends_at_the_deadline(self):
        with world(fault(GROUP, "delay: 20s") + group(2)) as sim:
            start = time.monotonic()
            run = ask(sim, arguments=["--timeout", "1s"])
            self.assertEqual(run.code, 15, run)
            self.assertLess(time.monotonic() - start, 3)


class Tokens(unittest.TestCase):
    def test_a_token_that_ends_between_two_pages_is_renewed_and_no_page_is_lost(self):
        with world(fault(LIST, "after: 1, times: 1, status: 401") + group(1400)) as sim:
            run = ask(sim, key="authorized_user.json")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(len(set(run.cluster()["worker"])), 1400)
            self.assertEqual([one["path"] for one in sim.requests()].count("/token"), 2)
            self.assertEqual(sorted(one["status"] for one in api_requests(sim)), [200, 200, 200, 200, 401])


class Odd(unittest.TestCase):
    def test_an_instance_that_is_listed_twice_counts_once(self):
        with world(f"""\
  instances: [{{name: w-0, zone: {ZONE}, ip: 10.0.0.1}}]
  groups: [{{name: grape, zone: {ZONE}, members: [{{name: w-0}}, {{name: w-0}}]}}]
""") as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": ["10.0.0.1:8470"]})
            self.assertEqual(run.answer["jobs"]["worker"]["expected"], 1)


class OfTheSource(unittest.TestCase):
    """What Compute Engine says and no cluster can have is its own fault, and not the plugin's; here and in a process of its own."""

    def told(self, words, *options, **more):
        instance = {"name": "w-0", "id": "1", "status": "RUNNING", "networkInterfaces": [{"networkIP": "10.0.0.1"}], **more}
        body = json.dumps(json.dumps({"items": [instance]}))
        with world(fault(LIST, "body: " + body) + group(1)) as sim:
            for isolate in ("false", "true"):
                run = ask(sim, "filter=name = w", *options, group=None, env={"MUSTER_ISOLATE": isolate})
                self.assertEqual(run.code, 14, run)
                self.assertEqual(run.out, "")
                self.assertIn(words, run.err)
                self.assertNotIn("author", run.err)

    def test_a_text_that_is_too_long(self):
        self.told("the attribute 'machine.type' has 70000 bytes, more than 65536", machineType="m" * 70000)

    def test_a_name_that_is_no_host(self):
        for host in ("a..b", "-a", "a" * 64 + ".b"):
            self.told(f"task named 'w-0' of job 'worker': '{host}", "address=dns", hostname=host)


if __name__ == "__main__":
    unittest.main()

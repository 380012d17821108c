"""Who the members of a group or a filter are, why one is missing, in which order, at which address."""
import re
import unittest

from asking import ZONE, api_requests, ask, group, world

STATES = f"""\
  instances:
    - {{name: w-0, zone: {ZONE}, ip: 10.40.0.1}}
    - {{name: w-1, zone: {ZONE}, ip: 10.40.0.2, status: STAGING}}
    - {{name: w-2, zone: {ZONE}, ip: 10.40.0.3, status: TERMINATED}}
    - {{name: w-3, zone: {ZONE}, ip: 10.40.0.4, status: REPAIRING}}
    - {{name: w-4, zone: {ZONE}, ip: 10.40.0.5}}
    - {{name: w-5, zone: {ZONE}, ip: 10.40.0.6}}
    - {{name: w-6, zone: {ZONE}, ip: 10.40.0.7, status: SOMETHING_NEW}}
    - {{name: w-10, zone: {ZONE}, ip: 10.40.0.11}}
    - {{name: stranger, zone: {ZONE}, ip: 10.40.9.9}}
  unlisted: [w-5]
  groups:
    - name: grape
      zone: {ZONE}
      members:
        - {{name: "w-{{0..3}}", version: grape-v3}}
        - {{name: w-4, action: DELETING}}
        - {{name: w-5}}
        - {{name: w-6}}
        - {{name: w-10, action: VERIFYING}}
        - {{name: w-11, action: CREATING, error: "ZONE_RESOURCE_POOL_EXHAUSTED: not enough resources"}}
        - {{name: w-12, action: RECREATING}}
"""


class Groups(unittest.TestCase):
    def test_a_whole_group_is_a_cluster_in_natural_order(self):
        with world(group(12)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": [f"10.40.0.{n}:8470" for n in range(12)]})
            self.assertEqual(run.answer["jobs"]["worker"]["expected"], 12)
            self.assertTrue(run.answer["complete"])
            self.assertEqual(run.attributes("w-3")["zone"], ZONE)
            self.assertEqual(run.answer["attributes"]["rank"], "natural order of names")
            self.assertEqual(len(api_requests(sim)), 2)

    def test_the_master_is_this_task_behind_the_scheme_that_rpc_layer_says(self):
        with world(group(2)) as sim:
            for options, master in {(): "", ("task_id=0",): "grpc://10.40.0.0:8470", ("rpc_layer=''", "task_id=1"): "10.40.0.1:8470",
                                    ("rpc_layer=grpc+loas", "task_id=1"): "grpc+loas://10.40.0.1:8470"}.items():
                run = ask(sim, *options)
                self.assertEqual((run.code, run.answer["master"]), (0, master), run)

    def test_explain_tells_each_request_why_it_was_made_and_its_bytes(self):
        with world(group(3)) as sim:
            run = ask(sim, verb="explain", key="authorized_user.json")
            self.assertEqual(run.code, 0, run)
            made = re.findall(r"(GET|POST) http\S+?(/\S+)\n\s+200, \d+ ms, ([\d.]+ K?i?B)[^(\n]*\(([^)]+)\)", run.out)
            self.assertEqual(sorted((method, path.split("?")[0].rsplit("/", 1)[1]) for method, path, _, _ in made),
                             [("GET", "instances"), ("POST", "listManagedInstances"), ("POST", "token")], run.out)
            self.assertEqual(len({why for _, _, _, why in made}), 3, made)
            self.assertEqual([size for _, _, size, _ in made if size == "0 B"], [])

    def test_members_that_do_not_run_are_missing_by_name_and_reason(self):
        with world(STATES) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 10, run)
            self.assertEqual([task["name"] for task in run.answer["tasks"]], ["w-0", "w-10"])
            self.assertEqual(run.missing(), {
                "w-1": "STAGING: it is about to boot",
                "w-2": "TERMINATED: it is stopped",
                "w-3": "REPAIRING: it failed and is being repaired",
                "w-4": "being deleted by its group",
                "w-5": "it was gone when its address was asked for",
                "w-6": "SOMETHING_NEW",
                "w-11": "being created; the last attempt failed: ZONE_RESOURCE_POOL_EXHAUSTED: not enough resources",
                "w-12": "being recreated",
            })
            self.assertEqual(run.answer["jobs"]["worker"]["expected"], 9)
            self.assertEqual(run.attributes("w-0")["template"], "grape-v3")

    def test_a_thousand_instances_take_three_requests(self):
        with world(group(1000)) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(len(run.cluster()["worker"]), 1000)
            self.assertEqual(len(set(run.cluster()["worker"])), 1000)
            requests = api_requests(sim)
            self.assertEqual(sorted(one["path"].rsplit("/", 1)[1] for one in requests),
                             ["instances", "instances", "listManagedInstances"])
            self.assertEqual(len(sim.requests()), 3, "a service account signs its token itself")

    def test_a_group_that_is_not_managed_is_listed_too(self):
        with world(group(3, "      managed: false\n")) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": [f"10.40.0.{n}:8470" for n in range(3)]})
            self.assertEqual(run.answer["jobs"]["worker"]["expected"], 3)

    def test_a_regional_group_has_members_in_several_zones(self):
        with world("""\
  instances:
    - {name: "w-{0..3}", zone: europe-west9-a, ip: "10.40.0.{i}"}
    - {name: "v-{0..1}", zone: europe-west9-b, ip: "10.40.1.{i}"}
    - {name: "v-0", zone: europe-west9-c, ip: "10.9.9.9"}
  groups:
    - {name: grape, region: europe-west9, members: [{name: "v-{0..1}", zone: europe-west9-b}, {name: v-0, zone: europe-west9-c}]}
""") as sim:
            run = ask(sim, "region=europe-west9")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(sorted(run.cluster()["worker"]), ["10.40.1.0:8470", "10.40.1.1:8470", "10.9.9.9:8470"])
            self.assertEqual(sorted(task["name"] for task in run.answer["tasks"]),
                             ["europe-west9-b/v-0", "europe-west9-c/v-0", "v-1"])
            self.assertEqual(len(api_requests(sim)), 2)

    def test_pages_are_followed_also_where_one_is_empty(self):
        for more in ("  page_size: 7\n", "  page_size: 7\n  empty_pages: true\n"):
            with self.subTest(more), world(group(300, "      paginated: true\n", ", labels: {app: t}") + more) as sim:
                run = ask(sim)
                self.assertEqual(run.code, 0, run)
                self.assertEqual(len(set(run.cluster()["worker"])), 300)

    def test_no_such_group_and_an_empty_one_are_not_found(self):
        with world(group(1) + f"    - {{name: empty, zone: {ZONE}}}\n") as sim:
            run = ask(sim, "instance_group=nope")
            self.assertEqual(run.code, 11, run)
            self.assertIn("the API knows no instance group 'nope' in 'zones/europe-west9-b' of project 'orchard'", run.all)
            self.assertIn("gcloud compute instance-groups list --project orchard", run.all)
            run = ask(sim, "instance_group=empty")
            self.assertEqual(run.code, 11, run)
            self.assertIn("has no instances", run.all)


class Filters(unittest.TestCase):
    WORLD = """\
  instances:
    - {name: "w-{0..2}", zone: europe-west9-a, ip: "10.40.0.{i}", labels: {job: vintage, rank: "{i}"}, tags: [worker]}
    - {name: "w-{0..1}b", zone: europe-west9-b, ip: "10.40.1.{i}", labels: {job: vintage}, tags: [worker, extra]}
    - {name: "x-0", zone: europe-west9-b, ip: "10.40.2.0", labels: {job: other}}
    - {name: "x-1", zone: europe-west9-b, ip: "10.40.2.1", labels: {job: vintage}, status: STOPPING}
"""

    def test_a_filter_says_who_the_members_are_in_all_zones(self):
        with world(self.WORLD) as sim:
            run = ask(sim, "filter=labels.job = vintage", "zone=", group=None)
            self.assertEqual(run.code, 10, run)
            self.assertEqual(run.cluster()["worker"],
                             ["10.40.0.0:8470", "10.40.1.0:8470", "10.40.0.1:8470", "10.40.1.1:8470", "10.40.0.2:8470"])
            self.assertEqual(run.missing(), {"x-1": "STOPPING: it is being stopped"})
            self.assertEqual(len(api_requests(sim)), 1)

    def test_a_zone_and_a_tag_narrow_it(self):
        with world(self.WORLD) as sim:
            run = ask(sim, "filter=labels.job = vintage", "tag=extra", "zone=europe-west9-b", group=None)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster()["worker"], ["10.40.1.0:8470", "10.40.1.1:8470"])
            run = ask(sim, "tag=nobody", "zone=", group=None)
            self.assertEqual(run.code, 11, run)
            self.assertIn("no instance in any zone of project 'orchard' fits the tag 'nobody'", run.all)

    def test_a_filter_that_the_api_does_not_take_is_told_with_its_words(self):
        with world(self.WORLD) as sim:
            run = ask(sim, "filter=colour = red", "zone=", group=None)
            self.assertEqual(run.code, 12, run)
            self.assertIn("unknown field", run.all)

    def test_a_name_is_filtered_by_too(self):
        with world(self.WORLD) as sim:
            run = ask(sim, "filter=name eq w-1.*", "zone=", group=None)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster()["worker"], ["10.40.0.1:8470", "10.40.1.1:8470"])


class Ranks(unittest.TestCase):
    def test_a_label_or_metadata_ranks(self):
        with world(group(3, "", ', labels: {rank: "{2..0}"}, metadata: {index: "{1..3}"}')) as sim:
            run = ask(sim, "rank={label: rank}")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster()["worker"], ["10.40.0.2:8470", "10.40.0.1:8470", "10.40.0.0:8470"])
            self.assertEqual(run.answer["attributes"]["rank"], "label 'rank'")
            run = ask(sim, "rank={metadata: index}")
            self.assertEqual(run.answer["attributes"]["rank"], "metadata 'index'")
            self.assertEqual(run.cluster()["worker"], {str(n + 1): f"10.40.0.{n}:8470" for n in range(3)})

    def test_an_instance_without_the_label_is_missing(self):
        with world(f"""\
  instances:
    - {{name: w-0, zone: {ZONE}, labels: {{rank: "0"}}, ip: 10.0.0.1}}
    - {{name: w-1, zone: {ZONE}, ip: 10.0.0.2}}
    - {{name: w-2, zone: {ZONE}, labels: {{rank: two}}, ip: 10.0.0.3}}
  groups: [{{name: grape, zone: {ZONE}, members: [{{name: "w-{{0..2}}"}}]}}]
""") as sim:
            run = ask(sim, "rank={label: rank}")
            self.assertEqual(run.code, 10, run)
            self.assertEqual(run.missing(), {"w-1": "it has no label 'rank'",
                                             "w-2": "its label 'rank' says 'two', which is no rank"})

    def test_two_of_one_rank_are_an_error_that_names_both(self):
        with world(group(2, "", ', labels: {rank: "7"}')) as sim:
            run = ask(sim, "rank={label: rank}")
            self.assertNotEqual(run.code, 0, run)
            self.assertIn("instances 'w-0' and 'w-1' both have the rank 7 by label 'rank'", run.all)

    def test_neighbours_on_physical_hosts_come_together(self):
        with world(group(4, "", ', physical_host: "/rack-{i%2}/host"')) as sim:
            run = ask(sim, "rank=physical_host")
            self.assertEqual(run.code, 0, run)
            self.assertEqual([task["name"] for task in run.answer["tasks"]], ["w-0", "w-2", "w-1", "w-3"])
            self.assertEqual(run.attributes("w-0")["host"], "/rack-0/host")
            self.assertEqual(run.answer["attributes"]["rank"], "physical host, then natural order of names")


class Addresses(unittest.TestCase):
    WORLD = group(1, "      named_ports: {rpc: 7000}\n",
                  ', external_ip: 203.0.113.41, ipv6: "fd20:4c:9a1:0:0:1:0:0", external_ipv6: "2600:1900::1",'
                  ' network: fabric, metadata: {port: "7777"}')

    def test_each_kind_of_address(self):
        with world(self.WORLD) as sim:
            for option, address in {
                "address=internal": "10.40.0.0:8470",
                "address=external": "203.0.113.41:8470",
                "address=internal_ipv6": "[fd20:4c:9a1:0:0:1:0:0]:8470",
                "address=external_ipv6": "[2600:1900::1]:8470",
                "address=dns": f"w-0.{ZONE}.c.orchard.internal:8470",
                "address=dns_global": "w-0.c.orchard.internal:8470",
                "interface={network: fabric}": "10.40.0.0:8470",
                "interface=0": "10.40.0.0:8470",
                "port=9000": "10.40.0.0:9000",
                "port=rpc": "10.40.0.0:7000",
                "port={metadata: port}": "10.40.0.0:7777",
            }.items():
                with self.subTest(option):
                    run = ask(sim, option)
                    self.assertEqual(run.code, 0, run)
                    self.assertEqual(run.cluster()["worker"], [address])

    def test_what_an_instance_lacks_is_the_reason_why_it_is_missing(self):
        with world(group(1)) as sim:
            for option, reason in {
                "address=external": "it has no external IPv4 address",
                "address=internal_ipv6": "it has no internal IPv6 address",
                "interface=1": "it has no network interface 1",
                "interface={network: other}": "it has no interface in network 'other'",
                "port={metadata: port}": "it has no metadata 'port'",
            }.items():
                with self.subTest(option):
                    run = ask(sim, option)
                    self.assertEqual(run.code, 10, run)
                    self.assertEqual(run.missing(), {"w-0": reason})

    def test_a_named_port_that_is_not_there_is_told_with_those_that_are(self):
        with world(self.WORLD) as sim:
            run = ask(sim, "port=grpc")
            self.assertEqual(run.code, 12, run)
            self.assertIn("has no named port 'grpc'; it has 'rpc'", run.all)

    def test_an_interface_with_ipv6_alone_has_that_address(self):
        with world(group(1, "", ', ipv6: "fd20::7"').replace('"10.40.{i/256}.{i%256}"', "none")) as sim:
            run = ask(sim)
            self.assertEqual(run.cluster()["worker"], ["[fd20::7]:8470"])


class Machines(unittest.TestCase):
    def test_accelerators_are_those_attached_or_built_in(self):
        with world(group(1, "", ", accelerator: nvidia-tesla-t4, accelerator_count: 4")) as sim:
            self.assertEqual(ask(sim, "task_id=0").answer["accelerators"], {"GPU": 4})
            self.assertEqual(ask(sim).attributes("w-0")["accelerator.model"], "nvidia-tesla-t4")
        for machine, devices in {"a3-highgpu-8g": {"GPU": 8}, "ct6e-standard-4t": {"TPU": 4}, "n2-standard-8": {}}.items():
            with self.subTest(machine), world(group(1, "", f", machine_type: {machine}")) as sim:
                self.assertEqual(ask(sim, "task_id=0").answer["accelerators"], devices)

    def test_the_job_is_called_as_task_type_says_and_task_id_says_who_this_is(self):
        with world(group(2)) as sim:
            run = ask(sim, "task_type=trainer", "task_id=1")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(list(run.cluster()), ["trainer"])
            self.assertEqual((run.answer["task"]["type"], run.answer["task"]["index"]), ("trainer", 1))

    def test_options_that_contradict_each_other_are_told_at_their_place(self):
        with world(group(1)) as sim:
            for options, words in {
                ("filter=name = x",): "one of them can be given",
                ("region=r", "zone=z"): "one of them can be given",
                ("access_token=abc", "credentials=gcloud"): "each say who you are",
            }.items():
                run = ask(sim, *options)
                self.assertEqual(run.code, 12, run)
                self.assertIn(words, run.all)
            run = ask(sim, "port=rpc", "filter=name = x", group=None)
            self.assertIn("there is no 'instance_group'", run.all)
            run = ask(sim, group=None)
            self.assertIn("nothing says who the members are", run.all)


if __name__ == "__main__":
    unittest.main()

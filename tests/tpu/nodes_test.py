"""A TPU by its name: where it is looked for, its state and health, what it is made of, waiting, queued resources and several slices."""
import time
import unittest

from asking import ZONE, api_requests, ask, metadata, tpu, world

HOSTS = [f"10.164.0.{n}:8470" for n in range(1, 5)]


class Names(unittest.TestCase):
    def test_a_name_in_its_zone_is_one_request(self):
        with world(tpu(topology="4x4")) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": HOSTS})
            self.assertEqual(run.answer["master"], "grpc://" + HOSTS[0])
            self.assertEqual(run.answer["environment"], "")
            self.assertEqual(run.answer["attributes"]["coordination.leader"], "/job:worker/task:0")
            self.assertEqual(run.answer["attributes"]["coordinator"], "10.164.0.1:8476")
            self.assertEqual(run.answer["attributes"]["runtime.version"], "v2-alpha-tpuv5-lite")
            self.assertEqual([one["path"] for one in sim.requests()], [f"/v2/projects/orchard/locations/{ZONE}/nodes/plum"])

    def test_explain_tells_the_request_why_it_was_made_and_its_bytes(self):
        with world(tpu()) as sim:
            run = ask(sim, verb="explain")
            self.assertEqual(run.code, 0, run)
            self.assertRegex(run.out, r"GET http\S+/nodes/plum\S*\n\s+200, \d+ ms, [1-9][\d.]* K?i?B[^(\n]*\([^)]*'plum'[^)]*\)")

    def test_long_startup_scripts_are_left_at_home(self):
        script = "x" * 20000
        queue = f"  queued_resources: [{{name: q, zone: {ZONE}, nodes: [plum], state: ACTIVE}}]\n"
        with world(tpu(queue, metadata=f"{{startup-script: {script}}}")) as sim:
            for version in ("v1", "v2", "v2alpha1"):
                for options in ([], ["zone="], ["queued_resource=q", "tpu="]):
                    run = ask(sim, f"api_version={version}", *options)
                    self.assertEqual(run.code, 0, run)
                    self.assertEqual(len(run.cluster()["worker"]), 4)
            self.assertLess(max(one["bytes"] for one in sim.requests()), 2000)

    def test_without_a_zone_all_zones_are_looked_through_page_by_page(self):
        others = '    - {name: "o-{0..8}", zone: us-central1-b, hosts: 0}\n'
        for paging in ("", "  page_size: 2\n", "  page_size: 2\n  empty_pages: true\n"):
            with self.subTest(paging), world(tpu(others + paging)) as sim:
                run = ask(sim, "zone=")
                self.assertEqual(run.code, 0, run)
                self.assertEqual(run.cluster(), {"worker": HOSTS})
                self.assertEqual(run.answer["attributes"]["zone"], ZONE)

    def test_a_wrong_name_is_told_with_the_nearest_and_all_that_there_are(self):
        with world(tpu('    - {name: fig, zone: us-central1-b, state: STOPPED}\n')) as sim:
            run = ask(sim, name="plumb")
            self.assertEqual(run.code, 11, run)
            self.assertIn(f"there is none of that name in zone '{ZONE}'; there are plum ({ZONE}, READY), fig (us-central1-b, STOPPED)", run.all)
            self.assertIn("did you mean 'plum'?", run.all)
            run = ask(sim, name="elderberry")
            self.assertNotIn("did you mean", run.all)

    def test_a_name_of_another_zone_is_told_with_that_zone(self):
        with world(tpu()) as sim:
            run = ask(sim, "zone=us-central1-b")
            self.assertEqual(run.code, 11, run)
            self.assertIn(f"it is in zone '{ZONE}'", run.all)
            self.assertIn(f"-O zone={ZONE}", run.all)

    def test_a_name_in_two_zones_wants_a_zone_but_on_a_vm_of_one_of_them(self):
        twin = "    - {name: plum, zone: us-central1-b, ip: 10.9.0.1, hosts: 1, type: v5litepod-8}\n"
        with world(tpu(twin)) as sim:
            run = ask(sim, "zone=")
            self.assertEqual(run.code, 12, run)
            self.assertIn(f"there are 2 TPUs 'plum': in the zones {ZONE}, us-central1-b", run.all)
        with world(tpu(twin + "  machine: {tpu: plum, zone: us-central1-b}\n")) as sim:
            run = ask(sim, "zone=", env=metadata(sim))
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": ["10.9.0.1:8470"]})

    def test_what_is_no_name_is_told_before_anybody_is_asked(self):
        with world(tpu()) as sim:
            run = ask(sim, name="10.1.2.3:8470")
            self.assertEqual(run.code, 12, run)
            self.assertIn("an address has grpc:// before it: grpc://10.1.2.3:8470", run.all)
            self.assertEqual(sim.requests(), [])

    def test_versions_1_and_2_alpha_1_are_read_too(self):
        with world(tpu(type="v3-32")) as sim:
            for version, runtime in {"v1": "2.12.0", "v2alpha1": "v2-alpha-tpuv5-lite"}.items():
                run = ask(sim, f"api_version={version}")
                self.assertEqual(run.code, 0, run)
                self.assertEqual(run.cluster(), {"worker": HOSTS})
                self.assertEqual(run.answer["attributes"]["runtime.version"], runtime)
        with world(tpu(type="v3-8", legacy="true", port=8471)) as sim:
            run = ask(sim, "api_version=v1")
            self.assertEqual(run.cluster(), {"worker": ["10.164.0.1:8471"]})


class Addresses(unittest.TestCase):
    def test_internal_external_ipv6_and_ports(self):
        with world(tpu(type="v5litepod-8", ip='"fd20::7"', external_ip="203.0.113.61", port=0)) as sim:
            self.assertEqual(ask(sim).cluster(), {"worker": ["[fd20::7]:8470"]})
            self.assertEqual(ask(sim).answer["attributes"]["coordinator"], "[fd20::7]:8476")
            self.assertEqual(ask(sim, "address=external").cluster(), {"worker": ["203.0.113.61:8470"]})
            run = ask(sim, "port=9000", "job_name=tpu_worker")
            self.assertEqual(run.cluster(), {"tpu_worker": ["[fd20::7]:9000"]})
            self.assertEqual(run.answer["master"], "grpc://[fd20::7]:9000")
            self.assertEqual(ask(sim, "rpc_layer=''").answer["master"], "[fd20::7]:8470")
        with world(tpu()) as sim:
            run = ask(sim, "address=external")
            self.assertEqual(run.code, 10, run)
            self.assertEqual(run.missing()["plum-w-3"], "it has no external address")

    def test_a_coordinator_is_a_job_of_its_own(self):
        with world(tpu()) as sim:
            run = ask(sim, "coordinator_name=chief", "coordinator_address=10.0.0.9:2222")
            self.assertEqual(run.cluster(), {"worker": HOSTS, "chief": ["10.0.0.9:2222"]})
            for options, words in {
                ("coordinator_name=chief",): "nobody starts a server for it",
                ("coordinator_address=10.0.0.9:1",): "needs a 'coordinator_name'",
                ("coordinator_name=worker", "coordinator_address=10.0.0.9:1"): "which it would replace",
                ("coordinator_name=chief", "coordinator_address=10.0.0.9"): "is not an address",
                ("queued_resource=q",): "one can be given",
            }.items():
                run = ask(sim, *options)
                self.assertEqual(run.code, 12, run)
                self.assertIn(words, run.all)


class States(unittest.TestCase):
    def test_a_tpu_that_is_not_ready_is_missing_host_by_host_with_the_reason(self):
        for state, words in {
            "CREATING": "CREATING: it is being created", "PREEMPTED": "PREEMPTED: Google Cloud took it back; delete it, and create it anew",
            "STOPPED": "STOPPED: somebody stopped it, and can start it", "REPAIRING": "REPAIRING: it is being repaired", "MELTING": "MELTING",
        }.items():
            with self.subTest(state), world(tpu(state=state)) as sim:
                run = ask(sim)
                self.assertEqual(run.code, 10, run)
                self.assertEqual(run.missing(), {f"plum-w-{n}": words for n in range(4)})
                self.assertEqual(run.answer["attributes"]["state"], state)

    def test_preempted_is_not_recoverable_and_creating_is(self):
        for state, recoverable in {"PREEMPTED": "false", "TERMINATED": "false", "CREATING": "true", "READY": "true"}.items():
            with self.subTest(state), world(tpu(state=state)) as sim:
                self.assertEqual(ask(sim).answer["attributes"]["recoverable"], recoverable)

    def test_memory_that_ran_out_is_not_recoverable_for_90_seconds(self):
        for symptom, recoverable in {
            "{type: OUT_OF_MEMORY, age: 30s, worker: 3, details: big batch}": "false", "{type: HBM_OUT_OF_MEMORY, age: 30s}": "false",
            "{type: OUT_OF_MEMORY, age: 100s}": "true", "{type: LOW_MEMORY, age: 1s}": "true",
            "{type: OUT_OF_MEMORY, created: never}": "true",
        }.items():
            with self.subTest(symptom), world(tpu(symptoms=f"[{symptom}]")) as sim:
                attributes = ask(sim).answer["attributes"]
                self.assertEqual(attributes["recoverable"], recoverable)
                self.assertIn("MEMORY on worker", attributes["symptoms"])
        with world(tpu(symptoms="[{type: LOW_MEMORY, worker: 3, details: big batch, created: 2026-01-01T00:00:00Z}]")) as sim:
            self.assertEqual(ask(sim).answer["attributes"]["symptoms"], "LOW_MEMORY on worker 3 at 2026-01-01T00:00:00Z: 'big batch'")

    def test_an_unhealthy_tpu_is_missing_or_where_that_is_wanted_warned_of(self):
        with world(tpu(health="UNHEALTHY_MAINTENANCE", health_description="a chip is exchanged")) as sim:
            words = "it is READY, and its health is UNHEALTHY_MAINTENANCE ('a chip is exchanged')"
            run = ask(sim)
            self.assertEqual(run.code, 10, run)
            self.assertEqual(set(run.missing().values()), {words})
            run = ask(sim, "health=warn")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.answer["warnings"], [f"TPU 'plum': {words}"])

    def test_health_that_nobody_tells_is_no_reason(self):
        for health in ('""', "HEALTH_UNSPECIFIED"):
            with world(tpu(health=health)) as sim:
                self.assertEqual(ask(sim).code, 0)


class Waiting(unittest.TestCase):
    def test_healthy_is_waited_for(self):
        with world(tpu(state="CREATING", health='""', becomes="{after: 2, state: READY, health: HEALTHY}")) as sim:
            run = ask(sim, "wait=healthy")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": HOSTS})
            self.assertEqual(len(api_requests(sim)), 3)
            self.assertEqual(run.answer["warnings"], [])

    def test_what_does_not_come_by_the_deadline_is_told(self):
        with world(tpu(state="READY", health="UNHEALTHY_TENSORFLOW")) as sim:
            start = time.monotonic()
            run = ask(sim, "wait=healthy", arguments=["--timeout", "3s"])
            self.assertLess(time.monotonic() - start, 4)
            self.assertGreater(time.monotonic() - start, 1.5)
            self.assertEqual(run.code, 10, run)
            self.assertRegex(run.answer["warnings"][0], "waited [123] s for READY and HEALTHY, in vain: TPU 'plum': it is READY, and its health is")

    def test_what_will_never_come_is_not_waited_for(self):
        with world(tpu(state="PREEMPTED")) as sim:
            start = time.monotonic()
            self.assertEqual(ask(sim, "wait=healthy").code, 10)
            self.assertLess(time.monotonic() - start, 2)
            self.assertEqual(len(api_requests(sim)), 1)


class Queued(unittest.TestCase):
    def queue(self, state, more=""):
        return f"  queued_resources: [{{name: plum-qr, zone: {ZONE}, nodes: [plum], state: {state}{more}}}]\n"

    def test_a_tpu_that_waits_in_the_queue_is_missing_with_the_queues_words(self):
        with world(self.queue("WAITING_FOR_RESOURCES")) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 10, run)
            self.assertEqual(set(run.missing().values()),
                             {"queued resource 'plum-qr' is WAITING_FOR_RESOURCES: there is no capacity for it yet"})
            self.assertEqual(run.answer["jobs"]["worker"]["expected"], 4)
        with world(self.queue("FAILED", ", error: no such quota")) as sim:
            run = ask(sim, "wait=healthy")
            self.assertIn("is FAILED: it failed; delete it, and ask anew ('no such quota')", run.all)
            self.assertEqual(len(api_requests(sim)), 3)

    def test_of_two_queued_resources_the_one_counts_that_may_still_come(self):
        one = "{{name: {}, zone: {}, nodes: [plum], state: {}}}"
        queues = [one.format("old", ZONE, "FAILED"), one.format("new", ZONE, "ACCEPTED")]
        for order in (queues, queues[::-1]):
            with world(f"  queued_resources: [{', '.join(order)}]\n") as sim:
                self.assertIn("queued resource 'new' is ACCEPTED", ask(sim).missing()["plum-w-0"])

    def test_a_queued_resource_is_waited_for(self):
        text = self.queue("ACCEPTED", ", becomes: {after: 1, state: ACTIVE}")
        with world(tpu(text)) as sim:
            run = ask(sim, "queued_resource=plum-qr", "wait=healthy", name=None)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster(), {"worker": HOSTS})
            self.assertEqual([one["path"].rsplit("/", 1)[1] for one in api_requests(sim)], ["plum-qr", "plum-qr", "nodes"])

    def test_the_slices_of_a_queued_resource_are_one_whole(self):
        text = tpu(f"  queued_resources: [{{name: q, zone: {ZONE}, prefix: s, count: 3, type: v4-16, state: ACTIVE}}]\n",
                   name="s-{0..1}", type="v4-16")
        for version in ("v1", "v2", "v2alpha1"):
            with self.subTest(version), world(text) as sim:
                run = ask(sim, "queued_resource=q", f"api_version={version}", name=None)
                self.assertEqual(run.code, 10, run)
                self.assertEqual([task["name"] for task in run.answer["tasks"]], ["s-0-w-0", "s-0-w-1", "s-1-w-0", "s-1-w-1"])
                self.assertEqual(run.missing(), {f"s-2-w-{n}": "there is no such TPU, though queued resource 'q' is ACTIVE: its TPUs are there"
                                                 for n in range(2)})

    def test_a_queued_resource_that_is_not_there_is_told(self):
        with world(tpu(self.queue("ACTIVE"))) as sim:
            run = ask(sim, "queued_resource=plum-rq", name=None)
            self.assertEqual(run.code, 11, run)
            self.assertIn("did you mean 'plum-qr'?", run.all)


class Slices(unittest.TestCase):
    def test_several_names_are_one_ranked_whole_in_that_order(self):
        with world(tpu(name="s-{0..2}", type="v4-16", topology="2x2x2")) as sim:
            run = ask(sim, "tpu=[s-2, s-0]")
            self.assertEqual(run.code, 0, run)
            self.assertEqual([task["name"] for task in run.answer["tasks"]], ["s-2-w-0", "s-2-w-1", "s-0-w-0", "s-0-w-1"])
            self.assertEqual([task["index"] for task in run.answer["tasks"]], [0, 1, 2, 3])
            self.assertEqual([task["attributes"]["slice"] for task in run.answer["tasks"]], ["0", "0", "1", "1"])
            self.assertEqual(run.attributes("s-0-w-1")["tpu.name"], "s-0")
            self.assertEqual(run.attributes("s-0-w-1")["worker"], "1")
            attributes = run.answer["attributes"]
            self.assertEqual(attributes["slices"], "2")
            self.assertEqual(attributes["coordinator"], "10.164.0.5:8476")
            self.assertEqual(attributes["megascale.coordinator"], "10.164.0.5:8080")
            self.assertEqual(len(api_requests(sim)), 1)

    def test_a_slice_has_one_place(self):
        with world(tpu()) as sim:
            run = ask(sim, "tpu=[plum, plum]")
            self.assertEqual(run.code, 12, run)
            self.assertIn("TPU 'plum' is there twice", run.all)

    def test_ranks_stay_where_a_slice_is_missing(self):
        text = tpu(f"    - {{name: s-0, zone: {ZONE}, type: v4-16, state: CREATING}}\n", name="s-1", type="v4-16")
        with world(text) as sim:
            run = ask(sim, "tpu=[s-0, s-1]")
            self.assertEqual(run.code, 10, run)
            self.assertEqual([task["index"] for task in run.answer["tasks"]], [2, 3])
            self.assertEqual(set(run.missing()), {"s-0-w-0", "s-0-w-1"})
            self.assertEqual(run.attributes("s-1-w-0")["slice"], "1")


class Machines(unittest.TestCase):
    def test_chips_cores_hosts_and_devices_are_those_of_the_type(self):
        for kind, (chips, cores, hosts, per_host, devices) in {
            "v2-8": (4, 8, 1, 4, 8), "v3-32": (16, 32, 4, 4, 8), "v4-16": (8, 16, 2, 4, 4), "v5litepod-1": (1, 1, 1, 1, 1),
            "v5litepod-8": (8, 8, 1, 8, 8), "v5litepod-16": (16, 16, 4, 4, 4), "v5p-128": (64, 128, 16, 4, 4), "v6e-256": (256, 256, 64, 4, 4),
            "tpu7x-16": (8, 16, 2, 4, 8),
        }.items():
            with self.subTest(kind), world(tpu(type=kind)) as sim:
                run = ask(sim)
                self.assertEqual(run.code, 0, run)
                attributes = run.answer["attributes"]
                self.assertEqual([int(attributes["tpu." + key]) for key in ("chips", "cores", "hosts", "chips_per_host")],
                                 [chips, cores, hosts, per_host])
                self.assertEqual(run.answer["accelerators"], {"TPU": devices})
                self.assertEqual(len(run.cluster()["worker"]), hosts)
                self.assertEqual(run.answer["warnings"], [])

    def test_what_does_not_fit_the_type_is_warned_of(self):
        with world(tpu(hosts=3, topology="4x8")) as sim:
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.answer["warnings"], ["TPU 'plum': it has 3 network endpoints, and v5litepod-16 has 4 hosts",
                                                      "TPU 'plum': its topology 4x8 is of 32 chips, and v5litepod-16 has 16"])

    def test_how_it_was_had_is_told(self):
        for flag in ("spot", "preemptible", "reserved"):
            with world(tpu(**{flag: "true"})) as sim:
                self.assertEqual(ask(sim).answer["attributes"]["provisioning"], flag.upper())


if __name__ == "__main__":
    unittest.main()

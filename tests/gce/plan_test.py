"""What `muster plan` says beforehand is what a resolve then asks, for every way to find members and every kind of credentials."""
import json
import unittest

from asking import ZONE, api_requests, ask, group, world

METHODS = {"listManagedInstances": "instanceGroupManagers.listManagedInstances", "listInstances": "instanceGroups.listInstances"}


def planned(sim, members, *options, **more):
    """{(api, request): (least, most)} of `muster plan`, which asks nobody."""
    before = len(sim.requests())
    run = ask(sim, *options, verb="plan", arguments=["--json", "--members", str(members)], **more)
    assert len(sim.requests()) == before, "planning asked the sim"
    (plan,) = json.loads(run.out)
    (resolver,) = plan["resolvers"]
    counts = {}
    for one in resolver["requests"]:
        least, most = counts.get((one["api"], one["request"]), (0, 0))
        counts[one["api"], one["request"]] = (least + one["least"], most + one["most"])
    return counts


def method(request):
    path = request["path"].split("/")
    if path[-1] in METHODS:
        return METHODS[path[-1]]
    if path[-1] == "instances":
        return "instances.aggregatedList" if path[-2] == "aggregated" else "instances.list"
    return path[-2] + ".get"


class Ways(unittest.TestCase):
    def check(self, sim, members, *options, at, **more):
        """One resolve asks the least (`at` 0) or the most (1) of what was planned, of each kind."""
        plan = planned(sim, members, *options, **more)
        before = len(sim.requests())
        run = ask(sim, *options, **more)
        self.assertEqual(run.code, 0, run)
        self.assertEqual(len(run.answer["tasks"]), members)
        made = {}
        for request in sim.requests()[before:]:
            key = ("compute.googleapis.com", method(request))
            made[key] = made.get(key, 0) + 1
        self.assertEqual(made, {key: counts[at] for key, counts in plan.items() if counts[at]})
        return sum(made.values())

    def test_a_managed_group_in_a_zone(self):
        for members, requests in ((3, 2), (400, 2), (1000, 3)):
            with self.subTest(members), world(group(members)) as sim:
                self.assertEqual(self.check(sim, members, at=0), requests)

    def test_a_managed_group_that_gives_pages(self):
        with world(group(1001, "      paginated: true\n")) as sim:
            plan = planned(sim, 1001)
            self.assertEqual(plan["compute.googleapis.com", METHODS["listManagedInstances"]], (1, 3))
            run = ask(sim)
            self.assertEqual((run.code, len(run.answer["tasks"])), (0, 1001))
            self.assertEqual(sum(method(one) == METHODS["listManagedInstances"] for one in api_requests(sim)), 3)

    def test_a_group_that_is_not_managed(self):
        for members, requests in ((3, 3), (500, 3), (1000, 5)):
            with self.subTest(members), world(group(members, "      managed: false\n")) as sim:
                plan = planned(sim, members)
                # It is asked for as a managed one first, once.
                plan["compute.googleapis.com", METHODS["listManagedInstances"]] = (1, 1)
                before = len(sim.requests())
                run = ask(sim)
                self.assertEqual((run.code, len(run.answer["tasks"])), (0, members))
                self.assertEqual(len(sim.requests()) - before, requests)
                self.assertEqual(sum(most for _, most in plan.values()), requests)

    def test_a_regional_group(self):
        for members, requests in ((6, 2), (1200, 4)):
            with self.subTest(members), world(f"""\
  instances:
    - {{name: "v-{{0..{members // 2 - 1}}}", zone: europe-west9-b, ip: "10.40.{{i/256}}.{{i%256}}"}}
    - {{name: "w-{{0..{members // 2 - 1}}}", zone: europe-west9-c, ip: "10.41.{{i/256}}.{{i%256}}"}}
  groups:
    - name: grape
      region: europe-west9
      members: [{{name: "v-{{0..{members // 2 - 1}}}", zone: europe-west9-b}}, {{name: "w-{{0..{members // 2 - 1}}}", zone: europe-west9-c}}]
""") as sim:
                self.assertEqual(self.check(sim, members, "region=europe-west9", at=0), requests)

    def test_a_filter_or_a_tag_in_a_zone_and_in_all(self):
        for members, requests in ((7, 1), (501, 2)):
            with self.subTest(members), world(group(members, "", ", labels: {job: v}, tags: [t]")) as sim:
                for who in ("filter=labels.job = v", "tag=t"):
                    for where in (f"zone={ZONE}", "zone="):
                        self.assertEqual(self.check(sim, members, who, where, at=0, group=None), requests)

    def test_a_named_port_is_one_more(self):
        with world(group(3, "      named_ports: {rpc: 7000}\n")) as sim:
            self.assertEqual(self.check(sim, 3, "port=rpc", at=0), 3)

    def test_others_in_the_zone_are_the_one_thing_that_the_plan_cannot_know_and_it_says_so(self):
        with world(group(100).replace("  groups:", f"    - {{name: 'other-{{0..899}}', zone: {ZONE}}}\n  groups:")) as sim:
            run = ask(sim, verb="plan", arguments=["--members", "100"])
            self.assertIn("500 a page of all in its zones, as if there were no others", run.out)


class Credentials(unittest.TestCase):
    def check(self, sim, requests, **more):
        plan = planned(sim, 3, **more)
        before = len(sim.requests())
        run = ask(sim, **more)
        self.assertEqual(run.code, 0, run)
        others = [one for one in sim.requests()[before:] if not one["path"].startswith("/compute/")]
        self.assertEqual(len(others), requests, others)
        self.assertEqual(sum(least for (api, _), (least, _) in plan.items() if not api.startswith("compute.")), requests)

    def test_what_a_token_costs(self):
        with world(group(3)) as sim:
            for key, requests in {"service_account.json": 0, "authorized_user.json": 1, "external_account.json": 2,
                                  "impersonated.json": 2}.items():
                with self.subTest(key):
                    self.check(sim, requests, key=key)

    def test_what_the_metadata_server_is_asked(self):
        with world(group(3) + f"  machine: {{instance: w-1, zone: {ZONE}}}\n") as sim:
            env = {"GCE_METADATA_HOST": sim.ready["url"].removeprefix("http://")}
            self.check(sim, 3, key=None, env=env)  # the token, the universe, which instance this is
            plan = planned(sim, 3, "project=", "zone=", key=None, env=env)
            self.assertEqual(plan["metadata server", "instance/zone"], (1, 1))
            before = len(sim.requests())
            self.assertEqual(ask(sim, "project=", "zone=", key=None, env=env).code, 0)
            self.assertEqual(len([one for one in sim.requests()[before:] if "computeMetadata" in one["path"]]), 5)


if __name__ == "__main__":
    unittest.main()

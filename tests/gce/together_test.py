"""What is asked side by side: the group's plan, its named port and the first page of instances; and what is asked then."""
import unittest

from asking import ZONE, api_requests, ask, group, world

LIST = "GET /compute/v1/*instances*"
GROUP = "POST /compute/v1/*listManagedInstances*"
PORTS = "GET /compute/v1/*instanceGroups/grape*"


def faults(*entries):
    return "  faults:\n" + "".join(f'    - {{match: "{match}", {rest}}}\n' for match, rest in entries)


def names(sim):
    return sorted(one["path"].rsplit("/", 1)[1] for one in api_requests(sim))


class Together(unittest.TestCase):
    def test_none_of_the_first_questions_waits_for_another(self):
        slow = faults((GROUP, "delay: 1s"), (LIST, "delay: 1s"), (PORTS, "delay: 1s"))
        with world(slow + group(3, "      named_ports: {rpc: 7000}\n")) as sim:
            run = ask(sim, "port=rpc")
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster()["worker"][0], "10.40.0.0:7000")
            times = [one["time_ms"] for one in api_requests(sim)]
            self.assertEqual(len(times), 3)
            self.assertLess(max(times) - min(times), 900)

    def test_one_new_token_serves_all_that_were_refused(self):
        with world(faults(("/compute/*", "times: 2, status: 401")) + group(3)) as sim:
            run = ask(sim, key="authorized_user.json")
            self.assertEqual(run.code, 0, run)
            paths = [one["path"] for one in sim.requests()]
            self.assertEqual(paths.count("/token"), 2)
            self.assertEqual(len(api_requests(sim)), 4)

    def test_a_token_that_one_question_alone_is_refused_with_is_renewed_for_that_one(self):
        with world(faults((LIST, "times: 1, status: 401")) + group(3)) as sim:
            run = ask(sim, key="authorized_user.json")
            self.assertEqual(run.code, 0, run)
            self.assertEqual([one["path"] for one in sim.requests()].count("/token"), 2)
            self.assertEqual(names(sim), ["instances", "instances", "listManagedInstances"])

    def test_a_connection_that_breaks_ends_the_resolve_whichever_it_is(self):
        for match in (GROUP, LIST):
            with self.subTest(match), world(faults((match, "drop: true")) + group(3)) as sim:
                run = ask(sim, arguments=["--timeout", "3s"])
                self.assertIn(run.code, (14, 15), run)

    def test_a_connection_that_cannot_be_had_is_told_with_what_is_known_of_it(self):
        with world(group(3)) as sim:
            run = ask(sim, "endpoint=http://127.0.0.1:1/compute/v1", "port=rpc", arguments=["--timeout", "3s"])
            self.assertEqual(run.code, 14, run)
            self.assertIn("127.0.0.1:1", run.err)
            self.assertIn("hint: ", run.err)

    def test_instances_that_nobody_needs_may_fail(self):
        with world(faults((LIST, "status: 403, message: no")) + f"""\
  groups: [{{name: grape, zone: {ZONE}, members: [{{name: "w-{{0..2}}", action: CREATING}}]}}]
""") as sim:
            run = ask(sim)
            self.assertEqual(run.code, 10, run)
            self.assertEqual(len(run.missing()), 3)

    def test_a_group_that_is_not_there_is_told_before_what_its_zone_says(self):
        with world(faults((LIST, "status: 403, message: no")) + group(1)) as sim:
            run = ask(sim, "instance_group=nope")
            self.assertEqual(run.code, 11, run)
            self.assertIn("the API knows no instance group 'nope'", run.all)


class Then(unittest.TestCase):
    # The zone's instances come in the order of their names.
    def zone(self, before, members, behind):
        others = "".join(f"    - {{name: \"{name}-{{0..{count - 1}}}\", zone: {ZONE}}}\n"
                         for name, count in (("a", before), ("z", behind)) if count)
        return group(members).replace("  groups:", others + "  groups:")

    def test_few_in_a_full_zone_are_asked_for_by_their_names(self):
        with world(self.zone(1600, 20, 0)) as sim:
            run = ask(sim)
            self.assertEqual((run.code, len(run.answer["tasks"])), (0, 20), run)
            self.assertEqual(names(sim), ["instances", "instances", "listManagedInstances"])
            self.assertIn("filter=", [one["query"] for one in api_requests(sim)][-1])

    def test_many_in_a_full_zone_are_looked_for_until_all_are_there(self):
        with world(self.zone(100, 700, 3000)) as sim:
            run = ask(sim)
            self.assertEqual((run.code, len(run.answer["tasks"])), (0, 700), run)
            self.assertEqual(names(sim), ["instances", "instances", "listManagedInstances"])

    def test_what_the_first_page_has_is_not_asked_for_again(self):
        with world(self.zone(0, 30, 900).replace('"w-', '"b-')) as sim:
            run = ask(sim)
            self.assertEqual((run.code, len(run.answer["tasks"])), (0, 30), run)
            self.assertEqual(names(sim), ["instances", "listManagedInstances"])


if __name__ == "__main__":
    unittest.main()

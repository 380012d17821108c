"""What `muster plan` says beforehand is what a resolve then asks of the API server."""
import json
import unittest

from asking import ask, world

PODS = """\
  pods:
    - {name: "w-{0..24}", namespace: ml, labels: {app: t, role: worker}}
    - {name: "p-{0..4}", namespace: ml, labels: {app: t, role: ps}}
"""


def planned(sim, members, mapping, *options):
    before = len(sim.requests())
    run = ask(sim, mapping, "--json", "--members", str(members), options=options, verb="plan")
    assert len(sim.requests()) == before, "planning asked the sim"
    (plan,) = json.loads(run.out)
    (resolver,) = plan["resolvers"]
    return {one["request"]: (one["least"], one["most"]) for one in resolver["requests"]}


def made(sim, mapping, *options):
    before = len(sim.requests())
    run = ask(sim, mapping, options=options)
    assert run.code == 0, run
    return len(sim.requests()) - before, len(run.answer["tasks"])


class Plan(unittest.TestCase):
    def test_one_selector_is_as_many_pages_as_its_pods_fill(self):
        with world(PODS) as sim:
            for page, requests in ((500, 1), (24, 2), (10, 3)):
                options = ("namespace=ml", f"page_size={page}")
                self.assertEqual(made(sim, "{worker: [role=worker]}", *options), (requests, 25))
                self.assertEqual(planned(sim, 25, "{worker: [role=worker]}", *options), {"list pods": (requests, requests)})

    def test_after_a_full_page_there_may_be_an_empty_one(self):
        # The server looks for more where any pod is behind the last one: a worker is the last of all.
        with world(PODS) as sim:
            for mapping, pods, page, requests in (("{worker: [role=worker]}", 25, 25, 1), ("{worker: [role=worker]}", 25, 5, 5),
                                                  ("{ps: [role=ps]}", 5, 5, 2), ("{ps: [role=ps]}", 5, 1, 6)):
                options = ("namespace=ml", f"page_size={page}")
                self.assertEqual(made(sim, mapping, *options), (requests, pods))
                self.assertEqual(planned(sim, pods, mapping, *options), {"list pods": (pods // page, pods // page + 1)})

    def test_several_selectors_are_each_listed_once_and_their_last_pages_may_be_short(self):
        with world(PODS) as sim:
            mapping = "{worker: [role=worker], ps: [role=ps]}"
            for page, requests in ((500, 2), (10, 4), (6, 6), (5, 7)):
                options = ("namespace=ml", f"page_size={page}")
                self.assertEqual(made(sim, mapping, *options), (requests, 30))
                least, most = planned(sim, 30, mapping, *options)["list pods"]
                self.assertTrue(least <= requests <= most, (least, requests, most))
                self.assertLessEqual(most - least, 2)
            self.assertEqual(planned(sim, 25, "{worker: [role=worker], chief: [role=worker]}", "namespace=ml"), {"list pods": (1, 1)})

    def test_an_object_is_read_before_its_pods(self):
        with world("""\
  objects:
    - {apiVersion: batch/v1, kind: Job, metadata: {name: train, namespace: ml, uid: u-1}, spec: {completionMode: Indexed, completions: 12,
       parallelism: 12, selector: {matchLabels: {batch.kubernetes.io/job-name: train}}}}
  pods:
    - {name: "train-{0..11}", namespace: ml, labels: {batch.kubernetes.io/job-name: train}, owner: {kind: Job, name: train, uid: u-1, api_version: batch/v1},
       annotations: {batch.kubernetes.io/job-completion-index: "{0..11}"}}
""") as sim:
            options = ("namespace=ml", "job=train", "page_size=5")
            self.assertEqual(planned(sim, 12, None, *options), {"get jobs.batch": (1, 1), "list pods": (3, 3)})
            self.assertEqual(made(sim, None, *options), (4, 12))

    def test_a_service_is_one_request_and_no_server_need_be_known(self):
        with world(PODS) as sim:
            run = ask(sim, None, "--json", "--members", "9000", options=("service=ps",), verb="plan", env={"KUBECONFIG": "/not/there"})
            (plan,) = json.loads(run.out)
            self.assertEqual([one["most"] for one in plan["resolvers"][0]["requests"]], [1])
            self.assertEqual(plan["quotas"], [])


if __name__ == "__main__":
    unittest.main()

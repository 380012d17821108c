"""What `muster plan` says beforehand is what a resolve then asks, for every way to say which TPU it is."""
import json
import unittest

from asking import ZONE, ask, metadata, tpu, world


def planned(sim, *options, **more):
    """{request: (least, most)} of `muster plan`, which asks nobody."""
    before = len(sim.requests())
    run = ask(sim, *options, verb="plan", arguments=["--json", "--members", "4"], **more)
    assert len(sim.requests()) == before, "planning asked the sim"
    assert run.code == 0, run
    (plan,) = json.loads(run.out)
    return {one["request"]: (one["least"], one["most"]) for one in plan["resolvers"][0]["requests"]}


def called(request):
    path = request["path"].split("/")
    if path[1] == "computeMetadata":
        return "/".join(path[3:])
    return "discovery_url" if path[1] == "$discovery" else path[-1] + ".list" if len(path) == 7 else path[-2] + ".get"


class Ways(unittest.TestCase):
    def check(self, sim, *options, code=0, **more):
        """One resolve asks nothing that was not planned, and all that was."""
        plan = planned(sim, *options, **more)
        before = len(sim.requests())
        run = ask(sim, *options, **more)
        self.assertEqual(run.code, code, run)
        made = [called(request) for request in sim.requests()[before:]]
        for request, (least, most) in plan.items():
            self.assertTrue(least <= made.count(request) <= most, (request, least, most, made))
        self.assertEqual(set(made) - set(plan), set())
        return made

    def test_by_name(self):
        queue = f"  queued_resources: [{{name: q, zone: {ZONE}, nodes: [fig], state: ACTIVE}}]\n"
        with world(tpu(queue)) as sim:
            self.assertEqual(self.check(sim), ["nodes.get"])
            self.assertEqual(self.check(sim, "zone="), ["nodes.list"])
            self.assertEqual(self.check(sim, "tpu=[plum, fig]", code=10), ["nodes.list", "queuedResources.list"])
            self.assertEqual(self.check(sim, "tpu=fig", code=10), ["nodes.get", "nodes.list", "queuedResources.list"])
            self.assertEqual(self.check(sim, "queued_resource=q", name=None, code=10), ["queuedResources.get", "nodes.list"])
            self.assertEqual(self.check(sim, "queued_resource=q", "zone=", name=None, code=10), ["queuedResources.list", "nodes.list"])
            url = sim.ready["url"] + "/$discovery/rest?version=v2"
            self.assertEqual(self.check(sim, "endpoint=", f"discovery_url={url}"), ["discovery_url", "nodes.get"])

    def test_on_a_tpu_vm(self):
        own = [f"instance/attributes/{key}" for key in ("tpu-env", "worker-network-endpoints")]
        with world(tpu("  machine: {tpu: plum, worker: 1}\n")) as sim:
            self.assertEqual(self.check(sim, name=None, env=metadata(sim)), own)
            self.assertEqual(self.check(sim, env=metadata(sim)), [own[0], "nodes.get"])
        with world(tpu("  machine: {tpu: s-1, slices: [s-0, s-1]}\n", name="s-{0..1}")) as sim:
            self.assertEqual(self.check(sim, name=None, env=metadata(sim)), [own[0], "nodes.list"])

    def test_where_nobody_is_asked(self):
        with world("  {}\n") as sim:
            self.assertEqual(planned(sim, "tpu=local"), {})
            self.assertEqual(planned(sim, "tpu=grpc://a"), {})
            self.assertEqual(planned(sim, name=None, env={"TPU_WORKER_HOSTNAMES": "a"}), {})


if __name__ == "__main__":
    unittest.main()

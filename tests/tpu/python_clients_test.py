"""google-api-python-client against the same cloud, with each version of the API that it has: what it finds, muster does."""
import os
import unittest

import google.auth
import googleapiclient.discovery

from asking import ZONE, ask, tpu, world

PARENT = f"projects/orchard/locations/{ZONE}"


def locations(sim, version):
    os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = os.path.join(sim.ready["google"], "service_account.json")
    credentials, _ = google.auth.default(scopes=["https://www.googleapis.com/auth/cloud-platform"])
    api = googleapiclient.discovery.build("tpu", version, credentials=credentials, cache_discovery=False, static_discovery=True,
                                          client_options={"api_endpoint": sim.ready["url"] + "/"})
    return api.projects().locations()


class Clients(unittest.TestCase):
    def test_a_tpu_is_the_same_in_each_version(self):
        with world(tpu(type="v3-32")) as sim:
            for version in ("v1", "v2", "v2alpha1"):
                with self.subTest(version):
                    node = locations(sim, version).nodes().get(name=PARENT + "/nodes/plum").execute()
                    run = ask(sim, f"api_version={version}")
                    self.assertEqual(run.code, 0, run)
                    self.assertEqual(run.cluster()["worker"], [f"{one['ipAddress']}:{one['port']}" for one in node["networkEndpoints"]])
                    self.assertEqual(run.answer["attributes"]["runtime.version"], node.get("runtimeVersion") or node["tensorflowVersion"])

    def test_all_pages_of_all_zones_have_what_muster_finds(self):
        with world(tpu("  page_size: 3\n  empty_pages: true\n", name="s-{0..9}", type="v4-16")) as sim:
            nodes = locations(sim, "v2").nodes()
            found = {}
            request = nodes.list(parent="projects/orchard/locations/-")
            while request is not None:
                page = request.execute()
                found.update({node["name"].rsplit("/", 1)[1]: node for node in page.get("nodes", [])})
                request = nodes.list_next(previous_request=request, previous_response=page)
            self.assertEqual(len(found), 10)
            for name in ("s-0", "s-9"):
                run = ask(sim, "zone=", name=name)
                self.assertEqual(run.cluster()["worker"], [one["ipAddress"] + ":8470" for one in found[name]["networkEndpoints"]])

    def test_a_queued_resource_is_the_same(self):
        queue = f"  queued_resources: [{{name: q, zone: {ZONE}, nodes: [plum], state: PROVISIONING}}]\n"
        with world(queue) as sim:
            for version in ("v2", "v2alpha1"):
                one = locations(sim, version).queuedResources().get(name=PARENT + "/queuedResources/q").execute()
                run = ask(sim, "queued_resource=q", f"api_version={version}", name=None)
                self.assertEqual(run.answer["attributes"]["state"], one["state"]["state"])

    def test_what_is_refused_is_refused_alike(self):
        with world(tpu()) as sim:
            for name, options, status, code in ((PARENT + "/nodes/fig", ["tpu=fig"], 404, 11),
                                                (PARENT.replace("orchard", "other") + "/nodes/plum", ["project=other"], 403, 13)):
                with self.assertRaises(googleapiclient.errors.HttpError) as refused:
                    locations(sim, "v2").nodes().get(name=name).execute()
                self.assertEqual(refused.exception.status_code, status)
                self.assertEqual(ask(sim, *options).code, code)


if __name__ == "__main__":
    unittest.main()

"""google-auth and google-api-python-client against the same cloud: what they take and find, muster does."""
import os
import unittest

import google.auth
import google.auth.compute_engine._metadata as metadata
import google.auth.transport.requests
import googleapiclient.discovery

from asking import ZONE, ask, group, tls_world, world

MACHINE = f"  machine: {{instance: w-1, zone: {ZONE}}}\n"


def compute(sim, credentials):
    return googleapiclient.discovery.build("compute", "v1", credentials=credentials, cache_discovery=False, static_discovery=True,
                                           client_options={"api_endpoint": sim.ready["url"] + "/compute/v1/"})


def credentials_of(sim, key):
    if key != "service_account.json":  # else a project of the audience would be looked up
        os.environ["GOOGLE_CLOUD_PROJECT"] = "orchard"
    os.environ["GOOGLE_APPLICATION_CREDENTIALS"] = os.path.join(sim.ready["google"], key)
    return google.auth.default(scopes=["https://www.googleapis.com/auth/compute.readonly"])


def pages(method, following, **arguments):
    """Every page of a list."""
    request = method(**arguments)
    while request is not None:
        answer = request.execute()
        yield answer
        request = following(previous_request=request, previous_response=answer)


class Clients(unittest.TestCase):
    def test_keys_and_federation_get_in_and_find_what_muster_finds(self):
        with world("  page_size: 20\n" + group(45)) as sim:
            for key in ("service_account.json", "external_account.json", "aws.json"):
                with self.subTest(key):
                    credentials, project = credentials_of(sim, key)
                    if key == "service_account.json":
                        self.assertEqual(project, "orchard")
                    groups = compute(sim, credentials).instanceGroups()
                    members = [item["instance"].rsplit("/", 1)[1]
                               for page in pages(groups.listInstances, groups.listInstances_next, project="orchard", zone=ZONE,
                                                 instanceGroup="grape", body={"instanceState": "RUNNING"})
                               for item in page.get("items", [])]
                    instances = compute(sim, credentials).instances()
                    addresses = {item["name"]: item["networkInterfaces"][0]["networkIP"]
                                 for page in pages(instances.list, instances.list_next, project="orchard", zone=ZONE,
                                                   fields="nextPageToken,items(name,networkInterfaces/networkIP)")
                                 for item in page.get("items", [])}
                    run = ask(sim, key=key)
                    self.assertEqual(run.code, 0, run)
                    self.assertEqual({task["name"]: task["address"] for task in run.answer["tasks"]},
                                     {name: addresses[name] + ":8470" for name in members})
                    self.assertEqual(len(members), 45)

    def test_a_certificate_gets_in_with_both(self):
        with tls_world(group(2)) as sim:
            os.environ["REQUESTS_CA_BUNDLE"] = sim.ready["ca"]
            credentials, _ = credentials_of(sim, "x509.json")
            credentials.refresh(google.auth.transport.requests.Request())
            path = "/compute/v1/projects/orchard/aggregated/instances"
            self.assertEqual(sim.get(path, {"Authorization": f"Bearer {credentials.token}"}).status, 200)
            run = ask(sim, key="x509.json", env={"SSL_CERT_FILE": sim.ready["ca"]})
            self.assertEqual(run.code, 0, run)

    def test_a_plan_and_all_zones_agree(self):
        with world(group(3, "    - {name: other, zone: z-b, members: [{name: w-0}]}\n")) as sim:
            credentials, _ = credentials_of(sim, "service_account.json")
            plan = compute(sim, credentials).instanceGroupManagers().listManagedInstances(
                project="orchard", zone=ZONE, instanceGroupManager="grape").execute()
            self.assertEqual([one["currentAction"] for one in plan["managedInstances"]], ["NONE"] * 3)
            everywhere = compute(sim, credentials).instances().aggregatedList(project="orchard", filter="status = RUNNING").execute()
            names = [one["name"] for scope in everywhere["items"].values() for one in scope.get("instances", [])]
            run = ask(sim, "filter=status = RUNNING", "zone=", group=None)
            self.assertEqual([task["name"] for task in run.answer["tasks"]], names)

    def test_what_is_refused_is_refused_alike(self):
        with world(group(1)) as sim:
            credentials, _ = credentials_of(sim, "service_account.json")
            for arguments, options, code in (({"zone": "nowhere"}, ["zone=nowhere"], 404), ({"instanceGroup": "x"}, ["instance_group=x"], 404)):
                wanted = {"project": "orchard", "zone": ZONE, "instanceGroup": "grape", "body": {}, **arguments}
                with self.assertRaises(googleapiclient.errors.HttpError) as refused:
                    compute(sim, credentials).instanceGroups().listInstances(**wanted).execute()
                self.assertEqual(refused.exception.status_code, code)
                self.assertEqual(ask(sim, *options).code, 11)

    def test_the_metadata_server_is_one_to_them_too(self):
        with world(MACHINE + group(2)) as sim:
            host = sim.ready["url"].removeprefix("http://")
            request = google.auth.transport.requests.Request()
            self.assertEqual(metadata.get(request, "project/project-id", root=f"http://{host}/computeMetadata/v1/"), "orchard")
            account = metadata.get(request, "instance/service-accounts/default/", root=f"http://{host}/computeMetadata/v1/", recursive=True)
            self.assertTrue(account["email"].endswith(".iam.gserviceaccount.com"))
            token = metadata.get(request, "instance/service-accounts/default/token", root=f"http://{host}/computeMetadata/v1/")["access_token"]
            self.assertEqual(sim.get("/compute/v1/projects/orchard/aggregated/instances", {"Authorization": f"Bearer {token}"}).status, 200)


if __name__ == "__main__":
    unittest.main()

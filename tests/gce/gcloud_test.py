"""The real gcloud against the same cloud: it lists what muster finds."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from asking import ZONE, ask, endpoint, group, world

GCLOUD = shutil.which("gcloud")
if GCLOUD is None:
    print("SKIP: NO GCLOUD on PATH", file=sys.stderr)
    sys.exit(77)


def gcloud(sim, *arguments):
    environment = {
        "PATH": os.environ["PATH"], "HOME": sim.folder.name, "CLOUDSDK_CONFIG": os.path.join(sim.folder.name, "gcloud"),
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE": endpoint(sim) + "/", "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": sim.ready["token_file"],
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1", "CLOUDSDK_CORE_PROJECT": "orchard", "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
    }
    run = subprocess.run([GCLOUD, "compute", *arguments, "--format=json"], env=environment, capture_output=True, text=True, timeout=100,
                         stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


class Gcloud(unittest.TestCase):
    def test_a_group_and_its_instances_are_what_muster_finds(self):
        with world("  page_size: 4\n" + group(9)) as sim:
            members = gcloud(sim, "instance-groups", "list-instances", "grape", f"--zone={ZONE}")
            instances = gcloud(sim, "instances", "list", f"--zones={ZONE}")
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            found = {task["name"]: task["address"] for task in run.answer["tasks"]}
            self.assertEqual(sorted(one["instance"].rsplit("/", 1)[1] for one in members), sorted(found))
            self.assertEqual({one["name"]: one["networkInterfaces"][0]["networkIP"] + ":8470" for one in instances}, found)

    def test_a_managed_groups_plan_is_what_muster_tells(self):
        more = '        - {name: w-9, action: CREATING, error: "QUOTA_EXCEEDED: no more"}\n'
        with world(group(2).replace('members: [{name: "w-{0..1}"}]', 'members:\n        - {name: "w-{0..1}"}') + more) as sim:
            plan = gcloud(sim, "instance-groups", "managed", "list-instances", "grape", f"--zone={ZONE}")
            run = ask(sim)
            self.assertEqual({one["instance"].rsplit("/", 1)[1] for one in plan if one["currentAction"] != "NONE"}, set(run.missing()))


if __name__ == "__main__":
    unittest.main()

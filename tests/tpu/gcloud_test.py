"""The real gcloud against the same cloud: it describes and lists what muster finds."""
import json
import os
import shutil
import subprocess
import sys
import unittest

from asking import ZONE, ask, tpu, world

GCLOUD = shutil.which("gcloud")
if GCLOUD is None:
    print("SKIP: NO GCLOUD on PATH", file=sys.stderr)
    sys.exit(77)


def gcloud(sim, *arguments):
    environment = {
        "PATH": os.environ["PATH"], "HOME": sim.folder.name, "CLOUDSDK_CONFIG": os.path.join(sim.folder.name, "gcloud"),
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU": sim.ready["url"] + "/", "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": sim.ready["token_file"],
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1", "CLOUDSDK_CORE_PROJECT": "orchard", "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
    }
    run = subprocess.run([GCLOUD, "compute", "tpus", *arguments, "--format=json"], env=environment, capture_output=True, text=True,
                         timeout=100, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return json.loads(run.stdout)


def addresses(node):
    return [f"{one['ipAddress']}:{one['port']}" for one in node["networkEndpoints"]]


class Gcloud(unittest.TestCase):
    def test_a_tpu_is_what_muster_finds(self):
        with world(tpu(topology="4x4")) as sim:
            node = gcloud(sim, "tpu-vm", "describe", "plum", f"--zone={ZONE}")
            run = ask(sim)
            self.assertEqual(run.code, 0, run)
            self.assertEqual(run.cluster()["worker"], addresses(node))
            attributes = run.answer["attributes"]
            self.assertEqual([attributes[key] for key in ("tpu.id", "state", "health", "accelerator.model", "runtime.version")],
                             [node[key] for key in ("id", "state", "health", "acceleratorType", "runtimeVersion")])

    def test_the_list_of_all_zones_has_what_muster_finds_in_it(self):
        with world(tpu('    - {name: "s-{0..4}", zone: us-central2-b, type: v4-16}\n  page_size: 2\n')) as sim:
            found = {node["name"].rsplit("/", 1)[1]: addresses(node) for node in gcloud(sim, "tpu-vm", "list", "--zone=-")}
            self.assertEqual(len(found), 6)
            run = ask(sim, "zone=", "tpu=[s-0, s-1, s-2, s-3, s-4]")
            self.assertEqual(run.cluster()["worker"], [one for name in sorted(found) if name != "plum" for one in found[name]])

    def test_a_name_that_is_not_there_is_not_there_for_both(self):
        with world(tpu()) as sim:
            with self.assertRaisesRegex(AssertionError, "was not found"):
                gcloud(sim, "tpu-vm", "describe", "fig", f"--zone={ZONE}")
            self.assertEqual(ask(sim, name="fig").code, 11)


if __name__ == "__main__":
    unittest.main()

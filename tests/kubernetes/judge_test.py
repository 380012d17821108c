"""The real kubectl as the judge: the same pods, in the same namespace, by the same context."""
import subprocess
import unittest

from asking import ask, kubectl_or_skip, world

KUBECTL = kubectl_or_skip()

WORLDS = {
    "pages and a stranger": """  page_size: 3
  pods:
    - {name: "w-{0..9}", namespace: ml, labels: {app: t, role: worker}, ip: "10.8.0.{10..19}"}
    - {name: "p-{0..2}", namespace: ml, labels: {app: t, role: ps}, ip: "10.8.1.{10..12}"}
    - {name: "w-{0..9}", namespace: other, labels: {app: t, role: worker}, ip: "10.9.0.{10..19}"}
""",
    "IPv6": """  pods:
    - {name: "w-{0..3}", namespace: ml, labels: {app: t, role: worker}, ip: "fd00::{1..4}"}
    - {name: "w-{0..3}", namespace: other, labels: {app: t}, ips: [10.8.7.7, "fd00::7"]}
""",
    "a prefix": """  path_prefix: /k8s/clusters/c-1
  pods:
    - {name: a, namespace: ml, labels: {app: t, tier: x}, ip: 10.8.0.1}
    - {name: b, namespace: ml, labels: {app: t}, ip: 10.8.0.2}
    - {name: c, namespace: other, labels: {app: t}, ip: 10.8.0.3}
""",
}
SELECTORS = ["app=t", "app in (t,u),role!=ps", "app,!tier", "role notin (worker)"]


def kubectl(sim, selector, *arguments):
    run = subprocess.run([KUBECTL, "get", "pods", "-l", selector, "-o", "jsonpath={.items[*].status.podIP}", *arguments],
                         env={"HOME": sim.folder.name, "KUBECONFIG": sim.ready["kubeconfig"]}, capture_output=True,
                         text=True, timeout=60, stdin=subprocess.DEVNULL)
    return run.stdout.split() if run.returncode == 0 else None


def muster(sim, selector, *options):
    run = ask(sim, f'{{worker: ["{selector}"]}}', options=options)
    if run.code == 11:
        return []
    return [t["address"].rsplit(":", 1)[0].strip("[]") for t in run.answer["tasks"]] if run.code == 0 else None


class Judge(unittest.TestCase):
    def test_muster_finds_the_pods_that_kubectl_finds(self):
        for name, text in WORLDS.items():
            with world(text) as sim:
                for selector in SELECTORS:
                    for flags, options in (((), ()), (("-n", "other"), ("namespace=other",)),
                                           (("--context", "sim-cert"), ("context=sim-cert",)),
                                           (("-n", "default"), ("namespace=default",)),
                                           (("--context", "sim-wrong"), ("context=sim-wrong",))):
                        with self.subTest(world=name, selector=selector, flags=flags):
                            expected = kubectl(sim, selector, *flags)
                            found = muster(sim, selector, *options)
                            self.assertEqual(found and sorted(found), expected and sorted(expected))
                            self.assertEqual(found is None, "sim-wrong" in flags)


if __name__ == "__main__":
    unittest.main()

"""The real kubectl against muster-sim: what it shows, what it asks, what it says when refused.

kubectl is taken from PATH; without one the test says SKIP and ends with 77.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from sim_world import Checks, Sim

PROGRAM = sys.argv[1]
KUBECTL = shutil.which("kubectl")
if KUBECTL is None:
    print("SKIP: NO KUBECTL. Put one on PATH; one builds so:\n"
          "  cd tests/sim/kubectl && go build -o SOMEWHERE/kubectl .")
    sys.exit(77)

checks = Checks()
check = checks.check
home = tempfile.TemporaryDirectory(prefix="muster-sim-kubectl.")

WORLD = """
tls: true
kubernetes:
  namespaces: [ml, other, secret]
  pods:
    - {name: "trainer-worker-{0..3}", namespace: ml, labels: {app: trainer, role: worker}, ip: "10.8.0.{10..13}", node: node-a, limits: {google.com/tpu: 4}}
    - {name: trainer-ps-0, namespace: ml, labels: {app: trainer, role: ps}, phase: Pending, reason: "Unschedulable: 0/4 nodes are available: insufficient google.com/tpu"}
    - {name: old, namespace: ml, deleting: true, ips: [10.8.0.30, "fd00:10:8::1e"]}
    - {name: elsewhere, namespace: other, labels: {app: trainer}}
  forbid:
    - {resource: pods, namespace: secret}
"""


def kubectl(sim, *arguments):
    """Standard output, standard error and status of one run, with a home of its own for kubectl's caches."""
    run = subprocess.run([KUBECTL, "--kubeconfig", sim.ready["kubeconfig"], *arguments], capture_output=True, text=True,
                         timeout=60, stdin=subprocess.DEVNULL, env={**os.environ, "HOME": home.name})
    return run.stdout, run.stderr, run.returncode


def rows(text):
    return [line.split() for line in text.splitlines()[1:]]


def pod_lists(sim):
    return [r for r in sim.requests() if r["path"].endswith("/pods")]


with Sim(PROGRAM, WORLD) as sim:
    out, err, code = kubectl(sim, "get", "pods", "-l", "app=trainer", "-o", "wide")
    check("get pods -l -o wide shows the selected pods", [row[0] for row in rows(out)] ==
          ["trainer-ps-0"] + [f"trainer-worker-{i}" for i in range(4)], out + err)
    check("the wide table has address and node", rows(out)[1][5:7] == ["10.8.0.10", "node-a"], out)
    check("a pod that waits is Pending and not ready", rows(out)[0][1:3] == ["0/1", "Pending"], out)

    out, err, code = kubectl(sim, "get", "pods")
    check("a pod being deleted is Terminating", "Terminating" in out.split("old", 1)[1].splitlines()[0], out)

    sim.reset()
    out, err, code = kubectl(sim, "get", "pods", "--chunk-size=2")
    lists = pod_lists(sim)
    check("--chunk-size=2 shows all six pods", len(rows(out)) == 6, out + err)
    check("in three pages", len(lists) == 3 and all("limit=2" in r["query"] for r in lists), lists)
    check("of which two go on from the one before", sum("continue=" in r["query"] for r in lists) == 2, lists)

    out, err, code = kubectl(sim, "get", "pods", "-A", "-o", "json")
    items = json.loads(out)["items"]
    check("-A -o json has the pods of every namespace", len(items) == 7, err)
    check("and both addresses of a dual stack pod", [{"ip": "10.8.0.30"}, {"ip": "fd00:10:8::1e"}] in
          [item["status"].get("podIPs") for item in items])

    out, err, code = kubectl(sim, "get", "pod", "trainer-worker-1", "-o",
                             "jsonpath={.status.podIP} {.spec.containers[0].resources.limits.google\\.com/tpu}")
    check("one pod by name", out == "10.8.0.11 4", out + err)
    out, err, code = kubectl(sim, "get", "pods", "-l", "role in (ps),!gone", "-o", "name")
    check("sets and absence select", out.split() == ["pod/trainer-ps-0"], out + err)
    out, err, code = kubectl(sim, "get", "pods", "-A", "--field-selector", "status.phase=Pending", "-o", "name")
    check("field selectors select", out.split() == ["pod/trainer-ps-0"], out + err)
    out, err, code = kubectl(sim, "describe", "pod", "trainer-ps-0")
    check("describe tells why a pod waits", "insufficient google.com/tpu" in out or "PodScheduled" in out, out + err)
    out, err, code = kubectl(sim, "get", "ns")
    check("namespaces", [row[0] for row in rows(out)] == ["default", "ml", "other", "secret"], out + err)
    out, err, code = kubectl(sim, "version")
    check("version", "Server Version:" in out and "v1.32.4" in out, out + err)
    out, err, code = kubectl(sim, "get", "pods", "-n", "nowhere")
    check("an unknown namespace is an empty list", "No resources found" in err and code == 0, err)

    out, err, code = kubectl(sim, "--context", "sim-cert", "get", "pods", "-o", "name")
    check("the client certificate is taken", len(out.split()) == 6, err)
    out, err, code = kubectl(sim, "--context", "sim-wrong", "get", "pods")
    check("a wrong token is Unauthorized", code != 0 and "Unauthorized" in err, err)
    out, err, code = kubectl(sim, "get", "pods", "-n", "secret")
    check("a forbidden namespace is Forbidden", "Error from server (Forbidden): pods is forbidden: User "
          '"system:serviceaccount:ml:muster" cannot list resource "pods" in API group "" in the namespace "secret"'
          in err, err)
    out, err, code = kubectl(sim, "get", "pods", "-l", "a====")
    check("a bad selector is BadRequest", "(BadRequest)" in err and "unable to parse requirement" in err, err)
    out, err, code = kubectl(sim, "get", "pods", "--field-selector", "spec.color=red")
    check("a bad field is BadRequest", "field label not supported: spec.color" in err, err)
    out, err, code = kubectl(sim, "get", "pod", "nobody")
    check("a missing pod is NotFound", 'Error from server (NotFound): pods "nobody" not found' in err, err)

with Sim(PROGRAM, WORLD + '  faults: [{match: "GET *pods", page: 2, times: 1, status: 410}]\n') as sim:
    out, err, code = kubectl(sim, "get", "pods", "--chunk-size=2")
    statuses = [r["status"] for r in pod_lists(sim)]
    check("410 in the middle reaches kubectl", 410 in statuses, statuses)
    check("which never shows a part as the whole", code != 0 or len(rows(out)) == 6, out + err)

with Sim(PROGRAM, WORLD + '  faults: [{match: "GET *pods", times: 2, status: 503, retry_after: 1}]\n') as sim:
    out, err, code = kubectl(sim, "get", "pods", "-o", "name")
    check("kubectl tries again after 503 with Retry-After", code == 0 and len(pod_lists(sim)) == 3, err)

with Sim(PROGRAM, WORLD) as sim:
    watcher = subprocess.Popen([KUBECTL, "--kubeconfig", sim.ready["kubeconfig"], "get", "pods", "-w", "-o", "name"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, stdin=subprocess.DEVNULL,
                               env={**os.environ, "HOME": home.name})
    shown = [watcher.stdout.readline().strip() for _ in range(6)]
    sim.get("/_sim/scenario", method="PUT", body=WORLD + "  generate: {count: 1, name: late, namespace: ml}\n")
    late = watcher.stdout.readline().strip()
    watcher.kill()
    watcher.wait()
    check("get -w shows a pod that comes later", late == "pod/late" and len(set(shown)) == 6, (shown, late))

with Sim(PROGRAM, WORLD.replace("tls: true", "tls: false")) as sim:
    out, err, code = kubectl(sim, "get", "pods", "-o", "name")
    check("plain HTTP works without credentials", len(out.split()) == 6, err)

with Sim(PROGRAM, WORLD.replace("tls: true", "tls: {names: [api.example]}") + "  path_prefix: /k8s/clusters/c-1\n") as sim:
    out, err, code = kubectl(sim, "get", "pods", "-o", "name")
    check("a path prefix and another name in the certificate work", len(out.split()) == 6, err)

home.cleanup()
checks.end()

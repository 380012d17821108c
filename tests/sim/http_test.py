"""muster-sim as a program: its line when ready, TLS, faults on the wire, compression, and its end."""
import gzip
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time

from sim_world import Checks, Sim

PROGRAM = sys.argv[1]
checks = Checks()
check = checks.check

WORLD = """
tls: true
kubernetes:
  namespaces: [ml]
  pods:
    - {name: "w-{0..3}", namespace: ml, labels: {app: trainer}, ip: "10.8.0.{1..4}"}
"""
PODS = "/api/v1/namespaces/ml/pods"


def with_faults(*faults):
    return WORLD.replace("tls: true", "tls: false") + "  faults:\n" + "".join(f"    - {fault}\n" for fault in faults)


def refuses(*arguments, scenario="kubernetes: {}\n", name="world.yaml"):
    with Sim(PROGRAM, "kubernetes: {}\n") as sim:  # for its folder only
        path = os.path.join(sim.folder.name, name)
        with open(path, "w") as file:
            file.write(scenario)
        return subprocess.run([PROGRAM, path, *arguments], capture_output=True, text=True, timeout=10,
                              stdin=subprocess.DEVNULL)


# --- files and TLS
with Sim(PROGRAM, WORLD) as sim:
    directory = sim.ready["directory"]
    check("the directory is closed to others", os.stat(directory).st_mode & 0o777 == 0o700)
    check("every file in it is closed to others", all(
        os.stat(os.path.join(folder, file)).st_mode & 0o777 == 0o600
        for folder, _, files in os.walk(directory) for file in files))
    in_cluster = sim.ready["in_cluster"]
    check("the in-cluster folder is as in a pod", sorted(os.listdir(in_cluster)) == ["ca.crt", "namespace", "token"])
    check("the in-cluster namespace is the world's", open(in_cluster + "/namespace").read() == "ml")
    check("the token works", sim.get(PODS, sim.bearer()).status == 200)
    connection = sim.connect(certificate=True)
    check("the client certificate works", sim.get(PODS, connection=connection).status == 200)
    connection.close()
    bad = sim.get(PODS, sim.bearer("wrong"))
    check("a wrong token is 401 with a Status", (bad.status, json.loads(bad.body)["reason"]) == (401, "Unauthorized"))
    check("no credential is 401", sim.get(PODS).status == 401)
    try:
        sim.get(PODS, connection=sim.connect(context=ssl.create_default_context()))
        check("another authority does not verify the server", False)
    except ssl.SSLCertVerificationError:
        check("another authority does not verify the server", True)
    log = sim.get("/_sim/requests").body.decode()
    check("the log never has a token", sim.token not in log and "wrong" not in log)
    check("the log has one line for each request", len(sim.requests()) == 4, log)
    sim.reset()
    check("reset empties the log", sim.requests() == [])
check("end of stdin ends the server with 0", sim.code == 0)
check("a temporary directory goes with the server", not os.path.exists(directory))

with Sim(PROGRAM, WORLD.replace("true", "{names: [api.example]}")) as sim:
    try:
        sim.get(PODS)
        check("a certificate without the address does not verify", False)
    except ssl.SSLCertVerificationError as error:
        check("a certificate without the address does not verify", "IP address mismatch" in str(error), error)
with Sim(PROGRAM, WORLD.replace("true", "{expired: true}")) as sim:
    try:
        sim.get(PODS)
        check("an expired certificate does not verify", False)
    except ssl.SSLCertVerificationError as error:
        check("an expired certificate does not verify", "expired" in str(error), error)

# --- faults on the wire
with Sim(PROGRAM, with_faults('{match: "GET /api/v1/*", times: 1, status: 503, retry_after: 7}')) as sim:
    first = sim.get(PODS)
    check("a fault's status comes with Retry-After", (first.status, first.headers["Retry-After"]) == (503, "7"))
    check("after its times the truth is told", sim.get(PODS).status == 200)
with Sim(PROGRAM, with_faults('{match: "GET /api/v1/*", delay: 300ms}')) as sim:
    begin = time.monotonic()
    sim.get(PODS)
    check("a delayed answer comes late", time.monotonic() - begin >= 0.3)
with Sim(PROGRAM, with_faults('{match: "GET /api/v1/*", drop_after_bytes: 100}')) as sim:
    try:
        sim.get(PODS)
        check("a cut answer ends early", False)
    except http.client.IncompleteRead as error:
        check("a cut answer ends early", len(error.partial) == 100, error)
with Sim(PROGRAM, with_faults('{match: "GET /api/v1/*", times: 1, drop: true}')) as sim:
    try:
        sim.get(PODS)
        check("a dropped request gets no answer", False)
    except http.client.RemoteDisconnected:
        check("a dropped request gets no answer", True)
    check("a dropped request is in the log with status 0", sim.requests()[0]["status"] == 0)
    check("the server lives on", sim.get(PODS).status == 200)
with Sim(PROGRAM, with_faults('{match: "GET /api/v1/*", drop: true, reset: true}')) as sim:
    try:
        sim.get(PODS)
        check("a reset connection is reset", False)
    except ConnectionResetError as error:
        check("a reset connection is reset", not isinstance(error, http.client.RemoteDisconnected), repr(error))
with Sim(PROGRAM, with_faults('{match: "GET /api/v1/*", body: "abcd", drip: 2}')) as sim:
    begin = time.monotonic()
    body = sim.get(PODS).body
    check("a dripping body comes slowly and whole", body == b"abcd" and time.monotonic() - begin >= 1)
with Sim(PROGRAM, with_faults('{match: "GET /api/v1/*", status: 302, body: "", headers: {Location: /elsewhere}}')) as sim:
    answer = sim.get(PODS)
    check("a redirect has its header and no body", (answer.status, answer.headers["Location"], answer.body)
          == (302, "/elsewhere", b""))
with Sim(PROGRAM, WORLD.replace("tls: true", "tls: {}")
         + '  faults: [{match: "GET /api/v1/*", drop_after_bytes: 10}]\n') as sim:
    try:
        sim.get(PODS, sim.bearer())
        check("an answer over TLS is cut too", False)
    except (http.client.IncompleteRead, ssl.SSLError, ConnectionError):
        check("an answer over TLS is cut too", True)

# --- large lists
BIG = 'kubernetes:\n  generate: {count: 1000, name: "b-{i}", bytes: 3000, labels: {odd: "{i%2}"}}\n'
with Sim(PROGRAM, BIG) as sim:
    plain = sim.get("/api/v1/pods").body
    packed = sim.get("/api/v1/pods", {"Accept-Encoding": "gzip"})
    check("a large list is as large as said", 3000000 < len(plain) < 3002000, len(plain))
    check("a large list is compressed when asked", packed.headers["Content-Encoding"] == "gzip"
          and gzip.decompress(packed.body) == plain)
    small = sim.get("/api/v1/pods?limit=2", {"Accept-Encoding": "gzip"})
    check("a small one is not", small.headers["Content-Encoding"] is None)
    odd = json.loads(sim.get("/api/v1/pods?labelSelector=odd%3D1").body)["items"]
    check("scattered pods make a right list", sorted(int(p["metadata"]["name"][2:]) for p in odd)
          == list(range(1, 1000, 2)))
    connection = sim.connect()
    for _ in range(20):
        sim.get("/api/v1/pods?limit=1", connection=connection)
    check("a connection is kept alive", len({r["connection"] for r in sim.requests()[-20:]}) == 1)
    connection.close()
    tables = sim.get("/api/v1/pods?limit=2", {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    check("a table has columns and rows", len(json.loads(tables.body)["rows"]) == 2)
    check("what cannot be given is 406",
          sim.get("/api/v1/pods", {"Accept": "application/cbor"}).status == 406)
    check("writing is 405", sim.get("/api/v1/namespaces/default/pods", method="POST", body="{}").status == 405)
    changed = sim.get("/_sim/scenario", method="PUT", body="kubernetes: {pods: [{name: only}]}")
    check("the world can be replaced", changed.status == 200 and
          len(json.loads(sim.get("/api/v1/pods").body)["items"]) == 1)
    wrong = sim.get("/_sim/scenario", method="PUT", body="kubernetes: {pod: []}")
    check("a wrong replacement is refused with the place", wrong.status == 400 and b"scenario:1:14:" in wrong.body,
          wrong.body)

# --- watches
with Sim(PROGRAM, WORLD.replace("tls: true", "tls: false")) as sim:
    version = json.loads(sim.get(PODS).body)["metadata"]["resourceVersion"]
    connection = sim.connect()
    connection.request("GET", f"{PODS}?watch=1&resourceVersion={version}&timeoutSeconds=2",
                       headers={"Accept-Encoding": "gzip"})
    stream = connection.getresponse()
    check("a watch is chunked and never compressed", (stream.headers["Transfer-Encoding"],
          stream.headers["Content-Encoding"]) == ("chunked", None), stream.headers)
    sim.get("/_sim/scenario", method="PUT", body="kubernetes: {pods: [{name: new, namespace: ml}]}")
    events = [json.loads(stream.readline()) for _ in range(5)]
    check("a watch tells of another world at once", [e["type"] for e in events] == ["DELETED"] * 4 + ["ADDED"], events)
    check("a watch ends in order when its time is over", stream.read() == b"")
    check("its connection goes on", sim.get(PODS, connection=connection).status == 200)
    connection.close()

# --- the command line
check("an address of the outside is refused", "not a loopback address" in refuses("--listen", "0.0.0.0").stderr)
check("a name is not an address", refuses("--listen", "localhost").returncode == 2)
wrong = refuses(scenario="kubernetes:\n  pods: [{nam: x}]\n")
check("a wrong scenario is refused with the place", wrong.returncode == 2 and "world.yaml:2:11:" in wrong.stderr,
      wrong.stderr)
with Sim(PROGRAM, WORLD) as sim:
    taken = refuses("--port", str(sim.ready["port"]))
    check("a taken port is refused", taken.returncode == 1 and "cannot listen" in taken.stderr, taken.stderr)
    open_directory = sim.folder.name + "/open"
    os.mkdir(open_directory, 0o755)
    os.chmod(open_directory, 0o755)
    check("a directory open to others gets no keys", "chmod 700" in refuses("--tls-dir", open_directory).stderr)

if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6") and os.path.getsize("/proc/net/if_inet6") > 0:
    with Sim(PROGRAM, WORLD, "--listen", "::1") as sim:
        check("it listens on IPv6 too", sim.ready["url"].startswith("https://[::1]:")
              and sim.get(PODS, sim.bearer()).status == 200)

sim = Sim(PROGRAM, WORLD)
sim.process.send_signal(signal.SIGTERM)
check("SIGTERM ends the server with 0", sim.process.wait(timeout=10) == 0)
sim.__exit__()

parent = subprocess.Popen(["sleep", "60"])
sim = Sim(PROGRAM, WORLD, "--parent-pid", str(parent.pid))
parent.kill()
parent.wait()
check("the end of the parent ends the server", sim.process.wait(timeout=10) == 0)
sim.__exit__()
checks.end()

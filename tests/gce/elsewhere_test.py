"""Off Google Cloud: where something at the metadata server's name hangs, and at which hosts the APIs are. In a network of this process's
own, so that their names may be anybody's."""
import ctypes
import fcntl
import os
import socket
import struct
import sys
import tempfile
import time
import unittest

from asking import ZONE, api_requests, ask, ask_backend, endpoint, group, world
from google_watching import Watching, metadata_requests

NAME = "metadata.google.internal"
APIS = [f"{api}.{universe}" for api in ("compute", "tpu") for universe in ("googleapis.com", "apis.vineyard.example")]


def enter_own_network():
    """A network namespace that has the loopback alone, with the right to any port, where all these names are this machine's; or why not."""
    if os.geteuid() != 0:
        return "that takes root, and in a user namespace the plugins would be nobody's"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x40020000) != 0:  # CLONE_NEWNET, CLONE_NEWNS
        return os.strerror(ctypes.get_errno())
    with socket.socket() as anything:
        fcntl.ioctl(anything, 0x8914, struct.pack("16sh14x", b"lo", 0x1))  # SIOCSIFFLAGS, IFF_UP
    with tempfile.NamedTemporaryFile("w") as hosts:
        hosts.write(f"127.0.0.1 localhost {NAME} {' '.join(APIS)}\n")
        hosts.flush()
        private = libc.mount(b"none", b"/", None, 0x44000, None)  # MS_REC, MS_PRIVATE
        if private != 0 or libc.mount(hosts.name.encode(), b"/etc/hosts", None, 0x1000, None) != 0:  # MS_BIND
            return os.strerror(ctypes.get_errno())
    return None


class Elsewhere(unittest.TestCase):
    def ask(self, sim):
        """muster without any credentials, and the seconds that it took."""
        start = time.monotonic()
        run = ask(sim, key=None)
        return run, time.monotonic() - start

    def check(self, run, took):
        self.assertEqual(run.code, 13, run)
        self.assertGreater(took, 0.9, run)  # or it did not wait for this one
        self.assertLess(took, 2.5, run)
        for words in ("there are no Google credentials", "GOOGLE_APPLICATION_CREDENTIALS is not set",
                      "'~/.config/gcloud/application_default_credentials.json' does not exist",
                      f"the metadata server {NAME} does not answer, so this is no machine of Google Cloud",
                      "gcloud auth application-default login"):
            self.assertIn(words, run.all)

    def test_a_server_that_takes_the_question_and_says_nothing_costs_a_second(self):
        with world('  faults: [{match: "/computeMetadata/*", delay: 20s}]\n' + group(1), "--port", "80") as sim:
            self.check(*self.ask(sim))
            self.assertEqual([one["path"].rsplit("/", 1)[1] for one in sim.requests()], ["token"])

    def test_a_server_that_cannot_be_reached_costs_a_second(self):
        with world(group(1)) as sim, socket.socket() as full:
            full.bind(("127.0.0.1", 80))
            full.listen(0)
            for _ in range(4):  # more than the queue takes, so that whoever comes later is not heard
                one = socket.socket()
                self.addCleanup(one.close)
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            self.check(*self.ask(sim))


class Watch(Watching):
    def test_a_watch_asks_no_metadata_server(self):
        with world(f"  machine: {{instance: w-1, zone: {ZONE}}}\n" + group(3), "--port", "80") as sim:
            given = [f"endpoint={endpoint(sim)}", "project=orchard", f"zone={ZONE}", "instance_group=grape"]
            process = self.watch_backend("gce", sim, given, server=False, interval="300ms")
            self.event(process, 1)
            self.until(lambda: len(api_requests(sim)) >= 6, process)
            self.assertEqual(metadata_requests(sim), [])


class Hosts(unittest.TestCase):
    def test_without_an_endpoint_the_universe_says_where_the_api_is(self):
        with world(group(1)) as sim:
            for name in APIS:
                api, universe = name.split(".", 1)
                given = ["project=orchard", "zone=z", f"access_token={sim.token}", "instance_group=grape" if api == "compute" else "tpu=plum"]
                if universe != "googleapis.com":
                    given.append(f"universe_domain={universe}")
                run = ask_backend("gce" if api == "compute" else "tpu", sim, given, (), None, ["--timeout", "1s"], "resolve", "json", None)
                self.assertIn(run.code, (14, 15), run)  # nobody is there
                self.assertIn(f"https://{name}/{'compute/v1' if api == 'compute' else 'v2'}/projects/orchard/", run.all)


if __name__ == "__main__":
    why = enter_own_network()
    if why:
        print(f"SKIP: this process gets no network of its own: {why}")
        sys.exit(77)
    unittest.main()

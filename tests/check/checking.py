"""muster-check and its verdict, for every test that asks for one."""
import concurrent.futures
import json
import os
import subprocess

RECORDING = """\
muster_recording: 1
resolvers:
  - path: ""
    times: ["2026-01-31T12:00:00.123000000Z"]
  - path: "cluster"
    requests:
      - method: "GET"
        url: "http://roster.test/members"
        status: 200
        response: |-
"""
MEMBERS = '["10.0.0.1:8470", "10.0.0.2:8470", "10.0.0.3:8470"]\n'


def record(folder, response=MEMBERS):
    """A recording in which http://roster.test/members was asked once and answered this; its file."""
    file = os.path.join(folder, "roster.yaml")
    with open(file, "w", encoding="utf-8") as out:
        out.write(RECORDING + "".join("          " + line for line in response.splitlines(True)))
    return file


class Checking:
    """Part of a TestCase."""

    def check(self, *words, status=0, **more):
        """What `muster-check --json` with these words says, which ends with this exit status."""
        checker = more.pop("checker", None) or os.environ["MUSTER_CHECK"]
        done = subprocess.run([checker, "--json", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400, **more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def named(self, results, status="passed"):
        """The tests that ended so."""
        return {result["test"] for result in results if result.get("status") == status}

    def assertFinds(self, results, test, duty, words):
        """The test that was run alone found that this duty was broken, and told it with these words."""
        self.assertEqual(results[0], {"begin": test})
        found = [f"{finding['duty']}: {finding['text']}" for finding in results[1]["findings"]]
        self.assertTrue(any(one.startswith(duty + ": ") and words in one for one in found), f"{test} should say {duty} ... {words}; it said {found}")

    def each(self, cases, look):
        """look(*case) for each of them, some at a time; the first two words of one are its name."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for case, result in [(case, pool.submit(look, *case)) for case in cases]:
                with self.subTest(case[0], test=case[1]):
                    result.result()

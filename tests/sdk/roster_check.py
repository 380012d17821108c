"""An executable of a template, backend "roster", by the judgement of muster-check."""
import os
import re
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
          node-1 10.0.0.1:8470
          node-2 10.0.0.2:8470
"""


def check_roster(test, program, folder):
    """Each duty that can be checked of an executable is kept."""
    recording = os.path.join(folder, "roster.yaml")
    with open(recording, "w") as out:
        out.write(RECORDING)
    run = subprocess.run([os.environ["MUSTER_CHECK"], program, "--options", '{"url": "http://roster.test/members"}', "--recording", recording],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    test.assertEqual(run.returncode, 0, run.stdout)
    test.assertRegex(run.stdout, r"\n[1-9]\d+ passed, 0 failed, 0 skipped\n$")
    test.assertRegex(run.stdout, re.compile(r"^backend\.recorded \.\.\. ok\n    note: 2 tasks", re.MULTILINE))

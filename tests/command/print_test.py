"""What people see of texts from elsewhere: a terminal shows them, and obeys none of them."""
import json
import os
import pty
import subprocess
import sys

from world import MUSTER, SOURCE, World, main

# ESC [2J, BEL, the C1 character CSI, DEL, RIGHT-TO-LEFT OVERRIDE and its end, an isolate, LINE SEPARATOR, carriage return, vertical tab.
NASTY = "\x1b[2J\x07\u009b31m\x7f\u202eevil\u202c\u2066\u2028\r\x0b"
SHOWN = "\\x1b[2J\\x07\\xc2\\x9b31m\\x7f\\xe2\\x80\\xaeevil\\xe2\\x80\\xac\\xe2\\x81\\xa6\\xe2\\x80\\xa8\\x0d\\x0b"

# A backend of somebody else's, which says what its option says.
PROGRAM = f"""#!{sys.executable}
import sys
sys.path.insert(0, {os.path.join(SOURCE, "sdk/python-backend/src")!r})
import muster_backend

NASTY = {NASTY!r}


class Talks:
    def __init__(self, options, host):
        self.do = options["do"]

    def resolve(self, call):
        if self.do == "fails":
            raise muster_backend.Failure(muster_backend.Code.UNAVAILABLE, "words " + NASTY, {{"hint": "advice " + NASTY}})
        if self.do == "goes on and on":
            raise muster_backend.Failure(muster_backend.Code.UNAVAILABLE, "m" * 300000, {{"hint": NASTY * 20000}})
        call.add_task("worker", 0, "one\\n" + NASTY, "10.0.0.1:8470")
        call.add_task("worker", 1, "two", "10.0.0.2:8470")
        call.add_warning("beware " + NASTY)


muster_backend.main(Talks, {{
    "name": "talks", "version": "1.0.0", "abi": {{"major": 1, "minor": 0}}, "description": "Says " + NASTY,
    "options": {{"type": "object", "additionalProperties": False, "properties": {{"do": {{"type": "string", "default": "", "description": "what " + NASTY}}}}}},
}})
"""


class Harmless(World):
    def config(self, do=""):
        program = self.file("talks", PROGRAM, 0o755)
        return self.file("m.yaml", "cluster: " + json.dumps({"backend": "talks", "command": [program], "options": {"do": do}}))

    def harmless(self, text, lines=True):
        for character in text:
            code = ord(character)
            bad = (code < 0x20 and not (lines and character in "\n\t")) or 0x7F <= code < 0xA0 or code in (0x2028, 0x2029) \
                or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
            self.assertFalse(bad, f"U+{code:04X} in {text[:300]!r}")

    def test_an_error_and_its_hint_are_shown_and_not_obeyed(self):
        run = self.muster("resolve", "-f", self.config("fails"), status=14)
        self.harmless(run.stderr)
        self.assertIn("words " + SHOWN[:8], run.stderr)
        self.assertIn("advice " + SHOWN[:8], run.stderr)

    def test_one_without_end_is_cut(self):
        run = self.muster("resolve", "-f", self.config("goes on and on"), status=None)
        self.assertNotEqual(run.returncode, 0)
        self.harmless(run.stderr)
        self.assertLess(len(run.stderr), 400000)

    def test_names_and_addresses_have_a_line_for_each_task(self):
        path = self.config()
        names = self.muster("resolve", "-f", path, "-o", "names")
        self.harmless(names.stdout)
        self.harmless(names.stderr)
        self.assertEqual(names.stdout.splitlines(), ["one\\x0a" + SHOWN, "two"])
        self.assertEqual(len(self.muster("resolve", "-f", path, "-o", "addresses").stdout.splitlines()), 2)

    def test_json_says_the_name_as_it_is(self):
        answer = self.answer("-f", self.config())
        self.assertEqual([task["name"] for task in answer["tasks"]], ["one\n" + NASTY, "two"])

    def test_what_people_read_on_a_terminal_has_no_more_than_its_colours(self):
        path = self.config()
        for words in (["resolve", "-f", path], ["explain", "-f", path], ["resolve", "-f", path, "-o", "yaml"], ["resolve", "-f", path, "-o", "json"], ["plugins", "trace", "-f", path],
                      ["config", "check", "-f", path], ["resolve", "-f", path, "-vv"]):
            with self.subTest(words):
                own, other = pty.openpty()
                process = subprocess.Popen([MUSTER, *words], env=self.environment(TERM="xterm", NO_COLOR="1"), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=other, stderr=other)
                os.close(other)
                shown = b""
                while True:
                    try:
                        piece = os.read(own, 65536)
                    except OSError:
                        break
                    if not piece:
                        break
                    shown += piece
                os.close(own)
                process.wait(20)
                # The terminal itself makes CR LF of each LF; the live line goes back to its beginning and clears it.
                self.harmless(shown.decode().replace("\r\n", "\n").replace("\r\x1b[K", ""))
                self.assertIn({"config": "right", "explain": "worker: 2 found"}.get(words[0], "10.0.0.1"), shown.decode())

    def test_a_command_line_is_shown_harmless_too(self):
        for words in (["resolve", "--backend", NASTY], ["resolve", "--" + NASTY], [NASTY], ["resolve", "-f", NASTY], ["resolve", "--backend", "static", "-O", NASTY],
                      ["resolve", "--backend", "static", "-o", NASTY], ["plugins", "describe", NASTY], ["plugins", "new", NASTY, "--lang", "c"], ["plan", "--members", NASTY]):
            with self.subTest(words):
                run = self.muster(*words, status=None)
                self.assertNotEqual(run.returncode, 0)
                self.harmless(run.stderr)
                self.assertEqual(run.stdout, "")

    def test_a_recording_that_cannot_be_read_is_told_harmlessly(self):
        for number, text in enumerate((f"muster_recording: 1\n\"{NASTY}\": 1\n", f"muster_recording: {NASTY}\n", NASTY, f"muster_recording: 1\nresolvers: {{\"a\\e[2J\": \"\\a\"}}\n")):
            with self.subTest(number):
                with open(os.path.join(self.folder, "r.yaml"), "w", newline="") as file:
                    file.write(text)
                run = self.muster("resolve", "--backend", "static", "-O", "cluster_spec={w: ['a:1']}", "--replay", "r.yaml", status=12)
                self.harmless(run.stderr)


if __name__ == "__main__":
    main()

"""What a terminal shows, and what a signal ends."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from world import MUSTER, OVERHEAD, STATIC, TOKEN, World, cloud, kubernetes, main


class Terminal(World):
    def start(self, *words, env=None, tty="stderr", columns=100, **more):
        """The command with one of its outputs on a terminal, which is read until it ends."""
        main_end, other_end = pty.openpty()
        fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, tty: other_end}
        process = subprocess.Popen([MUSTER, *words], env=self.environment(**{"TERM": "xterm", **(env or {})}), cwd=self.folder,
                                   stdin=subprocess.DEVNULL, **streams, **more)
        os.close(other_end)
        self.addCleanup(os.close, main_end)
        return process, main_end

    def shown(self, *words, **more):
        process, terminal = self.start(*words, **more)
        shown = self.read_until(terminal, lambda _: False)
        process.communicate(timeout=30)
        self.assertNotIn(TOKEN, shown)
        return process.returncode, shown

    def read_until(self, terminal, enough, seconds=30):
        text, end = b"", time.monotonic() + seconds
        while time.monotonic() < end and not enough(text.decode(errors="replace")):
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            text += piece
        return text.decode(errors="strict")

    def test_colour_is_for_a_terminal_alone(self):
        path = self.file("m.yaml", STATIC)
        words = ["resolve", "-f", path, "--expect", "worker=3"]
        self.assertIn("\x1b[", self.shown(*words, tty="stdout")[1])
        self.assertNotIn("\x1b", self.muster(*words, status=10, env={"TERM": "xterm"}).stdout)

    def test_no_colour_with_the_flag_with_NO_COLOR_or_on_a_dumb_terminal(self):
        path = self.file("m.yaml", STATIC)
        for words, env in ((["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
            with self.subTest(words=words, env=env):
                self.assertNotIn("\x1b", self.shown("resolve", "-f", path, *words, env=env, tty="stdout")[1])

    def test_a_quick_answer_shows_no_line(self):
        self.assertEqual(self.shown("resolve", "-f", self.file("m.yaml", STATIC)), (0, ""))

    def test_the_live_line_says_what_for_and_how_long_and_goes_away(self):
        with cloud("delay: 1500ms, times: 1") as sim:
            status, shown = self.shown("resolve", *kubernetes(sim), "--timeout", "20s", columns=400)
        self.assertEqual(status, 0)
        self.assertRegex(shown, r"muster: [01] s, (19|20) s left, waiting for kubernetes \(cluster\): .*GET 127\.0\.0\.1")
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown[-60:]))

    def test_the_live_line_is_cut_to_the_terminal(self):
        with cloud("delay: 1s, times: 1") as sim:
            shown = self.shown("resolve", *kubernetes(sim), columns=40)[1]
        lines = re.findall(r"\x1b\[K([^\r\x1b]+)", shown)
        self.assertTrue(lines)
        self.assertEqual({len(line) for line in lines}, {39})
        self.assertNotIn("\n", shown)

    def test_there_is_no_live_line_on_a_pipe_nor_with_quiet(self):
        with cloud("delay: 1s") as sim:
            self.assertEqual(self.muster("resolve", *kubernetes(sim), "-o", "names", env={"TERM": "xterm"}).stderr, "")
            self.assertEqual(self.shown("resolve", *kubernetes(sim), "-q")[1], "")

    def test_a_signal_ends_a_wait_at_once_by_the_signal_and_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), cloud("delay: 20s") as sim:
                words = ["resolve", *kubernetes(sim), "--record", os.path.join(self.folder, "record.yaml")]
                process = subprocess.Popen([MUSTER, *words], env=self.environment(), cwd=self.folder,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.wait_for_request(process)
                children = open(f"/proc/{process.pid}/task/{process.pid}/children").read()
                begin = time.monotonic()
                process.send_signal(number)
                out, err = process.communicate(timeout=30)
                self.assertLess(time.monotonic() - begin, 1 + OVERHEAD)
                self.assertEqual((process.returncode, out, err, children), (-number, "", "", ""))
                self.assertLessEqual(set(os.listdir(self.folder)), {"record.yaml"})

    def test_a_signal_ends_a_plugin_that_hangs_too(self):
        process = subprocess.Popen([MUSTER, "resolve", "--plugin-dir", self.plugin("bad"), "--backend", "bad", "-O", "do=hangs"],
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.3 + OVERHEAD / 4)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertLess(time.monotonic() - begin, 1 + OVERHEAD)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_an_ignored_signal_stays_ignored(self):
        with cloud("delay: 1s, times: 1") as sim:
            process = subprocess.Popen([MUSTER, "resolve", *kubernetes(sim), "-o", "names"], env=self.environment(),
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
            self.wait_for_request(process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            self.assertEqual((process.returncode, err), (0, b""))
            self.assertIn(b"w-0", out)

    def wait_for_request(self, process):
        """Until the transport is loaded and there is a connection: its socket is open."""
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                links = [os.readlink(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")]
            except OSError:
                links = []
            if any(link.startswith("socket:") for link in links):
                time.sleep(0.1)
                return
            time.sleep(0.01)
        self.fail("no connection was made")


if __name__ == "__main__":
    main()

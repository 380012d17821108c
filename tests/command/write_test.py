"""What the command writes: a file is replaced at once or stays as it was, and nothing else is touched."""
import array
import fcntl
import json
import os
import resource
import signal
import stat
import subprocess
import termios
import time

from world import MUSTER, OVERHEAD, World, main
from watch_world import WatchWorld


class Refused(WatchWorld):
    def test_a_fifo_a_directory_and_a_device_are_refused_before_anything_is_asked_or_written(self):
        self.roster("worker 0 a:1")
        os.mkfifo(os.path.join(self.folder, "pipe"))
        os.mkdir(os.path.join(self.folder, "directory"))
        os.symlink("pipe", os.path.join(self.folder, "link"))
        before = sorted(os.listdir(self.folder))
        for name, kind in (("pipe", "a FIFO"), ("link", "a FIFO"), ("directory", "a directory"), ("/dev/full", "a device"), ("/dev/null", "a device")):
            for words in (["watch", "--write", name], ["resolve", "--record", name]):
                with self.subTest(name=name, words=words):
                    run = self.muster(*words, "--backend", "static", "-O", "file=roster", status=None, timeout=20)
                    self.assertIn(run.returncode, (2, 12), run)
                    self.assertEqual(run.stdout, "")
                    self.assertIn(f"'{name}' is {kind}, not a regular file", run.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.assertTrue(stat.S_ISFIFO(os.lstat(os.path.join(self.folder, "pipe")).st_mode))
        self.assertTrue(stat.S_ISLNK(os.lstat(os.path.join(self.folder, "link")).st_mode))
        for device in ("/dev/null", "/dev/full"):
            self.assertTrue(stat.S_ISCHR(os.lstat(device).st_mode))

    def test_a_state_file_that_is_a_fifo_is_refused_too(self):
        self.roster("worker 0 a:1")
        os.mkfifo(os.path.join(self.folder, "hosts.state"))
        run = self.muster("watch", "--backend", "static", "-O", "file=roster", "-o", "addresses", "--write", "hosts", status=2)
        self.assertIn("'hosts.state' is a FIFO", run.stderr)

    def test_a_directory_that_is_not_there_is_named(self):
        self.roster("worker 0 a:1")
        for words, status in ((["watch", "--write", "nowhere/x"], 2), (["resolve", "--record", "nowhere/x"], 12)):
            run = self.muster(*words, "--backend", "static", "-O", "file=roster", status=status)
            self.assertIn("'nowhere/x' cannot be written: the directory 'nowhere' does not exist", run.stderr)
            self.assertEqual(run.stdout, "")


class Replaced(WatchWorld):
    def test_of_a_symbolic_link_the_target_is_written_and_the_link_stays(self):
        os.mkdir(os.path.join(self.folder, "deep"))
        os.symlink("deep/hosts", os.path.join(self.folder, "link"))
        self.roster("worker 0 a:1")
        process = self.watch("-o", "addresses", "--write", "link")
        self.until(lambda: self.content("deep/hosts") == "a:1\n", process)
        self.roster("worker 0 b:1")
        self.until(lambda: self.content("deep/hosts") == "b:1\n", process)
        self.assertEqual(os.readlink(os.path.join(self.folder, "link")), "deep/hosts")
        self.assertEqual(os.listdir(os.path.join(self.folder, "deep")), ["hosts"])

    def test_a_recording_goes_through_a_link_too(self):
        self.file("there.yaml", "old")
        os.symlink("there.yaml", os.path.join(self.folder, "r.yaml"))
        self.roster("worker 0 a:1")
        self.muster("resolve", "--backend", "static", "-O", "file=roster", "--record", "r.yaml")
        self.assertTrue(os.path.islink(os.path.join(self.folder, "r.yaml")))
        self.assertIn("muster_recording", self.content("there.yaml"))


class NoRoom(WatchWorld):
    """A limit of the file size stands for a full disk: each write beyond it fails, and by itself it is a signal that ends the process."""

    def limited(self, *words, size):
        return subprocess.Popen([MUSTER, *words], env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY)))

    def test_an_answer_whose_recording_is_lost_is_printed_and_the_loss_is_told_with_17(self):
        self.roster("worker 0 a:1")
        process = self.limited("resolve", "--backend", "static", "-O", "file=roster", "-o", "addresses", "--record", "r.yaml", size=100)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, out), (17, "a:1\n"), err)
        self.assertRegex(err, "this resolve is not recorded: '.*r.yaml' cannot be written: File too large")
        self.assertEqual(os.listdir(self.folder), ["roster"])

    def test_an_incomplete_answer_stays_10_and_a_failed_resolve_keeps_its_status(self):
        self.roster("worker 0 a:1")
        for words, status in ((["--expect", "worker=2", "-O", "file=roster"], 10), (["-O", "file=none"], 11)):
            process = self.limited("resolve", "--backend", "static", *words, "-o", "json", "--record", "r.yaml", size=50)
            err = process.communicate(timeout=20)[1]
            self.assertEqual(process.returncode, status, err)
            self.assertIn("this resolve is not recorded", err)

    def test_a_file_that_cannot_be_written_is_told_once_and_tried_again_until_it_can(self):
        self.roster(*(f"worker {n} a{n}:1" for n in range(200)))
        process = subprocess.Popen([MUSTER, "watch", "--backend", "static", "-O", "file=roster", "--interval", "100ms", "-o", "addresses", "--write", "hosts"],
                                   env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY)))
        self.read(process)
        self.until(lambda: any("'hosts' cannot be written: File too large" in line for line in process.talk), process)
        self.assertIsNone(process.poll())
        # Its state was small enough: nobody is told that the file is fresh.
        self.until(lambda: "cannot be written" in (self.content("hosts.state") or ""), process)
        self.assertEqual(json.loads(self.content("hosts.state"))["state"], "stale")
        time.sleep(1.5)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.until(lambda: (self.content("hosts") or "").count("\n") == 200, process)
        self.until(lambda: json.loads(self.content("hosts.state"))["state"] == "fresh", process)
        self.until(lambda: any("written again" in line for line in process.talk), process)
        self.assertEqual(sum("cannot be written" in line for line in process.talk), 1, process.talk)
        self.assertEqual(sorted(os.listdir(self.folder)), ["hosts", "hosts.state", "roster"])

    def test_a_state_that_cannot_be_written_either_does_not_vouch_for_an_old_answer(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "addresses", "--write", "hosts")
        self.until(lambda: self.state("hosts").get("state") == "fresh", process)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
        self.roster("worker 0 bbbbbbbbbbbbbbbbbbbbbbbb:1")
        self.until(lambda: any("cannot be written" in line for line in process.talk), process)
        self.until(lambda: self.content("hosts.state") is None, process)
        self.assertEqual(self.content("hosts"), "a:1\n")
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.until(lambda: self.state("hosts").get("state") == "fresh" and "bbb" in self.content("hosts"), process)


class Stdout(World):
    ANSWER = ["resolve", "--backend", "static", "-O", "cluster_spec={w: ['a:1']}"]

    def test_a_full_stdout_has_words_of_its_own_and_status_17(self):
        with open("/dev/full", "w") as full:
            for words in (self.ANSWER, ["explain", *self.ANSWER[1:]], ["version"], ["plugins", "list"], ["--help"],
                          ["watch", *self.ANSWER[1:], "-o", "addresses"]):
                with self.subTest(words):
                    run = self.muster(*words, stdout=full, status=17)
                    self.assertIn("muster: the answer cannot be written to standard output: No space left on device", run.stderr)

    def test_a_closed_stdout_says_so(self):
        run = subprocess.run([MUSTER, *self.ANSWER], env=self.environment(), stderr=subprocess.PIPE, text=True, preexec_fn=lambda: os.close(1), timeout=20)
        self.assertEqual(run.returncode, 17)
        self.assertIn("standard output: Bad file descriptor (it is closed)", run.stderr)


class Unread(World):
    """Nobody reads what is written."""

    def stuck(self, *words):
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        process = subprocess.Popen([MUSTER, *words], env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + 20
        state = ""
        # Until it sleeps, with its pipe full.
        while time.monotonic() < end:
            with open(f"/proc/{process.pid}/stat") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
            waiting = self.unread(read)
            if state == "S" and waiting >= 60000 and waiting == self.unread(read):
                time.sleep(0.2)
                return process
            time.sleep(0.05)
        self.fail(f"its pipe has {self.unread(read)} bytes, its state is {state}")

    def unread(self, descriptor):
        size = array.array("i", [0])
        fcntl.ioctl(descriptor, termios.FIONREAD, size)
        return size[0]

    def ends_by(self, process, number):
        begin = time.monotonic()
        process.send_signal(number)
        self.assertEqual(process.wait(20), -number)
        self.assertLess(time.monotonic() - begin, 1 + OVERHEAD)

    def test_the_first_signal_ends_a_command_whose_answer_nobody_reads(self):
        self.file("roster", "".join(f"worker {n} host-with-a-long-name-{n}:1\n" for n in range(5000)))
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                self.ends_by(self.stuck("watch", "--backend", "static", "-O", "file=roster", "-o", "addresses"), number)

    def test_the_first_signal_ends_a_watch_whose_words_nobody_reads(self):
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        os.set_blocking(write, False)
        try:
            while os.write(write, b"x" * 4096):
                pass
        except BlockingIOError:
            os.set_blocking(write, True)
        # There is no roster, which it has to say.
        process = subprocess.Popen([MUSTER, "watch", "--backend", "static", "-O", "file=roster"], env=self.environment(), cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=write)
        os.close(write)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        time.sleep(0.5 + OVERHEAD / 2)
        self.assertIsNone(process.poll())
        self.ends_by(process, signal.SIGTERM)


if __name__ == "__main__":
    main()

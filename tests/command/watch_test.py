"""muster watch: each answer as it changes."""
import json
import os
import signal
import stat
import time

from watch_world import WatchWorld
from world import OVERHEAD, main


class Watch(WatchWorld):
    def test_each_change_is_printed_behind_an_empty_line(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "addresses")
        self.until(lambda: process.lines == ["a:1\n"], process)
        self.roster("worker 0 a:1", "worker 1 b:1")
        self.until(lambda: process.lines == ["a:1\n", "\n", "a:1\n", "b:1\n"], process)
        self.assertEqual(process.talk, [])

    def test_yaml_is_a_stream_of_documents(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "yaml")
        self.until(lambda: process.lines, process)
        self.roster("worker 0 b:1")
        self.until(lambda: "---\n" in process.lines, process)

    def test_a_file_is_replaced_at_once_with_the_mode_of_any_new_file(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "json", "--write", "answer.json", umask=0o027)
        self.until(lambda: self.content("answer.json"), process)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.folder, "answer.json")).st_mode), 0o640)
        with open(os.path.join(self.folder, "answer.json")) as before:
            self.roster("worker 0 b:1")
            self.until(lambda: "b:1" in self.content("answer.json"), process)
            self.assertEqual(json.load(before)["cluster"], {"worker": ["a:1"]})
        self.assertEqual(sorted(os.listdir(self.folder)), ["answer.json", "roster"])
        self.assertEqual(process.lines, [])

    def test_a_file_is_on_the_disk_before_its_name_and_its_name_before_the_next(self):
        library = os.environ["SYNC_LOG_LIBRARY"]
        if not library:
            self.skipTest("a sanitizer is before the C library")
        log = os.path.join(self.folder, "log")
        self.roster("worker 0 a:1")
        process = self.watch("-o", "json", "--write", "hosts", LD_PRELOAD=library, SYNC_LOG=log)
        for n in range(2):
            self.until(lambda: (self.content("log") or "").count("\n") == 3 * n + 3, process)
            first, second, third = self.content("log").splitlines()[3 * n:]
            folder = os.path.realpath(self.folder)
            self.assertRegex(first, f"^fsync {folder}/hosts\\.[^./]+$")
            self.assertEqual((second, third), ("rename hosts", f"fsync {folder}"))
            self.roster("worker 0 b:1")

    def test_until_complete_prints_the_first_complete_answer_alone_and_ends(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "addresses", "--expect", "worker=2", "--until-complete")
        self.until(lambda: any("worker 1 of 2" in line for line in process.talk), process)
        self.assertEqual(process.lines, [])
        self.roster("worker 0 a:1", "worker 1 b:1")
        self.assertEqual(process.wait(20), 0)
        self.until(lambda: process.lines == ["a:1\n", "b:1\n"], process)

    def test_an_incomplete_answer_that_the_format_cannot_say_leaves_the_file_as_it_was(self):
        self.roster("worker 0 a:1", "worker 1 b:1")
        process = self.watch("-o", "addresses", "--expect", "worker=2", "--write", "hosts")
        self.until(lambda: self.content("hosts") == "a:1\nb:1\n", process)
        self.roster("worker 0 a:1")
        self.until(lambda: any("worker 1 of 2" in line for line in process.talk), process)
        self.assertEqual(self.content("hosts"), "a:1\nb:1\n")
        self.assertIsNone(process.poll())

    def test_before_the_first_answer_what_may_pass_is_told_once_and_waited_out(self):
        process = self.watch("-o", "addresses")
        self.until(lambda: process.talk, process)
        time.sleep(1)
        self.assertEqual(sum("does not exist" in line for line in process.talk), 1, process.talk)
        self.roster("worker 0 a:1")
        self.until(lambda: process.lines == ["a:1\n"], process)

    def test_what_stays_wrong_ends_it_with_its_status(self):
        self.roster("worker 0 a:1:2")
        process = self.watch()
        self.assertEqual(process.wait(20), 12)
        self.assertEqual(self.muster("watch", "--backend", "static", "-O", "fil=x", status=12).stdout, "")
        self.assertEqual(self.muster("watch", "--backend", "static", "-O", "file=x", "-o", "cluster_def_binary", status=2).stdout, "")

    def test_a_signal_ends_it_at_once_by_the_signal(self):
        self.roster("worker 0 a:1")
        process = self.watch("-o", "addresses")
        self.until(lambda: process.lines, process)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(20), -signal.SIGTERM)
        self.assertLess(time.monotonic() - begin, 1 + OVERHEAD)


main()

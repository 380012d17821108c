#!/usr/bin/env python3
"""Whose plugins are loaded: every rule of finding one, with its message, as root and as a plain user.

    python3 trust_test.py MUSTER LIBMUSTER PLUGIN SOURCE_ROOT "CC"

The messages are in golden/; `TRUST_GOLDEN=write` writes them anew. What takes another user or a raised privilege is skipped where this
process may not make one.
"""
import hashlib
import json
import os
import pwd
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

MUSTER, LIBMUSTER, PLUGIN, SOURCE = (os.path.abspath(sys.argv.pop(1)) for _ in range(4))
CC = sys.argv.pop(1).split()
GOLDEN = os.path.join(SOURCE, "tests/trust/golden")
ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")
DAEMON = pwd.getpwnam("daemon")  # somebody else
PROGRAMS = tempfile.mkdtemp(prefix="muster-trust.", dir="/tmp")  # where a plain user may run them, wherever they were built
FILE = "libmuster-static.so"
OPTIONS = ["-O", 'cluster_spec={worker: ["w-0:2222"]}']


def setUpModule():
    global MUSTER, LIBMUSTER
    unittest.addModuleCleanup(shutil.rmtree, PROGRAMS)
    os.chmod(PROGRAMS, 0o755)
    library = shutil.copy(LIBMUSTER, os.path.join(PROGRAMS, "libmuster.so.1"))
    for folder in ("bin", "muster"):
        os.mkdir(os.path.join(PROGRAMS, folder), 0o755)
    # What belongs to a plain user is not loaded into a process of root's libmuster.
    shutil.copy(os.path.join(os.path.dirname(LIBMUSTER), "isolate/child/muster-isolate"), os.path.join(PROGRAMS, "muster"))
    MUSTER, LIBMUSTER = shutil.copy(MUSTER, os.path.join(PROGRAMS, "bin")), library


class Trust(unittest.TestCase):
    """As who runs the test. The class below is the same as a plain user, where this is root."""
    maxDiff = None
    user = None  # of the command; None: this process's own

    def setUp(self):
        base = tempfile.mkdtemp(prefix="muster-trust.", dir="/tmp")
        self.addCleanup(shutil.rmtree, base)
        os.chmod(base, 0o755)
        self.folder = os.path.join(base, "f")
        os.mkdir(self.folder, 0o755)
        self.own(self.folder)
        self.plugin = self.install(self.folder)

    def own(self, path, user=None):
        """Gives it to the user of the command, or to another one."""
        user = user or self.user
        if user is not None:
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)

    def install(self, folder, name=FILE):
        path = os.path.join(folder, name)
        shutil.copyfile(PLUGIN, path)
        os.chmod(path, 0o644)
        self.own(path)
        return path

    def make(self, name, mode=0o755, user=None):
        path = os.path.join(self.folder, name)
        os.mkdir(path)
        os.chmod(path, mode)
        self.own(path, user)
        return path

    def link(self, target, name):
        path = os.path.join(self.folder, name)
        os.symlink(target, path)
        self.own(path)
        return path

    def run_as_user(self, command, env=None, cwd="/"):
        def become():
            if self.user is not None:
                os.setgroups([])
                os.setresgid(self.user.pw_gid, self.user.pw_gid, self.user.pw_gid)
                os.setresuid(self.user.pw_uid, self.user.pw_uid, self.user.pw_uid)
        return subprocess.run(command, env={"LD_LIBRARY_PATH": PROGRAMS, **(env or {})}, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, preexec_fn=become)

    def resolve(self, *arguments, env=None, cwd="/"):
        return self.run_as_user([MUSTER, "resolve", "--backend", "static", *OPTIONS, "-o", "addresses", *arguments], env, cwd)

    def golden(self, name, text):
        """The text is that of golden/NAME, with the words of this run taken out."""
        uid = os.geteuid() if self.user is None else self.user.pw_uid
        who = pwd.getpwuid(uid).pw_name
        text = text.replace(os.path.dirname(self.folder), "/BASE")
        text = re.sub(rf"'{re.escape(who)}' \({uid}\)", "'USER' (UID)", text)
        text = re.sub(rf"\bchown {uid} ", "chown UID ", text)
        text = text.replace(PROGRAMS, "/PROGRAMS")
        text = re.sub(r"('/usr/local/lib/muster/plugins'): (no such file|does not exist)", r"\1: NOTHING", text)
        text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", text)
        path = os.path.join(GOLDEN, name)
        if os.environ.get("TRUST_GOLDEN") == "write":
            os.makedirs(GOLDEN, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(text, file.read())

    def refused(self, name, status, *arguments, **more):
        run = self.resolve(*arguments, **more)
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertEqual(run.stdout, "")
        self.golden(name, run.stderr)

    def taken(self, *arguments, **more):
        run = self.resolve(*arguments, **more)
        self.assertEqual((run.returncode, run.stdout), (0, "w-0:2222\n"), run.stderr)

    # ---- owner and mode ----

    def test_a_file_of_ones_own_is_taken(self):
        self.taken("--plugin-dir", self.folder)

    def test_a_file_that_its_group_can_write(self):
        os.chmod(self.plugin, 0o664)
        self.refused("group_writable", 13, "--plugin-dir", self.folder)

    def test_a_file_that_all_can_write(self):
        os.chmod(self.plugin, 0o666)
        self.refused("writable_by_all", 13, "--plugin-dir", self.folder)

    def test_a_sticky_file_is_no_sticky_directory(self):
        os.chmod(self.plugin, 0o1666)
        self.refused("sticky_file", 13, "--plugin-dir", self.folder)

    @unittest.skipUnless(ROOT, "only root can make a file of another user")
    def test_a_file_of_somebody_else(self):
        self.own(self.plugin, DAEMON)
        self.refused("other_owner_for_root" if self.user is None else "other_owner", 13, "--plugin-dir", self.folder)

    @unittest.skipUnless(ROOT, "only root can make a file of root")
    def test_a_file_of_root_is_taken(self):
        os.chown(self.plugin, 0, 0)
        self.taken("--plugin-dir", self.folder)

    # ---- whether in this process ----

    def explained(self):
        return self.run_as_user([MUSTER, "explain", "--backend", "static", *OPTIONS, "--plugin-dir", self.folder]).stdout

    def test_what_only_the_owner_of_libmuster_could_change_runs_in_process_and_else_isolated(self):
        if self.user is None:
            self.assertIn("\n    in process: its file and folders belong to root or the owner of libmuster, and it needs only", self.explained())
        else:
            self.assertIn(f"\n    isolated: '{self.plugin}' belongs neither to root nor to the owner of libmuster\n", self.explained())

    @unittest.skipUnless(ROOT, "only root can make a file of root")
    def test_a_folder_of_somebody_else_counts_as_the_file_does(self):
        os.chown(self.plugin, 0, 0)
        if self.user is not None:
            self.assertIn(f"\n    isolated: '{self.folder}' belongs neither to root nor to the owner of libmuster\n", self.explained())
        os.chown(self.folder, 0, 0)
        self.assertIn("\n    in process: ", self.explained())

    # ---- parents ----

    def test_a_parent_that_all_can_write(self):
        inner = os.path.join(self.make("open", 0o777), "inner")
        os.mkdir(inner, 0o755)
        self.own(inner)
        self.install(inner)
        self.refused("writable_parent", 13, "--plugin-dir", inner)

    def test_a_sticky_parent_that_all_can_write_does_not_count(self):
        inner = os.path.join(self.make("tmp", 0o1777), "inner")
        os.mkdir(inner, 0o755)
        self.own(inner)
        self.install(inner)
        self.taken("--plugin-dir", inner)

    @unittest.skipUnless(ROOT, "only root can make a directory of another user")
    def test_a_parent_of_somebody_else(self):
        inner = self.make("theirs", 0o755, DAEMON)
        self.install(inner)
        self.refused("parent_of_another_for_root" if self.user is None else "parent_of_another", 13, "--plugin-dir", inner)

    # ---- links ----

    def test_a_link_to_a_good_file_is_followed(self):
        real = self.install(self.make("real"), "anything.so")
        os.unlink(self.plugin)
        self.link(real, FILE)
        self.taken("--plugin-dir", self.folder)

    def test_a_link_that_goes_up_is_followed(self):
        self.install(self.make("real"), "anything.so")
        way = self.make("way")
        self.link("../real/../real/anything.so", os.path.join("way", FILE))
        self.taken("--plugin-dir", way)

    def test_a_link_whose_end_is_in_an_open_directory(self):
        real = self.install(self.make("open", 0o777), "anything.so")
        os.unlink(self.plugin)
        self.link(real, FILE)
        self.refused("link_into_open", 13, "--plugin-dir", self.folder)

    def test_links_over_links_are_followed_to_their_end(self):
        real = self.install(self.make("open", 0o777), "anything.so")
        second = self.link(real, "second.so")
        os.unlink(self.plugin)
        self.link(second, FILE)
        self.refused("link_over_link", 13, "--plugin-dir", self.folder)

    def test_a_linked_directory_counts_where_it_leads(self):
        self.install(self.make("open", 0o777))
        self.link(os.path.join(self.folder, "open"), "way")
        self.refused("linked_directory", 13, "--plugin-dir", os.path.join(self.folder, "way"))

    def test_a_circle_of_links_ends(self):
        os.unlink(self.plugin)
        self.link(self.plugin, "other.so")
        self.link(os.path.join(self.folder, "other.so"), FILE)
        self.refused("circle", 12, "--plugin-dir", self.folder)

    @unittest.skipUnless(ROOT, "only root can make a link of another user")
    def test_a_link_of_somebody_else(self):
        real = self.install(self.make("real"), "anything.so")
        os.unlink(self.plugin)
        self.own(self.link(real, FILE), DAEMON)
        self.refused("link_of_another_for_root" if self.user is None else "link_of_another", 13, "--plugin-dir", self.folder)

    # ---- pins ----

    def config(self, pins):
        path = os.path.join(self.folder, "muster.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write("cluster: {backend: static, options: {cluster_spec: {worker: [\"w-0:2222\"]}}}\n"
                       f"plugins: {{search: [{self.folder}], sha256: {pins}}}\n")
        self.own(path)
        return path

    def with_pins(self, pins):
        return self.run_as_user([MUSTER, "resolve", "-f", self.config(pins), "-o", "addresses"])

    def test_the_pinned_file_is_taken(self):
        with open(PLUGIN, "rb") as file:
            hash_of_it = hashlib.sha256(file.read()).hexdigest()
        for pin in (hash_of_it, hash_of_it.upper()):
            run = self.with_pins("{static: '%s'}" % pin)
            self.assertEqual(run.stdout, "w-0:2222\n", run.stderr)

    def test_a_pin_for_a_different_file(self):
        run = self.with_pins("{static: '%s'}" % ("0" * 64))
        self.assertEqual(run.returncode, 13, run.stderr)
        self.golden("other_pin", run.stderr)

    def test_a_pin_that_is_none(self):
        run = self.with_pins("{static: abc}")
        self.assertEqual(run.returncode, 12, run.stderr)
        self.golden("no_pin", run.stderr)

    # ---- executables ----

    def install_program(self, mode=0o755):
        """In the place of the plugin: one that would leave a trace of having run."""
        os.unlink(self.plugin)
        self.trace = os.path.join(self.make("traces", 0o777), "ran")
        path = os.path.join(self.folder, "muster-backend-static")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\ntouch {self.trace}\n")
        os.chmod(path, mode)
        self.own(path)
        return path

    def program_refused(self, name, *arguments):
        self.refused(name, 13, *arguments)
        self.assertFalse(os.path.exists(self.trace))

    def test_a_program_that_is_trusted_is_run(self):
        self.install_program()
        self.resolve("--plugin-dir", self.folder)
        self.assertTrue(os.path.exists(self.trace))

    def test_a_program_that_its_group_can_write_is_not_run(self):
        self.install_program(0o775)
        self.program_refused("program_group_writable", "--plugin-dir", self.folder)

    @unittest.skipUnless(ROOT, "only root can make a file of another user")
    def test_a_program_of_somebody_else_is_not_run(self):
        self.own(self.install_program(), DAEMON)
        self.program_refused("program_of_another_for_root" if self.user is None else "program_of_another", "--plugin-dir", self.folder)

    def test_a_program_that_may_not_be_run_says_what_to_do(self):
        self.install_program(0o644)
        self.program_refused("program_not_executable", "--plugin-dir", self.folder)

    def test_a_pin_for_a_different_program(self):
        self.install_program()
        run = self.with_pins("{static: '%s'}" % ("0" * 64))
        self.assertEqual(run.returncode, 13, run.stderr)
        self.assertFalse(os.path.exists(self.trace))
        self.golden("other_program_pin", run.stderr)

    # ---- the plugin path ----

    def test_an_empty_and_a_relative_element_are_passed_over_and_told(self):
        self.install(self.make("rel"))
        self.refused("path_elements", 12, env={"MUSTER_PLUGIN_PATH": f"rel::{self.folder}/none"}, cwd=self.folder)

    def test_the_working_directory_is_never_looked_in(self):
        self.refused("unset_path", 12, cwd=self.folder)

    def test_the_same_file_in_another_place_is_not_shadowed(self):
        other = self.make("other")
        self.link(self.plugin, os.path.join("other", FILE))
        def shadowed():
            run = self.run_as_user([MUSTER, "plugins", "describe", "static", "--json", "--plugin-dir", self.folder, "--plugin-dir", other])
            return json.loads(run.stdout)["shadowed"]
        self.assertEqual(shadowed(), [])
        os.unlink(os.path.join(other, FILE))
        self.install(other)
        self.assertEqual(shadowed(), [os.path.join(other, FILE)])

    def test_the_first_place_decides_also_when_it_is_not_trusted(self):
        os.chmod(self.install(self.make("first")), 0o666)
        self.refused("first_decides", 13, "--plugin-dir", os.path.join(self.folder, "first"), "--plugin-dir", self.folder)


@unittest.skipUnless(ROOT, "only root can become another user")
class TrustOfAPlainUser(Trust):
    user = NOBODY


@unittest.skipUnless(ROOT, "only root can raise a program's privileges")
class RaisedPrivileges(unittest.TestCase):
    """AT_SECURE: the environment and the user's directory say nothing, and the message says so."""
    maxDiff = None
    golden = Trust.golden
    user = NOBODY

    def setUp(self):
        base = tempfile.mkdtemp(prefix="muster-trust.", dir="/tmp")
        self.addCleanup(shutil.rmtree, base)
        os.chmod(base, 0o755)
        self.folder = os.path.join(base, "f")
        places = os.path.join(self.folder, "home/.local/share/muster/plugins")
        os.makedirs(places)
        for folder in (self.folder, places):
            shutil.copyfile(PLUGIN, os.path.join(folder, "libmuster-static.so"))
        self.libmuster = os.path.join(self.folder, "libmuster.so")
        shutil.copyfile(LIBMUSTER, self.libmuster)
        self.launcher = os.path.join(self.folder, "secure")
        subprocess.run([*CC, "-D_GNU_SOURCE", "-I" + os.path.join(SOURCE, "core/include"), os.path.join(SOURCE, "tests/trust/secure.c"),
                        "-ldl", "-o", self.launcher], check=True, timeout=60)

    def open(self, *more):
        env = {"MUSTER_PLUGIN_PATH": self.folder, "HOME": os.path.join(self.folder, "home"),
               "XDG_DATA_HOME": os.path.join(self.folder, "home/.local/share")}
        run = subprocess.run([self.launcher, self.libmuster, "static", *more], env=env, capture_output=True, text=True, timeout=60,
                             user=NOBODY.pw_uid, group=NOBODY.pw_gid, extra_groups=[], cwd=self.folder)
        first, _, rest = run.stdout.partition("\n")
        return first, rest

    def test_without_them_the_environment_counts(self):
        self.assertEqual(self.open()[0], "AT_SECURE 0")
        self.assertNotIn("AT_SECURE", self.open()[1])

    def ignored(self, what):
        first, said = self.open()
        if first != "AT_SECURE 1":
            self.skipTest(f"{what} raises nothing in {self.folder}: {first}")
        self.golden("raised_privileges", said)
        # What the program itself says still counts, and the log says what does not.
        self.golden("raised_privileges_log", self.open(self.folder)[1])

    def test_a_set_user_id_program_ignores_environment_and_user(self):
        os.chmod(self.launcher, 0o4755)
        self.ignored("the set-user-ID bit")

    def test_a_program_with_a_capability_ignores_environment_and_user(self):
        # VFS_CAP_REVISION_2 with the effective bit, and CAP_NET_RAW permitted.
        try:
            os.setxattr(self.launcher, "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))
        except OSError as error:
            self.skipTest(f"no capabilities on this file system: {error}")
        self.ignored("a capability")


if __name__ == "__main__":
    unittest.main(verbosity=1)

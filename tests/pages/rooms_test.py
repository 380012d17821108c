"""Each folder of core includes what the table of core/README.md lets it use, and nothing else."""
import collections
import os
import re
import sys
import unittest

ROOT = sys.argv.pop()
CORE = os.path.join(ROOT, "core")


def table():
    """What each folder may use: those that it names, 'all above' and 'everything' read as that."""
    with open(os.path.join(CORE, "README.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)/` \|[^|]*\| ([^|]*) \|$", file.read(), re.M)
    rooms = [room for room, _ in rows]
    allowed = {}
    for at, (room, words) in enumerate(rows):
        if words == "everything":
            allowed[room] = set(rooms)
        elif words == "all above":
            allowed[room] = set(rooms[:at])
        else:
            allowed[room] = set(re.findall(r"\w+", words)) if words != "nothing of ours" else set()
            unknown = allowed[room] - set(rooms)
            assert not unknown, f"{room}/ may use {unknown}, which is no folder"
    return allowed


def includes():
    """The files that each folder includes of each other one."""
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, _, files in os.walk(CORE):
        for name in files:
            if not name.endswith((".h", ".cc")):
                continue
            file = os.path.relpath(os.path.join(path, name), CORE)
            if os.sep not in file:
                continue
            room = file.split(os.sep)[0]
            with open(os.path.join(CORE, file), encoding="utf-8") as source:
                for header in re.findall(r'^#include "core/(\w+)/', source.read(), re.M):
                    if header != room:
                        found[room][header].add(file)
    return found


class Rooms(unittest.TestCase):
    def test_each_folder_uses_what_the_table_lets_it_use(self):
        allowed = table()
        for room, used in includes().items():
            self.assertIn(room, allowed)
            for other, files in used.items():
                with self.subTest(folder=room, uses=other):
                    self.assertIn(other, allowed[room], sorted(files))

    def test_the_table_names_no_more_than_is_used(self):
        used = includes()
        with open(os.path.join(CORE, "README.md"), encoding="utf-8") as file:
            page = file.read()
        for room, others in table().items():
            if re.search(rf"^\| `{room}/` .*\| (all above|everything) \|$", page, re.M):
                continue
            with self.subTest(folder=room):
                self.assertEqual(others - set(used[room]), set())

    def test_no_two_folders_use_each_other(self):
        used = includes()
        for room in used:
            for other in used[room]:
                with self.subTest(folder=room, uses=other):
                    self.assertNotIn(room, used.get(other, {}))


if __name__ == "__main__":
    unittest.main()

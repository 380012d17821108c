"""Each link of each page leads to something, and each path that a page names is there."""
import os
import re
import sys
import unittest

ROOT = sys.argv.pop()
OURS = ("core", "plugins", "sdk", "tools", "tests", ".ci")
LINK = re.compile(r"\[[^\]\n]*\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
# A path from the top with no placeholder in it: `core/spec/quote.h`, not `plugins/NAME/...`.
PATH = re.compile(r"`((?:%s)/[A-Za-z0-9_./-]+)`" % "|".join(re.escape(folder) for folder in OURS))
MADE_UP = re.compile(r"NAME|\.\.\.")


def without_code(text):
    """The page without its blocks of code, which have brackets of their own."""
    return re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)


def pages():
    for folder in ("", *OURS):
        for path, folders, files in os.walk(os.path.join(ROOT, folder)):
            folders[:] = [name for name in folders if folder and name not in ("target", "node_modules", "build", "frozen")]
            for name in files:
                if name.endswith(".md"):
                    yield os.path.join(path, name)


class Links(unittest.TestCase):
    def test_each_link_leads_to_something(self):
        seen = 0
        for page in pages():
            with open(page, encoding="utf-8") as file:
                text = without_code(file.read())
            for target in LINK.findall(text):
                if "://" in target or target.startswith("mailto:"):
                    continue
                seen += 1
                with self.subTest(page=os.path.relpath(page, ROOT), link=target):
                    self.assertTrue(os.path.exists(os.path.join(os.path.dirname(page), target)))
        self.assertGreater(seen, 50)

    def test_each_path_that_a_page_names_is_there(self):
        seen = 0
        for page in pages():
            with open(page, encoding="utf-8") as file:
                text = file.read()
            for path in PATH.findall(text):
                if MADE_UP.search(path):
                    continue
                seen += 1
                # From the top, or from the page's own folder.
                places = [os.path.join(ROOT, path), os.path.join(os.path.dirname(page), path)]
                with self.subTest(page=os.path.relpath(page, ROOT), path=path):
                    # `core/spec/quote` is said of quote.h and quote.cc.
                    self.assertTrue(any(os.path.exists(place + end) for place in places for end in ("", ".h", ".py")))
        self.assertGreater(seen, 50)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Holds the golden answers against what the SDK's documents say of them.

usage: check_answers.py SOURCE_ROOT
"""
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
example = re.search(r"```python\n(.*?)```", (root / "sdk/digest.md").read_text(encoding="utf-8"), re.S)
names = {}
exec(example.group(1), names)  # the reader's own copy of the digest

schema = json.loads((root / "sdk/answer.schema.json").read_text(encoding="utf-8"))
try:
    import jsonschema
except ImportError:
    jsonschema = None
    print("python3-jsonschema is not installed: the schema's required keys alone are checked")

checked = 0
for path in sorted((root / "tests/unit/golden").glob("*.json")):
    answer = json.loads(path.read_text(encoding="utf-8"))
    if answer["digest"]:
        assert names["digest"](answer["cluster"]) == answer["digest"], f"{path}: another digest than sdk/digest.md gives"
        checked += 1
    unknown = set(answer) ^ set(schema["required"])
    assert not unknown, f"{path}: keys that schema and answer do not share: {unknown}"
    if jsonschema:
        jsonschema.validate(answer, schema)
assert checked >= 2, "no golden answer has a digest"
print(f"{checked} digests recomputed")

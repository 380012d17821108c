#!/usr/bin/env python3
"""What each library exports, as text: symbols.txt has a line `LIBRARY SYMBOL` for each.

usage: check_symbols.py SYMBOLS_TXT LIBRARY...

Of libmuster a symbol is a promise to launchers: one that is gone breaks them, a new one is for ever.
"""
import os
import subprocess
import sys


def exported(library):
    done = subprocess.run(["readelf", "-W", "--dyn-syms", library], stdout=subprocess.PIPE, text=True, check=True,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    for line in done.stdout.splitlines():
        # Num: Value Size Type Bind Vis Ndx Name
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit() and fields[6] != "UND" and fields[4] != "LOCAL":
            yield f"{os.path.basename(library)} {fields[7].split('@')[0]}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        promised = {line.strip() for line in file if line.strip() and not line.startswith("#")}
    found = {line for library in sys.argv[2:] for line in exported(library)}
    for line in sorted(promised - found):
        print(f"gone: {line}")
    for line in sorted(found - promised):
        print(f"new: {line}: a promise that takes a line in {os.path.basename(sys.argv[1])}, and one in sdk/CHANGES.md")
    print(f"{len(found & promised)} symbols are as promised")
    return 0 if found == promised else 1


sys.exit(main())

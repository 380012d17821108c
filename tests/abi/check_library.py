#!/usr/bin/env python3
"""Reads a built shared object and fails on what would hurt in somebody else's process.

usage: check_library.py LIBRARY EXPORT...     (EXPORT may end in *)

- it NEEDs the C and C++ runtime and nothing else: every other library could be bound to the
  copy of the process it is loaded into;
- it exports what its version script lists, at least one such name, and nothing else;
- it has no unique symbol (one static shared between two libraries, which pins both), no
  executable stack, no text relocation, and no search path of the build folder.
"""

import fnmatch
import re
import subprocess
import sys

RUNTIME = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1"}
LOADER = re.compile(r"ld-linux.*\.so\.\d+$")


def readelf(library, *options):
    done = subprocess.run(["readelf", "-W", *options, library], stdout=subprocess.PIPE, text=True,
                          check=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    return done.stdout


def problems(library, allowed):
    dynamic = readelf(library, "-d")
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if name not in RUNTIME and not LOADER.match(name):
            yield f"needs '{name}': link it statically and hidden"
    if "TEXTREL" in dynamic:
        yield "has text relocations: an object in it is not position independent"
    for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        yield f"has the search path '{path}'"

    exported = set()
    for line in readelf(library, "--dyn-syms").splitlines():
        # Num: Value Size Type Bind Vis Ndx Name
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        kind, bind, section, name = fields[3], fields[4], fields[6], fields[7].split("@")[0]
        if bind == "UNIQUE" or kind == "UNIQUE":
            yield f"has the unique symbol '{name}': compile with -fno-gnu-unique"
        if section != "UND" and bind != "LOCAL":
            exported.add(name)
    for name in sorted(exported):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed):
            yield f"exports '{name}', which its version script should hide"
    for pattern in allowed:
        if not fnmatch.filter(exported, pattern):
            yield f"exports nothing that matches '{pattern}'"

    stack = re.search(r"GNU_STACK\s+(?:0x[0-9a-f]+\s+){5}(\S*)|GNU_STACK.*", readelf(library, "-l"))
    if not stack:
        yield "does not say that its stack is not executable"
    elif "E" in re.sub(r"0x[0-9a-f]+|GNU_STACK", "", stack[0]):
        yield "asks for an executable stack"


def main():
    if len(sys.argv) < 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = list(problems(sys.argv[1], sys.argv[2:]))
    for problem in found:
        print(f"{sys.argv[1]} {problem}")
    if not found:
        print(f"{sys.argv[1]} needs only the runtime and exports only {' '.join(sys.argv[2:])}")
    return 1 if found else 0


sys.exit(main())

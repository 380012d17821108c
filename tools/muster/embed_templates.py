#!/usr/bin/env python3
"""Writes the templates of sdk/templates as C++: usage: embed_templates.py TEMPLATES OUTPUT DEPFILE

Each folder there is a language. What lies beside the folders belongs to every language, and what a folder has through a link (the
headers, a library) goes along as it is.
"""
import os
import sys

BUILT = {"target", "build", "__pycache__"}
EMPTY = '    ""'


def files(folder, verbatim=False):
    """Path and whether it is to be left as it is, of every file that is no product of a build."""
    seen.append(folder)
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            if name not in BUILT and not name.endswith(".egg-info"):
                yield from files(path, verbatim or os.path.islink(path))
        elif not name.endswith((".so", ".o", ".pyc")) and name != "Cargo.lock":
            seen.append(path)
            yield path, verbatim


def literal(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?").split("\n")
    return "\n".join(f'    "{line}\\n"' for line in lines[:-1]) + (f'\n    "{lines[-1]}"' if lines[-1] else "")


def main():
    templates, output, depfile = sys.argv[1:]
    entries = sorted(os.listdir(templates))
    languages = [name for name in entries if os.path.isdir(os.path.join(templates, name)) and name not in BUILT]
    shared = [os.path.join(templates, name) for name in entries if os.path.isfile(os.path.join(templates, name))]
    seen.append(templates)
    seen.extend(shared)
    rows = []
    for language in languages:
        root = os.path.join(templates, language)
        for path, verbatim in [*files(root), *((path, False) for path in shared)]:
            relative = os.path.relpath(path, templates if path in shared else root)
            with open(path, encoding="utf-8") as file:
                text = literal(file.read())
            mode = bool(os.stat(path).st_mode & 0o100)
            rows.append(f'  {{"{language}", "{relative}", {str(verbatim).lower()}, {str(mode).lower()},\n{text or EMPTY}}},')
    with open(output, "w", encoding="utf-8") as out:
        out.write('#include "tools/muster/templates.h"\n\nnamespace muster_command {\n\n'
                  "const std::vector<TemplateFile>& template_files() {\n  static const std::vector<TemplateFile> files = {\n"
                  + "\n".join(rows) + "\n  };\n  return files;\n}\n\n}  // namespace muster_command\n")
    with open(depfile, "w", encoding="utf-8") as out:
        out.write(f"{output}: " + " ".join(path.replace(" ", "\\ ") for path in sorted(set(seen))) + "\n")


seen = []
main()

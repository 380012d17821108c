#!/bin/sh
# usage: check_installed.sh BUILD_ROOT SOURCE_ROOT "CC"
#
# Installs into an empty folder, and from what is there alone runs the command, links a launcher, builds the C template, and follows
# every link of the pages.
set -eu
build=$1 source=$2 cc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# All but muster-check, which the fast tests do not build.
meson install -C "$build" --no-rebuild --quiet --tags runtime,devel,doc --destdir "$folder/root" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
command=$(find "$folder/root" -path '*/bin/muster')
headers=$(dirname "$(find "$folder/root" -path '*/muster/muster.h' | sed 's,/muster\.h$,,')")
libraries=$(dirname "$(find "$folder/root" -name libmuster.so)")

fail() { echo "FAILED: $1"; exit 1; }

answer=$("$command" resolve --plugin-dir "$libraries/muster/plugins" --backend static -O 'cluster_spec={worker: ["w-0:2222"]}' \
  -o addresses)
[ "$answer" = w-0:2222 ] || fail "the installed command said '$answer'"

cat >"$folder/launcher.c" <<'C'
#include <muster/muster.h>
#include <stdio.h>
int main(void) { return puts(muster_version()) < 0; }
C
$cc -I"$headers" "$folder/launcher.c" -L"$libraries" -lmuster -o "$folder/launcher"
version=$(LD_LIBRARY_PATH=$libraries "$folder/launcher")
[ "muster $version" = "$("$command" version | head -n 1)" ] || fail "the launcher has '$version'"

(cd / && "$command" plugins new lab --lang c --dir "$folder/lab" >/dev/null)
$cc -std=c99 -fPIC -shared -fvisibility=hidden -I"$headers" "$folder"/lab/*.c -o "$folder/libmuster-lab.so"
"$command" plugins describe "$folder/libmuster-lab.so" | grep -q '^lab ' || fail "the template is not described"

pages=$(find "$folder/root" -path '*/doc/muster')
for page in sdk/README.md sdk/duties.md sdk/recording.md sdk/tf-differences.md sdk/frames/README.md sdk/muster-check/README.md \
  plugins/kubernetes/README.md tools/muster/README.md; do
  cmp "$source/$page" "$pages/$page" || fail "the page $page is not installed"
done
# But for those of the templates, which lead to what is beside a backend that was begun.
dangling=$(find "$pages" -name '*.md' ! -path '*/templates/*' | while read -r page; do
  grep -oE '\]\([^)#]+' "$page" | cut -c 3- | grep -v '^https\?:' | while read -r link; do
    [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
  done
done)
[ -z "$dangling" ] || fail "these links lead nowhere:
$dangling"
echo "the command, a launcher, a backend and the pages stand on what is installed"

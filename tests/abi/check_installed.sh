#!/bin/sh
# usage: check_installed.sh BUILD_ROOT SOURCE_ROOT "CC"
#
# Installs into an empty folder, and from what is there alone runs the command, links a launcher, and builds the C template.
set -eu
build=$1 source=$2 cc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# All but muster-check, which the fast tests do not build.
meson install -C "$build" --no-rebuild --quiet --tags runtime,devel --destdir "$folder/root" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
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

$cc -std=c99 -fPIC -shared -fvisibility=hidden -I"$headers" "$source"/sdk/templates/c/*.c -o "$folder/libmuster-roster.so"
"$command" plugins describe "$folder/libmuster-roster.so" | grep -q '^roster ' || fail "the template is not described"
echo "the command, a launcher and a backend stand on what is installed"

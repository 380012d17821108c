#!/usr/bin/env bash
# check_library.py refuses each kind of bad library, and accepts a good one.
# usage: check_library_test.sh CHECKER COMPILER
set -euo pipefail
checker=$1
read -ra cc <<<"$2"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed=0

echo '{ global: muster_*; local: *; };' >good.map
cat >good.cc <<'EOF'
#define SHOWN extern "C" __attribute__((visibility("default")))
SHOWN int muster_one() { return 1; }
EOF
link() { "${cc[@]}" -shared -fPIC -fvisibility=hidden -Wl,--no-as-needed "$@"; }

# expect WORDS: the library must be refused in these words; with no words, accepted.
expect() {
  local said status=0
  said=$(python3 "$checker" ./lib.so 'muster_*') || status=$?
  if { [ -z "$1" ] && [ $status = 0 ]; } || { [ -n "$1" ] && [ $status = 1 ] && [[ $said == *"$1"* ]]; }; then
    return
  fi
  echo "expected '${1:-acceptance}', got status $status: $said"
  failed=1
}

link good.cc -o lib.so -Wl,--version-script,good.map
expect ''

link good.cc -o lib.so -Wl,--version-script,good.map -Wl,--no-as-needed -ldl -l:libpthread.so.0
expect "needs 'libpthread.so.0'"

cp good.cc leak.cc
echo 'SHOWN int leaked() { return 2; }' >>leak.cc
link leak.cc -o lib.so
expect "exports 'leaked'"

link -x c++ - -o lib.so <<<'int nothing() { return 1; }'
expect "exports nothing that matches 'muster_*'"

cp good.cc unique.cc
echo 'template <class T> struct S { static int v; }; template <class T> int S<T>::v = 1;
struct __attribute__((visibility("default"))) K {};
template struct __attribute__((visibility("default"))) S<K>;
SHOWN int muster_two() { return S<K>::v; }' >>unique.cc
link -fgnu-unique unique.cc -o lib.so
expect 'has the unique symbol'

link good.cc -o lib.so -Wl,--version-script,good.map -Wl,-z,execstack
expect 'asks for an executable stack'

link good.cc -o lib.so -Wl,--version-script,good.map -Wl,-rpath,/somewhere
expect "has the search path '/somewhere'"

[ $failed = 0 ] && echo "each bad library was refused, the good one accepted"
exit $failed

#!/bin/sh
# usage: check_headers.sh SOURCE_ROOT "CC" "CXX"
#
# Compiles each public header alone, and all of them in one unit, in every dialect that a plugin or a launcher may be
# written in, with every warning an error, also the one about padding inside of structs.
set -eu
root=$1 cc=$2 cxx=$3
flags="-Wall -Wextra -Wpadded -Wshadow -pedantic -Werror -fsyntax-only -I$root/core/include -I$root/sdk/include"
passed=0 failed=0

# Not for C: the C++ wrapper has a test of its own.
headers=$(cd "$root" && ls core/include/muster/*.h sdk/include/muster/*.h | sed 's,.*/muster/,muster/,')

compile() { # what, compiler, language and dialect, file
  if $2 $3 $flags "$4"; then
    passed=$((passed + 1))
  else
    echo "FAILED: $1: $2 $3 $flags $4"
    failed=$((failed + 1))
  fi
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for dialect in c99 c11 c++11 c++17 c++20; do
  case $dialect in
    c++*) compiler=$cxx language="-x c++ -std=$dialect" ;;
    *) compiler=$cc language="-x c -std=$dialect" ;;
  esac
  for header in $headers; do
    printf '#include <%s>\ntypedef int not_empty;\n' "$header" > "$folder/alone.c"
    compile "$header alone in $dialect" "$compiler" "$language" "$folder/alone.c"
  done
  compile "all headers in $dialect" "$compiler" "$language" "$root/tests/abi/every_header.c"
done
echo "$passed compiled, $failed failed"
test "$failed" -eq 0

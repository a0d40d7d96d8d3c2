#!/bin/sh
# Compiling and linking in two steps, in C and in C++ where there is a compiler for it; an unknown question fails.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"
"$stage/bin/mpicc" -c "$source/tests/install/program.c" -o program.o
"$stage/bin/mpicc" program.o -o program
[ "$("$stage/bin/mpiexec" -n 2 ./program)" = "2 ranks, sum 1" ]
if "$stage/bin/mpicc" -show-nothing 2>said; then exit 1; fi
[ "$(wc -l <said)" = 1 ]
if command -v c++ >/dev/null; then
    cp "$source/tests/install/program.c" program.cc
    "$stage/bin/mpicxx" program.cc -o program++
    [ "$("$stage/bin/mpiexec" -n 2 ./program++)" = "2 ranks, sum 1" ]
fi

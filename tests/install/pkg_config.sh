#!/bin/sh
# Every pkg-config module that build systems ask for leads to a program that runs.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work"
export PKG_CONFIG_PATH=$stage/lib/pkgconfig
for module in mpi mpi-c mpi-cxx ompi-c ompi-cxx libimpi; do
    # shellcheck disable=SC2046 # flags are words
    cc "$source/tests/install/program.c" -o "$work/$module" $(pkg-config --cflags --libs "$module")
    [ "$("$stage/bin/mpiexec" -n 2 "$work/$module")" = "2 ranks, sum 1" ]
done

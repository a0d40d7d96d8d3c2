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
# Those of Fortran, too; modules are those that the installation has.
command -v gfortran >/dev/null || { echo "skipped: there is no gfortran"; exit 0; }
cp -a "$stage" "$work/prefix"
"$work/prefix/bin/mpifort" -fc=gfortran -install-modules >"$work/folders"
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
for module in mpi-fort mpi-f77 mpi-f90 ompi-fort ompi-f77 ompi-f90 libimpi-fort; do
    # shellcheck disable=SC2046 # flags are words
    gfortran "$source/tests/install/fortran/new.f90" -o "$work/$module" $(pkg-config --cflags --libs "$module")
    [ "$("$stage/bin/mpiexec" -n 2 "$work/$module")" = "2 ranks, sum 1" ]
done

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
# Whoever names the library gets ours, whatever else is in the way, and a static program is refused in one line.
mkdir -p other && for name in mpi mpi_abi; do
    echo 'int MPI_Init(int *a, char ***b) { (void)a, (void)b; return 99; }' | cc -x c -shared -fPIC -o other/lib$name.so -
    "$stage/bin/mpicc" "$source/tests/install/program.c" -Lother -l$name -o named
    [ "$("$stage/bin/mpiexec" -n 2 ./named)" = "2 ranks, sum 1" ]
done
cc "$source/tests/install/program.c" -I"$stage/include" -L"$stage/lib" -Wl,-rpath,"$stage/lib" -lmpi_abi -o plain
[ "$("$stage/bin/mpiexec" -n 2 ./plain)" = "2 ranks, sum 1" ]
if "$stage/bin/mpicc" -static program.o -o program 2>said; then exit 1; fi
[ "$(wc -l <said)" = 1 ]
grep -q "shared library only" said
"$stage/bin/mpicc" --help | head -1 | grep -q "^mpicc compiles and links MPI programs"
# What configure scripts try, with CC=mpicc: a function without its prototype, and the header.
echo 'char MPI_Init(void); int main(void) { return MPI_Init(); }' >conftest.c
"$stage/bin/mpicc" -o conftest -Wno-builtin-declaration-mismatch conftest.c
"$stage/bin/mpicc" -o conftest conftest.c -lmpi
echo '#include <mpi.h>' | "$stage/bin/mpicc" -E - | grep -q MPI_Init_thread

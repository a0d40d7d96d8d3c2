#!/bin/sh
# A profiling library takes the place of MPI_X and calls PMPI_X, preloaded, linked as an object and as an archive, in
# one machine and between clients. It sees the program's calls and none of the library's own. Of every function
# the library has a strong PMPI_X and a weak MPI_X, which are one.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work"
tests=$source/tests/install
cc -fPIC -shared -I"$stage/include" "$tests/profile.c" -o "$work/profile.so"
cc -c -I"$stage/include" "$tests/profile.c" -o "$work/profile.o"
ar rc "$work/libprofile.a" "$work/profile.o"
"$stage/bin/mpicc" "$tests/profiled.c" -o "$work/plain"
"$stage/bin/mpicc" "$tests/profiled.c" "$work/profile.o" -o "$work/object"
"$stage/bin/mpicc" "$tests/profiled.c" -L"$work" -lprofile -o "$work/archive"
wanted="3 sends, 2 receives, 4 reductions, 1 dups, 5 queries, 6 clocks"
for clients in 1 2; do
    run="$stage/bin/mpiexec -clients $clients -n 2"
    [ "$($run "$work/plain")" = "" ]
    [ "$($run env LD_PRELOAD="$work/profile.so" "$work/plain")" = "$wanted" ]
    [ "$($run "$work/object")" = "$wanted" ]
    [ "$($run "$work/archive")" = "$wanted" ]
done
nm -D --defined-only "$stage/lib/libmpi_abi.so.1" | sed 's/@.*//' >"$work/symbols"
awk '$3 ~ /^PMPI/ { p[substr($3, 2)] = $1; if ($2 != "T") { print; bad = 1 } }
     $3 ~ /^MPI/ { m[$3] = $1; if ($2 != "W") { print; bad = 1 } }
     END { for (f in p) { n++; if (m[f] != p[f]) { print f; bad = 1 } }
           for (f in m) if (!(f in p)) { print f; bad = 1 }
           exit bad || n < 700 }' "$work/symbols"

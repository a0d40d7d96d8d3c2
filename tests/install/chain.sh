#!/bin/sh
# Two tools that are preloaded at once both see all calls of a program, in either order; one of them asks the library
# for the same numbers by MPI_T, and the other one sees that, too.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work"
tests=$source/tests/install
cc -Wall -fPIC -shared -I"$stage/include" -DTOOL='"plain"' "$tests/chain.c" -o "$work/plain.so" -ldl
cc -Wall -fPIC -shared -I"$stage/include" -DTOOL='"asking"' -DVARIABLES "$tests/chain.c" -o "$work/asking.so" -ldl
"$stage/bin/mpicc" "$tests/profiled.c" -o "$work/program"
counted="asking: counted 3 messages, 4 collectives"
asking="asking: 3 sends, 5 reductions, 2 reads"
for clients in 1 2; do
    run="$stage/bin/mpiexec -clients $clients -n 2"
    # The first of them is the first to hear of MPI_Finalize; when it tells, nobody has asked yet.
    [ "$($run env LD_PRELOAD="$work/asking.so:$work/plain.so" "$work/program")" = "$counted
$asking
plain: 3 sends, 5 reductions, 2 reads" ]
    [ "$($run env LD_PRELOAD="$work/plain.so:$work/asking.so" "$work/program")" = "plain: 3 sends, 5 reductions, 0 reads
$counted
$asking" ]
done

#!/bin/sh
# With the suppressions that are installed valgrind says nothing of a good program, and everything of a bad one.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"
suppressions=$stage/share/libimpi/valgrind.supp
[ -s "$suppressions" ]
command -v valgrind >/dev/null || { echo "no valgrind here: nothing to test"; exit 0; }
run="$stage/bin/mpiexec -n 2 valgrind -q --error-exitcode=9 --suppressions=$suppressions"
"$stage/bin/mpicc" -g "$source/tests/install/program.c" -o good
[ "$($run ./good 2>said)" = "2 ranks, sum 1" ]
if [ -s said ]; then cat said; exit 1; fi
cat >bad.c <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(void)
{
    MPI_Init(NULL, NULL);
    char *p = malloc(8);
    p[8] = 1;
    MPI_Finalize();
    free(p);
    return 0;
}
C
"$stage/bin/mpicc" -g bad.c -o bad
if $run ./bad 2>said; then echo "a bad program passes"; exit 1; fi
grep -q "Invalid write of size 1" said

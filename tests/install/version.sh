#!/bin/sh
# The launcher, impi-info, the wrapper and the library say the same version and the same commit, if there is one.
set -eu
stage=$1 work=$2
rm -rf "$work" && mkdir -p "$work" && cd "$work"
cat >program.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(text, &length);
    puts(text);
    return 0;
}
C
"$stage/bin/mpicc" program.c -o program
answer=$("$stage/bin/mpicc" -showme:version) # mpicc NUMBER (NAME)
name=${answer#mpicc * (}
name=${name%)}
commit=${name##*not Intel MPI)}
[ "$("$stage/bin/mpirun" --version)" = "mpirun ($name)" ]
"$stage/bin/impi-info" | grep -qF "$name"
./program >said
grep -qF "${name%"$commit"}, MPI 5.0" said
case $(cat said) in *"$commit") ;; *) echo "the library says no '$commit': $(cat said)"; exit 1 ;; esac

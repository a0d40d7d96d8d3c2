#!/bin/sh
# Two MPIs in one process: a program of one loads a library (a plugin) that was compiled with another.
#
# With RTLD_DEEPBIND each half reaches its own MPI, and both work. Without it the loader takes functions of a name from
# the program's MPI for both, and no library can change that: it has to be visible, and not pass unnoticed.
set -eu
stage=$1 work=$2 source=$3
for mpi in mpich openmpi; do
    command -v mpicc.$mpi >/dev/null || { echo "skipped: there is no mpicc.$mpi (Debian: lib$mpi-dev)"; exit 0; }
done
rm -rf "$work" && mkdir -p "$work" && cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=false OMPI_MCA_btl=self
for mpi in libimpi mpich openmpi; do
    cc=mpicc.$mpi
    [ $mpi != libimpi ] || cc=$stage/bin/mpicc
    $cc -w "$source/tests/install/two.c" -o program.$mpi -ldl
    $cc -w -DPLUGIN -shared -fPIC "$source/tests/install/two.c" -o plugin.$mpi
done
called() { case $1 in libimpi) echo "libimpi " ;; mpich) echo "MPICH Ve" ;; openmpi) echo "Open MPI" ;; esac; }
expect() {
    want=$1
    shift
    said=$("$@" 2>err) || { echo "$*: exit status $?"; cat err; exit 1; }
    [ "$said" = "$want" ] || { echo "$* says: $said, not: $want"; exit 1; }
}

for pair in "libimpi mpich" "libimpi openmpi" "mpich libimpi" "openmpi libimpi"; do
    # shellcheck disable=SC2086 # two words
    set -- $pair
    for mode in local-deep global-deep local-deep-first; do
        expect "$(called "$1") of 1 loads $(called "$2") of 1" ./program."$1" ./plugin."$2" $mode
    done
done

# The loader left alone: the program's MPI gets the plugin's calls. Ours says what is wrong with them.
for mpi in mpich openmpi; do
    for mode in local global; do
        if ./program.libimpi ./plugin.$mpi $mode >out 2>err; then
            echo "handles of $mpi are good for libimpi"; exit 1
        fi
        grep -q "no handle of libimpi: .* the call comes from code that was compiled with another MPI" err
    done
done

# By LD_LIBRARY_PATH the plugin finds our library with its ABI, which is the same libimpi: it is part of the program's
# job.
for mpi in mpich openmpi; do
    "$stage/bin/impirun" -n 2 -genv LD_LIBRARY_PATH "$stage/lib/$mpi" ./program.libimpi ./plugin.$mpi local-deep >out
    [ "$(sort -u out)" = "libimpi  of 2 loads libimpi  of 2" ] || { cat out; exit 1; }
done

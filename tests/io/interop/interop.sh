#!/bin/sh
# interop.sh STAGE WORK SOURCE: files that this library writes are those that MPICH and Open MPI write, and are read by
# them; and the other way round. A library that is not there is skipped, and that is said.
#
# More libraries: IMPI_PEERS, names of folders with bin/mpicc and bin/mpiexec, separated by colons.
set -eu
stage=$1 work=$2 source=$3/tests/io/interop/interop.c
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1

# library NAME CC EXEC: compile for it; its launcher is called by run.
libraries=
library() {
    name=$1 cc=$2 exec=$3
    if ! command -v "$cc" >/dev/null || ! $cc -O1 -o "$name" "$source" 2>"$name.err"; then
        echo "skipped: $name ($cc is not there, or does not compile)"
        return
    fi
    case $("$exec" --version 2>&1 | head -n 1) in
    *"Open MPI"* | *OpenRTE*) exec="$exec --oversubscribe" ;;
    esac
    eval "exec_$name=\$exec"
    libraries="$libraries $name"
}

# run NAME RANKS ARGUMENTS: the program, with all that it says if it fails, or has not ended after $limit seconds.
limit=20
run() {
    name=$1 ranks=$2
    shift 2
    eval "exec=\$exec_$name"
    # shellcheck disable=SC2086 # words
    timeout -k 2 "$limit" $exec -n "$ranks" "./$name" "$@" >"run.out" 2>&1 || {
        echo "$name on $ranks ranks: interop $* fails:"
        cat run.out
        return 1
    }
}

# knows NAME REPRESENTATION: does it read what it has written? MPICH does not, or crashes and spins, in external32.
knows() (
    limit=6
    run "$1" 2 write "$2" probe.data >/dev/null && run "$1" 2 read "$2" probe.data >/dev/null
)

library libimpi "$stage/bin/mpicc" "$stage/bin/mpiexec"
library mpich mpicc.mpich mpiexec.mpich
library openmpi mpicc.openmpi mpiexec.openmpi
n=0
for folder in $(echo "${IMPI_PEERS:-}" | tr : ' '); do
    n=$((n + 1))
    library "peer$n" "$folder/bin/mpicc" "$folder/bin/mpiexec"
done

failed=0
for rep in native external32; do
    run libimpi 3 write $rep "libimpi.$rep"
    run libimpi 4 write $rep "again.$rep"
    cmp "libimpi.$rep" "again.$rep" || failed=1
    for peer in $libraries; do
        if ! knows "$peer" $rep; then
            echo "skipped: $rep of $peer (it does not read what it writes)"
            continue
        fi
        [ "$peer" = libimpi ] || run "$peer" 2 write $rep "$peer.$rep" || failed=1
        cmp "libimpi.$rep" "$peer.$rep" || failed=1
        run libimpi 4 read $rep "$peer.$rep" || failed=1
        run libimpi 1 read $rep "$peer.$rep" || failed=1
        run "$peer" 2 read $rep "libimpi.$rep" || failed=1
    done
done
[ $failed -eq 0 ] || exit 1
echo "the same files:$libraries"

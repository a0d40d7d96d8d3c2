#!/bin/sh
# examples_f.sh STAGE BUILD SOURCE: the examples in Fortran give the same answer on one rank, which sends nothing, on several
# in one machine, on those of several IMPI clients, and under the mpiexec of an MPICH 5 over its library, where there is one.
set -eu
stage=$1 build=$2 source=$3
work=$build/tests/examples_f
compiler=
for name in gfortran flang-new-19 flang-new flang; do
    command -v $name >/dev/null && compiler=$name && break
done
[ -n "$compiler" ] || { echo "skipped: there is no Fortran compiler"; exit 0; }
rm -rf "$work"
mkdir -p "$work"
cd "$work"

arguments() {
    case $1 in
    pi) echo 20000 ;;
    heat2d) echo 48 60 ;;
    solver) echo 24 ;;
    esac
}

# What must not depend on the ranks.
essence() {
    case $1 in
    pi) grep -o '^pi is about 3\.14159265' "$2" ;;
    heat2d) grep '^heat in the plate of 48 x 48: *[0-9]*\.[0-9]*$' "$2" ;;
    solver) grep '^solved 576 equations in [0-9]* steps: |x| = [0-9.]*E+[0-9]*$' "$2" ;;
    esac
}

# run HOW PROGRAM: in a folder of its own, with nothing on stderr.
run() {
    form=$1 name=$2
    # shellcheck disable=SC2046,SC2086 # words
    case $form in
    mpich*) "$source/tests/fortran/on_mpich" "$build/peers/mpich" ${form#mpich} "./$name" $(arguments "$name") ;;
    *) "$stage/bin/mpiexec" $form "./$name" $(arguments "$name") ;;
    esac >out 2>err
    [ ! -s err ] || { echo "$name $form wrote to stderr:"; cat err; exit 1; }
    essence "$name" out || { echo "$name $form says:"; cat out; exit 1; }
}

over="-n=1 -n=3 -clients=2=-n=4"
[ ! -e "$build/peers/mpich/lib/libmpi_abi.so.1" ] || over="$over mpich=4"
for name in pi heat2d solver; do
    "$stage/bin/mpifort" "-fc=$compiler" -O1 "$source/examples_f/$name.f90" -o "$name"
    for how in $over; do
        run "$(printf %s "$how" | tr = ' ')" "$name" >"$name.$how"
        cmp "$name.-n=1" "$name.$how" || { cat "$name.$how"; exit 1; }
    done
done

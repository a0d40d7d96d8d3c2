#!/bin/sh
# An installation may be moved: wrappers, launcher and pkg-config files find what lies beside them, in a place
# with a blank in its name too; and nothing in the moved tree remembers where it was.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work"
cp -a "$stage" "$work/new place"
cd "$work"
"new place/bin/mpicc" "$source/tests/install/program.c" -o program
readelf -d program | grep "R.*PATH.*$work/new place/lib"
[ "$("new place/bin/mpirun" -n 2 ./program)" = "2 ranks, sum 1" ]
case $("new place/bin/mpicc" -showme:incdirs) in *"new place/include"*) ;; *) exit 1 ;; esac
if grep -rlF "$stage" "new place"; then
    echo "these files name the folder they were built in"; exit 1
fi

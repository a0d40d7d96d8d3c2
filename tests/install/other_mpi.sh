#!/bin/sh
# A program that is linked with another MPI library is a job of its own in each rank; the launcher says so, once.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"
for name in libmpi.so.20 libmpich.so.10 libmpi.so.40; do
    echo 'int MPI_Init(int *a, char ***b) { (void)a, (void)b; return 0; }' | cc -x c -shared -fPIC -Wl,-soname,$name -o $name -
    echo 'int MPI_Init(int *, char ***); int main(void) { return MPI_Init(0, 0); }' | cc -x c - -Wl,-rpath,"$work" -x none ./$name -o program
    abi= # of this one we have the ABI, if we are not told to leave it
    [ $name != libmpi.so.40 ] || abi="-abi native"
    for how in "-n 3" "-clients 2 -n 3" "-host localhost:1,other:2 -n 3 -rsh ./shell"; do
        printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >shell && chmod +x shell
        "$stage/bin/mpirun" $abi $how ./program 2>said
        [ "$(wc -l <said)" = 1 ]
        grep -q "another MPI library ($name)$(test -n "$abi" || echo ", whose ABI libimpi does not have"), so that each of its" said
        "$stage/bin/mpirun" -q $abi $how ./program 2>said
        [ ! -s said ]
    done
done
# Ours, and programs without MPI, are no reason to speak, whether they join or not.
"$stage/bin/mpicc" "$source/tests/install/program.c" -o ours
[ -z "$("$stage/bin/mpirun" -n 2 ./ours 2>&1 >/dev/null)" ]
[ -z "$("$stage/bin/mpirun" -n 2 true 2>&1)" ]

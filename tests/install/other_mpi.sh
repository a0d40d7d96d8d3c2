#!/bin/sh
# A program that is linked with another MPI library runs on libimpi, or is refused before it starts, in one sentence that
# says what to do: it would be a job of its own in each rank. What cannot be known beforehand is said afterwards, once.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >shell && chmod +x shell
old='-Wl,--disable-new-dtags,-rpath,' new='-Wl,--enable-new-dtags,-rpath,'

# fake FOLDER NAME [CODE]: a library of another MPI, which joins nobody.
part='int MPI_Init(int *a, char ***b) { (void)a, (void)b; return 0; } int MPI_Finalize(void) { return 0; }'
whole="$part int PMPI_Init(int *a, char ***b) { return MPI_Init(a, b); }"
fake() {
    mkdir -p "$1"
    echo "${3-$part}" | cc -x c -shared -fPIC -Wl,-soname,"$2" -o "$1/$2" -
}
# program NAME WORD...: a program that is linked so.
program() {
    made=$1
    shift
    echo 'int MPI_Init(int *, char ***), MPI_Finalize(void); int main(void) { return MPI_Init(0, 0) || MPI_Finalize(); }' |
        cc -x c - -o "$made" -Wl,--no-as-needed -x none "$@"
}
# refused TEXT WORD...: impirun says one line, with this text, and starts nothing.
refused() {
    text=$1
    shift
    status=0
    "$stage/bin/impirun" "$@" >out 2>said || status=$?
    if [ $status != 126 ] || [ -s out ] || [ "$(wc -l <said)" != 1 ] || ! grep -qF -- "$text" said; then
        echo "impirun $*: exit status $status, not 126, or not one line with: $text"
        cat out said
        exit 1
    fi
}
silent() {
    "$stage/bin/impirun" "$@" >out 2>said && [ ! -s said ] || { echo "impirun $*: failed"; cat said; exit 1; }
}

# ABIs that there are not.
have='it has libmpi_abi.so.1, libmpi.so.12, libmpi.so.40, libmpich.so.12'
for name in libmpi.so.20 libmpi.so.1 libmpi.so libmpich.so.10 libmpi_mt.so.4 libmpi_abi.so.2; do
    fake none $name
    program program "$new$work/none" ./none/$name
    refused "program ./program needs $name, an MPI library whose ABI libimpi does not have ($have)" -n 3 ./program
done
refused "compile it with our mpicc, or start it with the mpirun of the MPI that it was compiled with" -clients 2 -n 3 ./program
refused "needs libmpi_abi.so.2" -host localhost:1,other:2 -n 3 -rsh ./shell ./program
refused "needs libmpi_abi.so.2" -n 2 sh -c true : -n 1 ./program

# A library of the program needs it.
fake deep libmpi.so.20
echo 'int f(void) { return 0; }' | cc -x c -shared -fPIC - -o deep/libapp.so -Wl,-soname,libapp.so,--no-as-needed,-rpath,'$ORIGIN' -x none deep/libmpi.so.20
echo 'int f(void); int main(void) { return f(); }' | cc -x c - -o program "$new$work/deep" -x none deep/libapp.so -Wl,--allow-shlib-undefined
refused "program ./program (by $work/deep/libapp.so) needs libmpi.so.20" -n 2 ./program

# Fortran of other MPIs: a program that calls it, not one in C that is linked with it, as Intel's mpicc does.
fake f libmpifort.so.12 'void mpi_init_(int *e) { *e = 0; }'
fake f libmpi.so.12
program program "$new$work/f" ./f/libmpifort.so.12 ./f/libmpi.so.12
silent -n 2 ./program
for name in libmpifort.so.12 libmpichfort.so.12 libmpi_mpifh.so.40 libmpi_usempif08.so.40; do
    fake f $name 'void mpi_init_(int *e) { *e = 0; } void mpi_finalize_(int *e) { *e = 0; }'
    echo 'void mpi_init_(int *), mpi_finalize_(int *); int main(void) { int e; mpi_init_(&e), mpi_finalize_(&e); return e; }' |
        cc -x c - -o program "$new$work/f" -x none ./f/$name
    silent -n 2 ./program
done
for name in libmpichf90.so.3 libmpi_usempi.so.20; do
    fake f $name 'void mpi_init_(int *e) { *e = 0; }'
    echo 'void mpi_init_(int *); int main(void) { int e; mpi_init_(&e); return e; }' | cc -x c - -o program "$new$work/f" -x none ./f/$name
    refused "needs $name, the Fortran bindings of an MPI whose ABI libimpi does not have ($have)" -n 2 ./program
done

# Libraries with an ABI that we have: ours is put before theirs where LD_LIBRARY_PATH counts. Their own launcher is named.
mkdir -p their/bin && printf '#!/bin/sh\n' >their/bin/mpirun && chmod +x their/bin/mpirun
for name in libmpi.so.12 libmpich.so.12 libmpi.so.40 libmpi_abi.so.1; do
    fake their/lib $name "$whole"
    program program "$new$work/their/lib" ./their/lib/$name
    silent -n 2 ./program
    silent -abi native -n 1 ./program
    refused "program ./program runs on $work/their/lib/$name, another MPI library, so that each of its ranks would be a job \
of its own; leave -abi native out, or start it with $work/their/bin/mpirun" -abi native -n 2 ./program
    program program "$old$work/their/lib" ./their/lib/$name
    refused "program ./program has an RPATH that leads to $work/their/lib/$name, another MPI library, whatever \
LD_LIBRARY_PATH says; remove the RPATH (patchelf --remove-rpath, chrpath -d), or start it with $work/their/bin/mpirun" \
        -n 2 ./program
done
refused "is not linked with the MPI that -abi mpich says; leave -abi out" -abi mpich -n 2 ./program
fake their/lib libmpi_abi.so.1 \
    "$whole int MPI_Comm_rank(void) { return 1; } int MPI_Comm_size(void) { return 1; } int MPI_Reduce(void) { return 1; }"
cc -I"$stage/include" "$source/tests/install/program.c" -o program "$new$work/their/lib" ./their/lib/libmpi_abi.so.1
[ "$("$stage/bin/impirun" -n 2 ./program)" = "2 ranks, sum 1" ]
[ "$(LD_LIBRARY_PATH=$work/their/lib "$stage/bin/impirun" -n 2 ./program)" = "2 ranks, sum 1" ]

# Two MPIs, and one that is linked in.
program program "$new$work/their/lib" ./their/lib/libmpi.so.12 ./their/lib/libmpi.so.40
refused "program ./program needs both libmpi.so.12 and libmpi.so.40, the libraries of two MPIs" \
    -n 2 ./program
echo "$whole" >static.c
program program static.c
refused "program ./program has another MPI library linked into it" -n 2 ./program
silent -n 1 ./program

# A program that is spawned is refused with the same words.
cat >spawn.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;
    MPI_Comm others;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_string(MPI_Comm_spawn(argv[1], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &others,
                                    MPI_ERRCODES_IGNORE), text, &n);
    puts(text);
    return MPI_Finalize();
}
C
"$stage/bin/mpicc" spawn.c -o spawn
"$stage/bin/impirun" -n 1 ./spawn "$work/program" >out
grep -q "program $work/program has another MPI library linked into it" out || { cat out; exit 1; }

# What is not known beforehand: a library that only hands calls on, maybe to ours, and does not.
fake hands libmpi.so.40
program program "$new$work/hands" ./hands/libmpi.so.40
for how in "-n 3" "-clients 2 -n 3" "-host localhost:1,other:2 -n 3 -rsh ./shell"; do
    "$stage/bin/mpirun" -abi native $how ./program 2>said
    [ "$(wc -l <said)" = 1 ] && grep -q "another MPI library (libmpi.so.40), so that each of its" said ||
        { echo "$how: no warning"; cat said; exit 1; }
    silent -q -abi native $how ./program
done
# Ours, and programs without MPI, are no reason to speak, whether they join or not.
"$stage/bin/mpicc" "$source/tests/install/program.c" -o ours
silent -n 2 ./ours
silent -n 2 true

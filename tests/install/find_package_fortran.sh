#!/bin/sh
# CMake's FindMPI finds mpif.h and both modules for the compiler that it uses: beside that, through the wrapper as the
# compiler, and for long INTEGERs.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work"
unset MPI_HOME MPI_ROOT IMPI_FC MPICH_FC OMPI_FC I_MPI_FC 2>/dev/null || true
export XDG_CACHE_HOME="$work/cache"
built=
# project NAME OPTION...: configures, builds and runs the project.
project() {
    name=$1
    shift
    cmake -S "$source/tests/install/find_package_fortran" -B "$work/$name" "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    cmake --build "$work/$name" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    (cd "$work/$name" && ctest --output-on-failure --no-tests=error)
    built=yes
}
# CMake of Debian 12 does not know flang.
for fc in gfortran ifx nvfortran; do
    command -v $fc >/dev/null || continue
    project $fc -DMPI_HOME="$stage" -DCMAKE_Fortran_COMPILER=$fc
    grep "^MPI_Fortran_COMPILER:FILEPATH=$stage/bin/mpif90$" "$work/$fc/CMakeCache.txt"
    grep "^MPI_Fortran_F77_HEADER_DIR:PATH=$stage/include$" "$work/$fc/CMakeCache.txt"
    grep "^MPI_Fortran_MODULE_DIR:PATH=$work/cache/libimpi/fortran/$fc-" "$work/$fc/CMakeCache.txt"
    grep "^MPI_mpifort_abi_LIBRARY:FILEPATH=$stage/lib/libmpifort_abi.so$" "$work/$fc/CMakeCache.txt"
    case $fc in gfortran) long=-fdefault-integer-8 ;; *) long=-i8 ;; esac
    project $fc-long -DMPI_HOME="$stage" -DCMAKE_Fortran_COMPILER=$fc -DCMAKE_Fortran_FLAGS=$long \
        -DMPI_Fortran_COMPILER_FLAGS=$long
    grep "^MPI_Fortran_F77_HEADER_DIR:PATH=$stage/share/libimpi/fortran/i8$" "$work/$fc-long/CMakeCache.txt"
    grep "^MPI_mpifort_abi_i8_LIBRARY:FILEPATH=$stage/lib/libmpifort_abi_i8.so$" "$work/$fc-long/CMakeCache.txt"
    IMPI_FC=$fc project $fc-wrapper -DMPI_HOME="$stage" -DCMAKE_Fortran_COMPILER="$stage/bin/mpifort"
done
[ -n "$built" ] || echo "skipped: there is no Fortran compiler that CMake knows"

#!/bin/sh
# CMake's FindMPI finds this MPI and no other, and what it says builds and runs a project.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work"
unset MPI_HOME MPI_ROOT 2>/dev/null || true
PATH=$stage/bin:$PATH cmake -S "$source/tests/install/find_package" -B "$work" -DCMAKE_PREFIX_PATH="$stage"
grep "^MPI_C_HEADER_DIR:PATH=$stage/include$" "$work/CMakeCache.txt"
grep "^MPI_mpi_abi_LIBRARY:FILEPATH=$stage/lib/libmpi_abi.so$" "$work/CMakeCache.txt"
grep "^MPIEXEC_EXECUTABLE:FILEPATH=$stage/bin/mpiexec$" "$work/CMakeCache.txt"
cmake --build "$work"
cd "$work" && ctest --output-on-failure --no-tests=error
# MPI_HOME is enough where another MPI's compiler and launcher come first.
cmake -S "$source/tests/install/find_package" -B "$work/home" -DMPI_HOME="$stage"
grep "^MPI_C_COMPILER:FILEPATH=$stage/bin/mpicc$" "$work/home/CMakeCache.txt"
grep "^MPIEXEC_EXECUTABLE:FILEPATH=$stage/bin/mpiexec$" "$work/home/CMakeCache.txt"

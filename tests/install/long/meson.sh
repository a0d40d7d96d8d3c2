#!/bin/sh
# Meson finds the library by its own mpi dependency, by pkg-config and by the compiler wrapper's answers, and
# as the compiler.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"
if ! command -v meson >/dev/null 2>&1 || ! command -v ninja >/dev/null 2>&1; then
    if ! python3 -m venv tools >/dev/null 2>&1 || ! tools/bin/pip -q install meson ninja >/dev/null 2>&1; then
        echo "skipped: there is no meson, and PyPI's cannot be had"
        exit 0
    fi
    PATH=$work/tools/bin:$PATH
fi
PATH=$stage/bin:$PATH PKG_CONFIG_PATH=$stage/lib/pkgconfig
export PATH PKG_CONFIG_PATH
for how in auto pkg-config config-tool wrapper; do
    mkdir -p $how && cp "$source/tests/install/program.c" $how
    found="dependencies: dependency('mpi', language: 'c', method: '$how')"
    [ $how != wrapper ] || export CC=mpicc found=
    printf "project('user', 'c')\nexecutable('program', 'program.c', %s)\n" "$found" >$how/meson.build
    meson setup $how/build $how >log 2>&1 || { cat log; exit 1; }
    meson compile -C $how/build >log 2>&1 || { cat log; exit 1; }
    readelf -d $how/build/program | grep -q libmpi_abi.so.1 || { echo "$how: another MPI"; cat log; exit 1; }
    [ "$(LD_LIBRARY_PATH=$stage/lib mpirun -n 2 $how/build/program)" = "2 ranks, sum 1" ]
done

# In Fortran, with the modules of the installation for pkg-config.
command -v gfortran >/dev/null || { echo "skipped: there is no gfortran"; exit 0; }
unset CC
cp -a "$stage" prefix
export XDG_CACHE_HOME="$work/cache"
prefix/bin/mpifort -fc=gfortran -install-modules >folders
PATH=$work/prefix/bin:$PATH PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
for how in auto pkg-config config-tool wrapper; do
    mkdir -p fortran-$how && cp "$source"/tests/install/fortran/* fortran-$how
    found="dependencies: dependency('mpi', language: 'fortran', method: '$how')"
    [ $how != wrapper ] || export FC=mpifort found=
    {
        echo "project('user', 'fortran')"
        # Of pkg-config's flags none is for one compiler alone.
        echo "executable('header', 'header.f', fortran_args: '-fallow-argument-mismatch', $found)"
        for name in old new; do echo "executable('$name', '$name.f90', $found)"; done
    } >fortran-$how/meson.build
    meson setup fortran-$how/build fortran-$how >log 2>&1 || { cat log; exit 1; }
    meson compile -C fortran-$how/build >log 2>&1 || { cat log; exit 1; }
    for program in header old new; do
        readelf -d fortran-$how/build/$program | grep -q libmpifort_abi.so.1 || { echo "$how: another MPI"; cat log; exit 1; }
        [ "$(LD_LIBRARY_PATH=$stage/lib mpirun -n 2 fortran-$how/build/$program)" = "2 ranks, sum 1" ]
    done
done

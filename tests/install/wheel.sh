#!/bin/sh
# The wheel installs into an environment of Python's: programs compile and run there, Python loads libmpi.so by the name
# that mpi4py looks for, and nothing is left when it is removed.
set -eu
stage=$1 work=$2 source=$3
python3 -c 'import pip, venv' 2>/dev/null || { echo "skipped: there is no pip"; exit 0; }
rm -rf "$work" && mkdir -p "$work" && cd "$work"
wheel=$(WHEEL_COMPRESSION=1 "$source/packaging/wheel/build" "$stage" "$work")
python3 -m venv --without-pip environment
find environment ! -type d | sort >before
python=$(command -v python3)
pip() { "$python" -m pip --python environment/bin/python --disable-pip-version-check "$@"; }
pip install --quiet --no-index --no-deps --no-compile "$wheel"
[ -e environment/lib/mpich/libmpich.so.12 ] && [ -e environment/lib/openmpi/libmpi.so.40 ] # the ABIs of other MPIs
PATH=$work/environment/bin:$PATH
export PATH
mpicc "$source/tests/install/program.c" -o program
[ "$(mpirun -n 2 ./program)" = "2 ranks, sum 1" ]
[ "$(mpicxx -showme:command)" = c++ ] && [ "$(mpic++ -showme:command)" = c++ ]
if command -v gfortran >/dev/null; then
    for wrapper in mpifort mpif77 mpif90; do
        XDG_CACHE_HOME=$work/cache $wrapper -w "$source/tests/install/fortran/old.f90" -o program 2>said
        [ "$(mpirun -n 2 ./program)" = "2 ranks, sum 1" ]
        XDG_CACHE_HOME=$work/cache $wrapper -w -fdefault-integer-8 "$source/tests/install/fortran/header.f" -o program 2>said
        [ "$(mpirun -n 2 ./program)" = "2 ranks, sum 1" ]
    done
fi
PKG_CONFIG_PATH=$work/environment/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # flags are words
cc "$source/tests/install/program.c" -o flags $(pkg-config --cflags --libs mpi)
[ "$(mpiexec -n 2 ./flags)" = "2 ranks, sum 1" ]
impi-info --check >said || { cat said; exit 1; }
cat >ranks.py <<'PYTHON'
import ctypes, os, subprocess, sys
mpi = ctypes.CDLL(os.path.join(sys.prefix, "lib", "libmpi.so"), os.RTLD_LAZY | os.RTLD_LOCAL)
world, size, rank = ctypes.c_void_p(0x101), ctypes.c_int(), ctypes.c_int()
major, minor = ctypes.c_int(), ctypes.c_int()
assert mpi.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor)) == 0 and major.value == 1
assert mpi.MPI_Init(None, None) == 0
assert mpi.MPI_Comm_size(world, ctypes.byref(size)) == 0 and mpi.MPI_Comm_rank(world, ctypes.byref(rank)) == 0
assert subprocess.check_output(["echo", "child"]) == b"child\n"
with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as cat:
    assert cat.communicate(b"in") == (b"in", None)
child = os.fork()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert mpi.MPI_Barrier(world) == 0 and size.value == 2 and rank.value in (0, 1)
assert mpi.MPI_Finalize() == 0
PYTHON
mpirun -n 2 python ranks.py
pip uninstall --quiet --yes libimpi
find environment ! -type d | sort >after
diff before after

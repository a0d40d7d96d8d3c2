#!/bin/sh
# What users start by a script, of Debian and PyPI: mpi4py's wheel, in an environment of its own, alone and beside another
# MPI of PyPI's; petsc4py, which solves a system; and Rmpi, whose launcher puts the system's folder in front of
# LD_LIBRARY_PATH. A package that cannot be had is passed over, with a word.
set -eu
stage=$1 work=$2
rm -rf "$work" && mkdir -p "$work" && cd "$work"
both() { # WORD...: two ranks are one job, and nothing else is said
    "$stage/bin/impirun" -n 2 "$@" >out 2>said || { echo "$*: failed"; cat out said; exit 1; }
    if [ "$(grep -c '2 ranks' out)" != 2 ] || [ -s said ]; then
        echo "$*: not one job of two ranks"
        cat out said
        exit 1
    fi
}
install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends "$@" >apt.log 2>&1 || { echo "skipped: $* cannot be installed"; return 1; }
}

word='from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(1), "ranks", flush=True)'
if python3 -m venv venv >pip.log 2>&1 && venv/bin/pip install --quiet mpi4py >>pip.log 2>&1; then
    both venv/bin/python -c "$word"
    both -abi openmpi venv/bin/python -c "$word"
    both sh -c 'venv/bin/python -c "$0"; exit $?' "$word"
    if venv/bin/pip install --quiet mpich >>pip.log 2>&1; then
        both venv/bin/python -c "$word"
    else
        echo "skipped: mpich cannot be had from PyPI"
    fi
else
    echo "skipped: mpi4py's wheel cannot be had"
fi

cat >solve.py <<'P'
import sys, petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc
n = 64
a = PETSc.Mat().createAIJ([n, n], nnz=3)
a.setUp()
first, end = a.getOwnershipRange()
for i in range(first, end):
    a[i, i] = 2
    if i > 0: a[i, i - 1] = -1
    if i < n - 1: a[i, i + 1] = -1
a.assemble()
b, x = a.createVecLeft(), a.createVecRight()
b.set(1)
solver = PETSc.KSP().create()
solver.setOperators(a)
solver.setType('cg')
solver.getPC().setType('jacobi')
solver.setTolerances(rtol=1e-10)
solver.solve(b, x)
assert (a * x - b).norm() < 1e-6
print(f"{PETSc.COMM_WORLD.getSize()} ranks\n", end="", flush=True)
P
if install python3-petsc4py-real; then
    folder=$(ls -d /usr/lib/petscdir/petsc*/*-real/lib/python3/dist-packages | tail -1)
    both -x PYTHONPATH="$folder" /usr/bin/python3 solve.py
fi

echo 'library(Rmpi); cat(mpi.comm.size(0), "ranks\n"); invisible(mpi.finalize())' >ranks.R
if install r-cran-rmpi; then
    both Rscript ranks.R
    both R --no-save --slave -f ranks.R
fi

#!/bin/sh
# mpi4py, built in an environment that has the wheel, runs on two ranks. It is fetched from the package index.
set -eu
stage=$1 work=$2 source=$3
python3 -c 'import pip, venv' 2>/dev/null || { echo "skipped: there is no pip"; exit 0; }
rm -rf "$work" && mkdir -p "$work" && cd "$work"
wheel=$(WHEEL_COMPRESSION=1 "$source/packaging/wheel/build" "$stage" "$work")
python3 -m venv environment
PATH=$work/environment/bin:$PATH
export PATH
pip install --quiet --no-index --no-deps "$wheel"
# It is to be right, not fast.
MPICC=mpicc CFLAGS="-O0 -g0" pip install --quiet --no-binary mpi4py --no-cache-dir mpi4py >said 2>&1 ||
    { if grep -q "No matching distribution" said; then echo "skipped: mpi4py cannot be had"; exit 0; fi; cat said; exit 1; }
[ "$(mpirun -n 2 python -c 'import sys
from mpi4py import MPI
sum = MPI.COMM_WORLD.allreduce(MPI.COMM_WORLD.rank + 1)
sys.stdout.write(f"{sum} {MPI.Get_library_version().split()[0]}\n")' | sort -u)" = "3 libimpi" ]

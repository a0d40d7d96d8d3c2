#!/bin/sh
# The library can be loaded with RTLD_LOCAL, by each name it has, and let go again. What has handlers of faults and
# signals by then, as the runtimes of languages do, keeps them.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work"
cc "$source/tests/install/dlopen.c" -o "$work/dlopen" -ldl -lpthread
for name in libmpi_abi.so.1 libmpi.so libmpi_abi.so; do
    [ "$("$stage/bin/mpiexec" -n 2 "$work/dlopen" "$stage/lib/$name" | sort -u)" = "abi 1.0" ]
done

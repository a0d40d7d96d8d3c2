#!/bin/sh
# The library exports every function of the standard, MPI_ and PMPI_, what Fortran's library asks for, and nothing
# else; it is called what the ABI says, and asks for nothing but the C library.
set -eu
stage=$1 work=$2 source=$3
mkdir -p "$work"
lib=$stage/lib/libmpi_abi.so.1
sed -n 's/^ *\(P*MPI[X]*_[A-Za-z0-9_]*\|impi_section\);.*/\1/p' "$source/gobridge/shim/z_exports.map" | sort >"$work/wanted"
[ "$(wc -l <"$work/wanted")" -gt 1000 ]
nm -D --defined-only "$lib" | awk '{print $3}' | sed 's/@.*//' | sort >"$work/exported"
diff "$work/wanted" "$work/exported"
readelf -d "$lib" >"$work/dynamic"
grep -q 'SONAME.*\[libmpi_abi.so.1\]' "$work/dynamic"
grep -q 'NODELETE' "$work/dynamic"
if grep NEEDED "$work/dynamic" | grep -vE '\[(libc|libpthread|libresolv|libdl|libm|ld-linux[^]]*)\.so'; then
    echo "needs more than the C library"; exit 1
fi
for link in libmpi_abi.so libmpi.so libmpi_abi.so.0; do
    [ "$(readlink "$stage/lib/$link")" = libmpi_abi.so.1 ]
done
# What a library of ours calls of itself is its own, though another MPI may stand before it in a process. (A profiling
# library before it gets the calls of the program: profile.sh.)
for lib in lib/libmpi_abi.so.1 lib/mpich/libmpi.so.12 lib/openmpi/libmpi.so.40; do
    if readelf -rW "$stage/$lib" | grep -E 'JUMP_SLO.* P?MPIX?_'; then
        echo "$lib calls itself by names that others may have, too"; exit 1
    fi
done

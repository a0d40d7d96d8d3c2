#!/bin/sh
# A program that is built with AddressSanitizer, which looks for leaks at the end, ends with 0 and without a word if it
# frees what it has made; what it forgets is found.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"
echo 'int main(void) { return 0; }' >probe.c
if ! cc -fsanitize=address probe.c -o probe 2>/dev/null || ! ./probe 2>/dev/null; then
    echo "skipped: no AddressSanitizer with this compiler or kernel"
    exit 0
fi
"$stage/bin/mpicc" -g -fsanitize=address "$source/tests/install/leaks.c" -o clean
for run in "" "$stage/bin/mpiexec -n 1" "$stage/bin/mpiexec -n 2" "$stage/bin/mpiexec -clients 2 -n 2"; do
    $run ./clean >said 2>&1 || { echo "$run: exit code $?"; cat said; exit 1; }
    if [ -s said ]; then cat said; exit 1; fi
done
if ./clean forget >said 2>&1; then echo "a leak is not found"; exit 1; fi
grep -q "1234 byte(s) leaked" said || { cat said; exit 1; }

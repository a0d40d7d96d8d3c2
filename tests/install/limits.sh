#!/bin/sh
# Limits that are too low are said in one line, and never by a trace of Go's.
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"
"$stage/bin/mpicc" "$source/tests/install/program.c" -o program
if (ulimit -v 600000; ./program) 2>said; then exit 1; fi
[ "$(wc -l <said)" = 1 ]
grep -q "ulimit -v" said
if "$stage/bin/mpirun" -n 2 sh -c 'ulimit -v 600000; exec ./program' 2>said; then exit 1; fi
grep -q "ulimit -v" said
if grep -q goroutine said; then exit 1; fi
# A system that gives no threads, as with a low ulimit -u.
cat >none.c <<'C'
#include <errno.h>
#include <pthread.h>
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x) { (void)t, (void)a, (void)f, (void)x; return EAGAIN; }
C
cc -shared -fPIC none.c -o none.so
if LD_PRELOAD=$work/none.so ./program 2>said; then exit 1; fi
[ "$(wc -l <said)" = 1 ]
grep -q "ulimit -u" said
for how in "-n 30" "-clients 2 -n 4" "-clients 2 -via agent -n 4"; do
    if (ulimit -n 16; "$stage/bin/mpirun" $how ./program) 2>said; then exit 1; fi
    [ "$(wc -l <said)" = 1 ]
    grep -q "ulimit -n" said
done

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
# Few processes: the launcher counts before it starts any. The kernel does not hold root to this limit.
user="setpriv --reuid 65534 --regid 65534 --clear-groups"
[ "$(id -u)" = 0 ] || user=
if $user "$stage/bin/mpirun" --version >said 2>&1; then
    if HOME=/root $user prlimit --nproc=20 "$stage/bin/mpirun" -n 2 true 2>said; then exit 1; fi
    [ "$(wc -l <said)" = 1 ]
    grep -q "2 ranks and their launcher need some .* left: raise ulimit -u, which is 20" said
fi
# Where Go's runtime has no room for its memory or its threads, it would end with pages of text.
if [ "$(uname -m)" = x86_64 ]; then
    if (ulimit -v 300000; exec "$stage/bin/mpirun" -n 2 true) 2>said; then exit 1; fi
    [ "$(wc -l <said)" = 1 ]
    grep -q "^impirun: the limit of address space (ulimit -v) is less than 768 MiB" said
    if [ -n "$user" ] && $user "$stage/bin/mpirun" --version >said 2>&1; then
        if $user prlimit --nproc=2 "$stage/bin/mpirun" -n 2 true 2>said; then exit 1; fi
        [ "$(wc -l <said)" = 1 ]
        grep -q "^impirun: the limit of processes (ulimit -u) is less than 16" said
    fi
fi
# Closed descriptors are nobody's: what the launcher opens does not become a rank's output.
[ "$("$stage/bin/mpirun" -n 2 sh -c 'echo out; ls /proc/self/fd/0 >/dev/null; echo no >&2' <&- 2>&-)" = "out
out" ]
"$stage/bin/mpirun" -n 2 sh -c 'readlink /proc/$PPID/fd/1 >&2; exit 0' >&- 2>said
[ "$(sort -u said)" = /dev/null ]
# Memory that may not be had: of a job, and of a window in a rank that has lowered its limit since.
if (ulimit -f 8; "$stage/bin/mpirun" -n 2 ./program) 2>said; then exit 1; fi
[ "$(wc -l <said)" = 1 ]
grep -q "ulimit -f" said
cat >window.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>
int main(int argc, char **argv)
{
    struct rlimit l = {1 << 20, 1 << 20};
    char text[MPI_MAX_ERROR_STRING];
    void *base;
    MPI_Win w;
    int n;
    MPI_Init(&argc, &argv);
    setrlimit(RLIMIT_FSIZE, &l);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Win_allocate_shared(2 << 20, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w);
    if (code == MPI_SUCCESS) return 1;
    MPI_Error_string(code, text, &n);
    printf("%s\n", text);
    MPI_Finalize();
    return 0;
}
C
"$stage/bin/mpicc" window.c -o window
"$stage/bin/mpirun" -n 2 ./window >said
[ "$(grep -c "no shared memory of" said)" = 2 ] && grep -q "ulimit -f" said || { cat said; exit 1; }
# A rank that gets no more memory: of Go's trace it shows one line.
cat >eats.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
int main(int argc, char **argv)
{
    static char key[20], value[1000];
    unsigned long pages;
    MPI_Init(&argc, &argv);
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%lu", &pages) != 1) return 1;
    struct rlimit l = {(pages << 12) + (256 << 20), (pages << 12) + (256 << 20)};
    setrlimit(RLIMIT_AS, &l);
    memset(value, 'x', sizeof value - 1);
    for (int i = 0; i < 1000000; i++) {
        static MPI_Info info;
        if (i % 100 == 0) MPI_Info_create(&info);
        snprintf(key, sizeof key, "%d", i);
        MPI_Info_set(info, key, value);
    }
    return 0;
}
C
"$stage/bin/mpicc" eats.c -o eats
if "$stage/bin/mpirun" -n 1 ./eats 2>said; then exit 1; fi
[ "$(wc -l <said)" = 2 ] && grep -q "^libimpi: rank 0 of 1 .*out of memory" said || { cat said; exit 1; }

#!/bin/sh
# Scripts and interpreters, which are linked with no MPI, reach libimpi with whatever they load or start: modules of
# Python for either ABI, programs of a shell script, and those of a script that puts the system's folder in front of
# LD_LIBRARY_PATH.
set -eu
stage=$1 work=$2
rm -rf "$work" && mkdir -p "$work/their" && cd "$work"
# Another MPI that joins nobody, and a module that is linked with it, as an interpreter loads it.
whole='int MPI_Init(int *a, char ***b) { (void)a, (void)b; return 0; } int MPI_Finalize(void) { return 0; }
int PMPI_Init(int *a, char ***b) { return MPI_Init(a, b); } int MPI_Comm_size(void *c, int *n) { (void)c; return *n = 1, 0; }'
cat >module.c <<'C'
#include <stdio.h>
#ifdef MPICH
#define WORLD 0x44000000
int MPI_Comm_size(int, int *);
#else
extern char ompi_mpi_comm_world[];
#define WORLD ompi_mpi_comm_world
int MPI_Comm_size(void *, int *);
#endif
int MPI_Init(int *, char ***), MPI_Finalize(void);
int run(void)
{
    int n = 0;
    MPI_Init(0, 0);
    MPI_Comm_size(WORLD, &n);
    printf("%d ranks\n", n);
    return fflush(stdout) || MPI_Finalize();
}
C
cat >interpreter.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char **a)
{
    void *module = n > 1 ? dlopen(a[1], RTLD_NOW | RTLD_LOCAL) : 0;
    int (*run)(void) = 0;
    if (!module || !(*(void **)&run = dlsym(module, "run"))) return fprintf(stderr, "%s\n", dlerror()), 1;
    return run();
}
C
cc interpreter.c -o interpreter -ldl
cat >script <<'S'
#!/bin/sh
"$@"
exit $?
S
# What the wrapper of R does, and others.
cat >wrapper <<S
#!/bin/sh
LD_LIBRARY_PATH=$work/their\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
"\$@"
exit \$?
S
chmod +x script wrapper
both() { # WORD...: two ranks are one job, and nothing else is said
    "$stage/bin/impirun" -n 2 "$@" >out 2>said || { echo "$*: failed"; cat out said; exit 1; }
    if [ "$(cat out)" != "2 ranks
2 ranks" ] || [ -s said ]; then
        echo "$*: not one job of two ranks"
        cat out said
        exit 1
    fi
}
for abi in mpich:12 openmpi:40; do
    name=libmpi.so.${abi#*:} option=
    [ $abi = mpich:12 ] && option=-DMPICH
    echo "$whole char ompi_mpi_comm_world[512];" | cc -x c -shared -fPIC -Wl,-soname,$name -o their/$name -
    cc $option -shared -fPIC module.c -o module.so ./their/$name
    cc $option -Drun=main module.c -o program ./their/$name
    both ./interpreter ./module.so
    both ./script ./interpreter ./module.so
    both ./wrapper ./interpreter ./module.so
    both sh -c ./program
    both ./wrapper ./program
    both ./wrapper ./script ./program
done

# Debian's mpi4py, which is linked with Open MPI, where it is installed.
if /usr/bin/python3 -c 'import mpi4py.MPI' 2>/dev/null; then
    both /usr/bin/python3 -c 'import sys; from mpi4py import MPI; sys.stdout.write("%d ranks\n" % MPI.COMM_WORLD.size)'
    both ./script /usr/bin/python3 -c 'import sys; from mpi4py import MPI; sys.stdout.write("%d ranks\n" % MPI.COMM_WORLD.size)'
fi
# Two programs of a script may be of different MPIs.
"$stage/bin/mpicc" -x c - -o ours <<'C'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int n;
    MPI_Init(0, 0);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    printf("%d ranks\n", n);
    return fflush(stdout) || MPI_Finalize();
}
C
[ "$("$stage/bin/impirun" -n 2 sh -c './program && ./ours' | sort | uniq -c | tr -s ' ')" = " 4 2 ranks" ]

# A launcher in a launcher: one line, of the first rank.
"$stage/bin/impirun" -n 2 sh -c "'$stage/bin/impirun' -n 1 ./ours" >out 2>said
[ "$(wc -l <said)" = 1 ] && grep -q "rank 0 of a job of 2 ranks, each of which starts a job of its own" said || { cat said; exit 1; }
"$stage/bin/impirun" -n 2 sh -c "'$stage/bin/impirun' -q -n 1 ./ours" >out 2>said
[ ! -s said ] || { cat said; exit 1; }

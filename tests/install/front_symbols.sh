#!/bin/sh
# The libraries with Open MPI's ABI have all that Debian's packages refer to of Open MPI's (front_symbols.list: of some 180
# libraries and programs of Debian 12), and those of Fortran what its programs in Fortran refer to (front_fortran.list).
set -eu
stage=$1 work=$2 source=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work"
for library in libmpi.so.40 libmpi_mpifh.so.40; do
    nm -D --defined-only "$stage/lib/openmpi/$library"
done | awk '{print $3}' | sort -u >have
if [ -e "$stage/lib/openmpi/libmpi_cxx.so.40" ]; then
    nm -D --defined-only "$stage/lib/openmpi/libmpi_cxx.so.40" | awk '{print $3}' | sort -u - have >more && mv more have
else
    echo ompi_mpi_cxx_op_intercept | sort -u - have >more && mv more have
fi
sort -u "$source/tests/install/front_symbols.list" >need
if missing=$(comm -23 need have) && [ -n "$missing" ]; then
    echo "not there:" $missing
    exit 1
fi

# Procedures for failures that a job survives, which Open MPI has since 5 and MPICH in part, as their modules call them.
tables=$source/abi/fortran/arguments.tsv
for library in openmpi/libmpi_mpifh.so.40 mpich/libmpifort.so.12; do
    nm -D --defined-only "$stage/lib/$library" | awk '{ print $3 }' | sort -u >have
    awk -v mpich="${library%%openmpi*}" '/^MPIX_/ {
        n = tolower($1); f = n "_f08_"; p = "p" f
        if (mpich != "") sub("mpix", "mpixr", p)
        print n "_\n" n "__\n" n "\n" toupper(n) "\np" n "_\n" f "\n" p
        if (mpich == "") print "o" n "_f"
    }' "$tables" | sort -u >need
    if missing=$(comm -23 need have) && [ -n "$missing" ]; then
        echo "not in $library:" $missing
        exit 1
    fi
done

for libraries in "openmpi/libmpi_mpifh.so.40 openmpi/libmpi.so.40" mpich/libmpifort.so.12; do
    # shellcheck disable=SC2086 # words
    (cd "$stage/lib" && nm -D --defined-only $libraries) | awk 'NF == 3 { print $3 }' | sort -u >have
    # Compilers have several conventions for names, and a tool calls procedures by a name of their own.
    awk '{ print $1 } !/(_fn|_cptr)_$/ { n = substr($1, 1, length($1) - 1); print $1 "_\n" n "\n" toupper(n) "\np" $1 }' \
        "$source/tests/install/front_fortran.list" | sort -u >need
    if missing=$(comm -23 need have) && [ -n "$missing" ]; then
        echo "not in $libraries:" $missing
        exit 1
    fi
done

# A library in C with a part for Fortran, as PETSc is: it loads, and its part in C works.
cat >part.c <<'C'
void mpi_barrier_(int *, int *), mpi_conversion_fn_null_(void);
extern int mpi_fortran_bottom_;
int MPI_Init(int *, char ***), MPI_Finalize(void);
void *const referred[] = {(void *)mpi_conversion_fn_null_, &mpi_fortran_bottom_};
int part(int fortran)
{
    MPI_Init(0, 0);
    int world = 0, error = 0; /* the handle that Open MPI's Fortran has */
    if (fortran) mpi_barrier_(&world, &error);
    if (error) return error;
    return MPI_Finalize();
}
C
cc -shared -fPIC part.c -o libpart.so -Wl,-z,now,--no-as-needed "$stage/lib/openmpi/libmpi.so.40" \
    "$stage/lib/openmpi/libmpi_mpifh.so.40"
echo 'int part(int); int main(int n, char **a) { (void)a; return part(n > 1); }' |
    cc -x c - -o program -Wl,--enable-new-dtags,-rpath,"$work" -x none ./libpart.so -Wl,--allow-shlib-undefined
"$stage/bin/impirun" -n 2 ./program >said 2>&1 && [ ! -s said ] || { echo "it does not run"; cat said; exit 1; }
"$stage/bin/impirun" -n 2 ./program fortran >said 2>&1 && [ ! -s said ] || { echo "its Fortran does not run"; cat said; exit 1; }

# What cannot be loaded is no job of its own.
sed 's/mpi_barrier_/mpi_nothing_/g' part.c >other.c
cc -shared -fPIC other.c -o libpart.so -Wl,-z,now,--no-as-needed "$stage/lib/openmpi/libmpi.so.40" \
    "$stage/lib/openmpi/libmpi_mpifh.so.40"
status=0
"$stage/bin/impirun" -n 2 ./program >out 2>said || status=$?
if [ $status != 127 ] || ! grep -q "exited with code 127: a program, or a library that it needs, was not found or could" said ||
    grep -q 'job of its own' said; then
    echo "exit status $status, and not 127 with the reason:"
    cat said
    exit 1
fi

/* The part of mixed.F90 that is in C. Handles come and go as integers. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Not of the ABI: an MPICH 5 has none of these, and runs the other chapters. */
#pragma weak MPI_Comm_c2f
#pragma weak MPI_Comm_f2c
#pragma weak MPI_Op_f2c
#pragma weak MPI_Status_f2c
#pragma weak MPI_Type_c2f

static void check(int holds)
{
    if (!holds) MPI_Abort(MPI_COMM_WORLD, 4);
}

int c_dup(int comm)
{
    MPI_Comm copy;
    MPI_Comm_dup(MPI_Comm_f2c(comm), &copy);
    check(MPI_Comm_f2c(MPI_Comm_c2f(copy)) == copy);
    return MPI_Comm_c2f(copy);
}

int c_tag(const MPI_Fint *status)
{
    MPI_Status s;
    int n;
    MPI_Status_f2c(status, &s);
    MPI_Get_count(&s, MPI_BYTE, &n);
    check(n == 4 || n == 8);
    return s.MPI_TAG;
}

/* What Fortran's attribute is, and one of C's in its place. */
void c_attributes(int comm, int key, intptr_t *address, intptr_t *value)
{
    static int here;
    void *at;
    int flag;
    MPI_Comm c = MPI_Comm_f2c(comm);
    MPI_Comm_get_attr(c, key, &at, &flag);
    check(flag);
    *value = *(intptr_t *)at;
    *address = (intptr_t)&here;
    MPI_Comm_set_attr(c, key, &here);
}

static int copy(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key, (void)extra;
    *(void **)out = (void *)*(intptr_t *)in; /* Fortran's value, which Fortran has as an address of C's then */
    *flag = 1;
    return MPI_SUCCESS;
}

int c_key(void)
{
    int key;
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    return key;
}

int c_sum(int comm, int op)
{
    int mine, sum = 0;
    MPI_Comm c = MPI_Comm_f2c(comm);
    MPI_Comm_rank(c, &mine);
    mine++;
    MPI_Allreduce(&mine, &sum, 1, MPI_INTEGER4, MPI_Op_f2c(op), c);
    return sum;
}

void c_fail(int comm)
{
    check(MPI_Send(NULL, 0, MPI_INT, 1 << 20, 0, MPI_Comm_f2c(comm)) != MPI_SUCCESS);
}

int c_vector(void)
{
    MPI_Datatype t;
    MPI_Type_vector(3, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    return MPI_Type_c2f(t);
}

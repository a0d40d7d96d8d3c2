/* A profiling library (MPI 5.0, 15.2): counts the calls of some functions, and tells when MPI ends. MPI_Pcontrol
 * switches it off and on. */
#include <mpi.h>
#include <stdio.h>

static int on = 1, sends, receives, reductions, dups, queries, clocks;
#define COUNT(n) ((n) += on)

int MPI_Init(int *argc, char ***argv)
{
    int err = PMPI_Init(argc, argv);
    on = 1;
    return err;
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    COUNT(sends);
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    COUNT(receives);
    return PMPI_Recv(buf, count, type, source, tag, comm, status);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    COUNT(reductions);
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    COUNT(dups);
    return PMPI_Comm_dup(comm, newcomm);
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag)
{
    COUNT(queries);
    return PMPI_Comm_get_attr(comm, key, value, flag);
}

double MPI_Wtime(void)
{
    COUNT(clocks);
    return PMPI_Wtime();
}

int MPI_Pcontrol(const int level, ...)
{
    on = level != 0;
    return PMPI_Pcontrol(level);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("%d sends, %d receives, %d reductions, %d dups, %d queries, %d clocks\n", sends, receives, reductions,
               dups, queries, clocks);
        fflush(stdout);
    }
    return PMPI_Finalize();
}

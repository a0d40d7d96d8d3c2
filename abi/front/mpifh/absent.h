/* Procedures of Fortran that programs and libraries refer to, and that libimpi does not have: a library in C may have a
 * part for Fortran that nobody calls. A call says so and ends the job. */
#ifndef FRONT_ABSENT_H
#define FRONT_ABSENT_H

#include <stdio.h>
#include <stdlib.h>

extern char ompi_mpi_comm_world[];
int PMPI_Initialized(int *), PMPI_Finalized(int *), PMPI_Abort(void *, int);

static _Noreturn __attribute__((noinline, cold)) void absent(const char *name)
{
    int before = 0, after = 0;
    fprintf(stderr,
            "libimpi: the program calls MPI_%s of Open MPI's Fortran bindings, and libimpi has none: of programs that "
            "were compiled with another MPI it runs those in C and C++. Start it with the mpirun of Open MPI\n",
            name);
    PMPI_Initialized(&before), PMPI_Finalized(&after);
    if (before && !after) PMPI_Abort(ompi_mpi_comm_world, 1);
    exit(1);
}

/* A procedure under the names that compilers give it. */
#define ABSENT_ALIAS(alias_of, name) \
    extern __attribute__((alias(#alias_of), visibility("default"))) void name(void)
#define ABSENT(prefix, name) \
    __attribute__((visibility("default"))) void prefix##_##name##_(void) { absent(#name); } \
    ABSENT_ALIAS(prefix##_##name##_, prefix##_##name); \
    ABSENT_ALIAS(prefix##_##name##_, prefix##_##name##__)

#endif

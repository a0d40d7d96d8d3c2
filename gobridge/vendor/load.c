// Loading another MPI library, and finding out which ABI it has.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>
#include "calls.h"

// If the program itself names environ, that variable is in the program, and the C library's own stays empty, which is
// what a library sees that binds to the C library before the program.
void impi_vendor_environment(void)
{
    void *c = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    char ***own = c ? dlsym(c, "environ") : NULL;
    if (own && own != &environ) *own = environ;
    if (c) dlclose(c);
}

// kind is the ABI of a library, by what only libraries with that ABI have; NULL: it has none of them. The standard's
// comes first, since a library with that ABI may have the symbols of its own one, too. MPICH's library for its own ABI
// has MPI_Abi_get_version, too, which returns -1 there.
static const calls *kind(void *library)
{
    int (*abi)(int *, int *) = dlsym(library, "PMPI_Abi_get_version");
    int major = -1, minor = -1;
    if (abi && !abi(&major, &minor) && major == 1) return &impi_vendor_standard;
    if (dlsym(library, "ompi_mpi_comm_world")) return &impi_vendor_openmpi; // MPI_COMM_WORLD in its mpi.h
    if (dlsym(library, "MPIR_Dup_fn")) return &impi_vendor_mpich; // MPI_DUP_FN in its mpi.h
    return NULL;
}

// What the library calls of its own must not become calls of ours, which has the same names (RTLD_DEEPBIND).
loaded impi_vendor_load(const char *file)
{
    impi_vendor_environment();
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library) return (loaded){.error = strdup(dlerror())};
    const calls *is = kind(library);
    return (loaded){.calls = is, .missing = is ? is->find(library) : NULL};
}

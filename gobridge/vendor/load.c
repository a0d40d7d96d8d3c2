// Loading another MPI library, and finding out which ABI it has.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include "calls.h"

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

// The plugins of an Open MPI find it by its name. If a library of that name is in the process already, as ours is for
// programs that were compiled with Open MPI, they would find that one, where what they need is missing. Some Open MPIs
// have no plugins: they contain what carries messages.
static const char openmpi[] = "libmpi.so.40";
static int is_hidden(void *library, void *before)
{
    return before && before != library && !dlsym(library, "mca_pml_ob1_component");
}

// What the library calls of its own must not become calls of ours, which has the same names (RTLD_DEEPBIND).
loaded impi_vendor_load(const char *file)
{
    impi_vendor_environment();
    void *before = dlopen(openmpi, RTLD_NOW | RTLD_NOLOAD);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!library) return (loaded){.error = strdup(dlerror())};
    impi_vendor_rebind();
    const calls *is = kind(library);
    loaded l = {.calls = is, .missing = is ? is->find(library) : NULL};
    if (is == &impi_vendor_openmpi && is_hidden(library, before)) l.hidden = openmpi;
    if (before) dlclose(before);
    return l;
}

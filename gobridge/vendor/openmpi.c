// Open MPI's ABI, since 3: handles are pointers, and predefined ones the addresses of data symbols.
#include <stddef.h>
#include <stdint.h>
#include "z_openmpi.h"

typedef uintptr_t handle;
typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, cancelled;
    size_t count;
} status;

#define HANDLE(there) (handle) dlsym(library, #there)
#define CALLS impi_vendor_openmpi
#include "body.h"

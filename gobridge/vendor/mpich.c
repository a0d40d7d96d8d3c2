// MPICH's ABI, since 3.1: handles are ints.
#include "z_mpich.h"

typedef int handle;
typedef struct {
    int count[2], MPI_SOURCE, MPI_TAG, MPI_ERROR;
} status;

#define HANDLE(there) there
#define CALLS impi_vendor_mpich
#include "body.h"

// The ABI of MPI 5.0 (chapter 20): handles have the width of a pointer.
#include <stdint.h>
#include "../../mpi.h"
#include "z_standard.h"

typedef uintptr_t handle;
typedef MPI_Status status;

#define HANDLE(there) there
#define CALLS impi_vendor_standard
#include "body.h"

/* The common blocks whose addresses are constants of Fortran, and procedures that are constants. */
#include "fortran.h"

Fint mpi_abi_bottom_, mpi_abi_in_place_, mpi_abi_buffer_automatic_, mpi_abi_status_ignore_[8], mpi_abi_statuses_ignore_[8],
    mpi_abi_errcodes_ignore_[1], mpi_abi_unweighted_[1], mpi_abi_weights_empty_[1];
char mpi_abi_argv_null_[1], mpi_abi_argvs_null_[1];

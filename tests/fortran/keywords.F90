! Arguments by the standard's names, in another order than its own.
#include "binding.h"
module keywords
#if BINDING != 1
  USE_MPI
  use checks
  implicit none
  private
  public :: keywords_tests
contains
  subroutine keywords_tests
    integer :: x, y, e
    COMM_T :: c
    REQUEST_T :: r
    DATATYPE_T :: t
    STATUS(st)
    logical :: there
    x = rank
    call MPI_Comm_dup(newcomm=c, comm=MPI_COMM_WORLD, ierror=e)
    call MPI_Irecv(request=r, comm=c, tag=3, source=left(), datatype=MPI_INTEGER, count=1, buf=y, ierror=e)
    call MPI_Send(dest=right(), tag=3, comm=c, buf=x, count=1, datatype=MPI_INTEGER, ierror=e)
    call MPI_Wait(status=st, request=r, ierror=e)
    CHECK(y == left() .and. TAG_OF(st) == 3)
    call MPI_Iprobe(flag=there, source=MPI_ANY_SOURCE, tag=3, comm=c, status=st, ierror=e)
    CHECK(.not. there)
    call MPI_Allreduce(op=MPI_MAX, sendbuf=x, recvbuf=y, count=1, datatype=MPI_INTEGER, comm=c, ierror=e)
    CHECK(y == ranks - 1)
    call MPI_Type_vector(stride=3, count=2, blocklength=1, oldtype=MPI_REAL, newtype=t, ierror=e)
    call MPI_Type_free(datatype=t, ierror=e)
    call MPI_Comm_free(comm=c, ierror=e)
  end subroutine
#endif
end module

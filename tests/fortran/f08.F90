! What only mpi_f08 has: optional ierror, types of handles and statuses, large counts, interfaces of the program's functions.
#include "binding.h"
module only_f08
#if BINDING == 3
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: C_PTR, c_f_pointer
  use checks
  implicit none
  private
  public :: only_f08_tests
contains
  subroutine only_f08_tests
    call without_ierror
    call handles
    call status_fields
    call kept_interfaces
#ifndef IMPI_INTEGER8
    call large_counts
    call large_types
    call large_vectors
#endif
    call large_operators
    call profiled
  end subroutine

  subroutine without_ierror
    integer :: x, y
    type(MPI_Comm) :: c
    type(MPI_Request) :: r
    character(30) :: name
    integer :: n
    x = rank
    call MPI_Comm_dup(MPI_COMM_WORLD, c)
    call MPI_Isend(x, 1, MPI_INTEGER, right(), 1, c, r)
    call MPI_Recv(y, 1, MPI_INTEGER, left(), 1, c, MPI_STATUS_IGNORE)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    CHECK(y == left())
    call MPI_Barrier(c)
    call MPI_Comm_set_name(c, 'nameless')
    call MPI_Comm_get_name(c, name, n)
    CHECK(name == 'nameless')
    call MPI_Comm_free(c)
  end subroutine

  subroutine handles
    type(MPI_Comm) :: c, d
    type(MPI_Request) :: r(3)
    c = MPI_COMM_WORLD
    d = MPI_Comm(c%MPI_VAL)
    CHECK(c == d .and. .not. c /= d .and. c /= MPI_COMM_SELF)
    CHECK(MPI_INTEGER /= MPI_REAL .and. .not. MPI_INTEGER == MPI_REAL .and. MPI_SUM == MPI_SUM)
    CHECK(MPI_ERRORS_RETURN /= MPI_ERRORS_ARE_FATAL .and. MPI_FILE_NULL == MPI_FILE_NULL)
    CHECK(MPI_GROUP_EMPTY /= MPI_GROUP_NULL .and. MPI_INFO_ENV /= MPI_INFO_NULL .and. MPI_WIN_NULL == MPI_WIN_NULL)
    CHECK(MPI_MESSAGE_NULL /= MPI_MESSAGE_NO_PROC .and. MPI_SESSION_NULL == MPI_SESSION_NULL)
    r = MPI_REQUEST_NULL
    CHECK(r(2) == MPI_REQUEST_NULL)
  end subroutine

  subroutine status_fields
    type(MPI_Status) :: st, copy
    integer :: x, n
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 9, x, 1, MPI_INTEGER, 0, 9, MPI_COMM_SELF, st)
    copy = st  ! with what is private in it
    st%MPI_TAG = 17
    call MPI_Get_count(copy, MPI_INTEGER, n)
    CHECK(n == 1 .and. copy%MPI_TAG == 9 .and. st%MPI_TAG == 17)
  end subroutine

  ! Procedures of these types can be passed on.
  subroutine kept_interfaces
    procedure(MPI_User_function), pointer :: f
    type(MPI_Op) :: op
    integer :: x(2), y(2)
    f => minimum
    call MPI_Op_create(f, .true., op)
    x = (/ rank, -rank /)
    call MPI_Allreduce(x, y, 2, MPI_INTEGER, op, MPI_COMM_WORLD)
    CHECK(y(1) == 0 .and. y(2) == 1 - ranks)
    call MPI_Op_free(op)
  end subroutine

  subroutine minimum(invec, inoutvec, len, datatype)
    type(C_PTR), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, (/ len /))
    call c_f_pointer(inoutvec, b, (/ len /))
    if (datatype /= MPI_INTEGER) stop 3
    b = min(a, b)
  end subroutine

#ifndef IMPI_INTEGER8
  subroutine large_counts
    integer(MPI_COUNT_KIND) :: n, m, counts(ranks)
    integer(MPI_ADDRESS_KIND) :: displs(ranks)
    integer :: x(3), all(3, ranks), i
    type(MPI_Status) :: st
    type(MPI_Request) :: r
    n = 3
    x = (/ rank, 1, 2 /)
    call MPI_Isend(x, n, MPI_INTEGER, right(), 4, MPI_COMM_WORLD, r)
    call MPI_Recv(all, n, MPI_INTEGER, left(), 4, MPI_COMM_WORLD, st)
    call MPI_Get_count(st, MPI_INTEGER, m)
    CHECK(m == 3 .and. all(1, 1) == left())
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    x = (/ rank, 1, 2 /)
    call MPI_Allgather(x, n, MPI_INTEGER, all, n, MPI_INTEGER, MPI_COMM_WORLD)
    CHECK(all(1, ranks) == ranks - 1)
    counts = 3
    displs = (/ (3_MPI_ADDRESS_KIND * (ranks - i), i = 1, ranks) /)
    call MPI_Allgatherv(x, n, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    CHECK(all(1, 1) == ranks - 1 .and. all(1, ranks) == 0 .and. all(3, 1) == 2)
  end subroutine

  subroutine large_types
    integer(MPI_COUNT_KIND) :: n, size, lb, extent, ni, na, nc, nd, counts(3), stride
    integer(MPI_ADDRESS_KIND) :: addresses(1)
    integer :: integers(1), combiner, code
    type(MPI_Datatype) :: t, types(1)
    n = 3000000000_MPI_COUNT_KIND
    call MPI_Type_contiguous(n, MPI_BYTE, t)
    call MPI_Type_size(t, size)
    CHECK(size == n)
    call MPI_Type_size(t, code)
    CHECK(code == MPI_UNDEFINED)
    call MPI_Type_get_extent(t, lb, extent)
    CHECK(lb == 0 .and. extent == n)
    call MPI_Type_free(t)
    stride = 5
    call MPI_Type_vector(2_MPI_COUNT_KIND, 3_MPI_COUNT_KIND, stride, MPI_INTEGER, t)
    call MPI_Type_get_envelope(t, ni, na, nc, nd, combiner)
    CHECK(combiner == MPI_COMBINER_VECTOR .and. ni == 0 .and. na == 0 .and. nc == 3 .and. nd == 1)
    call MPI_Type_get_contents(t, ni, na, nc, nd, integers, addresses, counts, types)
    CHECK(all(counts == (/ 2, 3, 5 /)) .and. types(1) == MPI_INTEGER)
    call MPI_Type_free(t)
  end subroutine

  subroutine large_vectors
    integer(MPI_COUNT_KIND) :: counts(ranks), n
    integer(MPI_ADDRESS_KIND) :: displs(ranks)
    type(MPI_Datatype), asynchronous :: types(ranks)
    integer, asynchronous :: out(ranks), in(ranks)
    integer :: i
    type(MPI_Request) :: r
    counts = 1
    types = MPI_INTEGER
    displs = (/ (int(i, MPI_ADDRESS_KIND), i = 0, ranks - 1) /)
    out = 10 * rank + (/ (i, i = 1, ranks) /)
    call MPI_Alltoallv(out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
    CHECK(all(in == (/ (10 * i + rank + 1, i = 0, ranks - 1) /)))
    in = 0
    displs = 4 * displs
    call MPI_Ialltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    CHECK(all(in == (/ (10 * i + rank + 1, i = 0, ranks - 1) /)))
    n = 1
    call MPI_Exscan(rank, in(1), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CHECK(rank == 0 .or. in(1) == rank * (rank - 1) / 2)
  end subroutine
#endif

  subroutine sum_large(invec, inoutvec, len, datatype)
    type(C_PTR), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, (/ len /))
    call c_f_pointer(inoutvec, b, (/ len /))
    if (datatype /= MPI_INTEGER) stop 4
    b = a + b
  end subroutine

  subroutine large_operators
    type(MPI_Op) :: op
    integer :: x(4), y(4)
    call MPI_Op_create_c(sum_large, .true., op)
    x = 1
    call MPI_Allreduce(x, y, 4, MPI_INTEGER, op, MPI_COMM_WORLD)
    CHECK(all(y == ranks))
    call MPI_Op_free(op)
  end subroutine

  subroutine profiled
    integer :: x, n
    call PMPI_Comm_size(MPI_COMM_WORLD, n)
    CHECK(n == ranks)
    call PMPI_Sendrecv(rank, 1, MPI_INTEGER, right(), 1, x, 1, MPI_INTEGER, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    CHECK(x == left())
  end subroutine
#endif
end module

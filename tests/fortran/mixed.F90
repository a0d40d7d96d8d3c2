! All three bindings and C (mixed/mixed.c) in one program: what one of them has made, the others use.
#include "binding.h"
module by_header
  implicit none
contains
  ! Receives what the others have sent, and ends their requests.
  subroutine receive(comm, from, y, request, status)
    include 'mpif.h'
    integer, intent(in) :: comm, from
    integer, intent(inout) :: y, request
    integer, intent(out) :: status(MPI_STATUS_SIZE)
    integer :: e
    call MPI_RECV(y, 1, MPI_INTEGER, from, 3, comm, status, e)
    call MPI_WAIT(request, MPI_STATUS_IGNORE, e)
    if (request /= MPI_REQUEST_NULL) call MPI_ABORT(comm, 1, e)
  end subroutine
end module

module by_mpi
  use mpi
  implicit none
contains
  ! A key that doubles what is copied.
  subroutine make_key(key)
    integer, intent(out) :: key
    integer :: e
    call MPI_Comm_create_keyval(double, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, e)
  end subroutine

  subroutine double(oldcomm, keyval, extra_state, in, out, flag, ierror)
    integer :: oldcomm, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, in, out
    logical :: flag
    out = 2 * in + extra_state
    flag = oldcomm /= MPI_COMM_NULL .and. keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine
end module

module by_f08
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, save :: failures = 0
contains
  subroutine send(comm, to, x, request)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: to
    integer, intent(in), asynchronous :: x
    integer, intent(out) :: request
    type(MPI_Request) :: r
    call MPI_Isend(x, 1, MPI_INTEGER, to, 3, comm, r)
    request = r%MPI_VAL
  end subroutine

  subroutine add(invec, inoutvec, len, datatype)
    type(C_PTR), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer(C_INT), pointer :: a(:), b(:)
    call c_f_pointer(invec, a, (/ len /))
    call c_f_pointer(inoutvec, b, (/ len /))
    if (datatype /= MPI_INTEGER4) call MPI_Abort(MPI_COMM_WORLD, 2)
    b = a + b
  end subroutine

  subroutine handler(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    if (comm == MPI_COMM_NULL .or. error_code == MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 3)
    failures = failures + 1
  end subroutine
end module

module mixed
  use mpi_f08
  use, intrinsic :: iso_c_binding
  use checks, only: left, rank, ranks, right, wrong
  use by_header, only: receive
  use by_mpi, only: make_key
  use by_f08, only: add, failures, handler, send
  implicit none
  private
  public :: mixed_tests
  interface
    integer(C_INT) function c_dup(comm) bind(C)
      import
      integer(C_INT), value :: comm
    end function
    integer(C_INT) function c_tag(status) bind(C)
      import
      integer(C_INT) :: status(8)
    end function
    subroutine c_attributes(comm, key, address, value) bind(C)
      import
      integer(C_INT), value :: comm, key
      integer(C_INTPTR_T) :: address, value
    end subroutine
    integer(C_INT) function c_key() bind(C)
      import
    end function
    integer(C_INT) function c_sum(comm, op) bind(C)
      import
      integer(C_INT), value :: comm, op
    end function
    subroutine c_fail(comm) bind(C)
      import
      integer(C_INT), value :: comm
    end subroutine
    integer(C_INT) function c_vector() bind(C)
      import
    end function
  end interface
contains
  subroutine mixed_tests
    integer :: y, request, status(MPI_STATUS_SIZE), key
    integer(C_INT) :: a(5), b(3)
    integer, asynchronous, save :: x
    integer(C_INTPTR_T) :: address, value
    integer(MPI_ADDRESS_KIND) :: v
    logical :: flag
    type(MPI_Comm) :: comm, copy
    type(MPI_Datatype) :: vector
    type(MPI_Errhandler) :: eh
    type(MPI_Op) :: op
    failures = 0
    ! A communicator of C's, a message of mpi_f08's, received by mpif.h, whose status C reads.
    comm = MPI_Comm(c_dup(int(MPI_COMM_WORLD%MPI_VAL, C_INT)))
    x = 100 + rank
    call send(comm, right(), x, request)
    call receive(comm%MPI_VAL, left(), y, request, status)
    CHECK(y == 100 + left() .and. status(MPI_TAG) == 3)
    CHECK(c_tag(int(status, C_INT)) == 3)

    ! C sees the address of an attribute of Fortran's, Fortran the address that C has set.
    call make_key(key)
    call MPI_Comm_set_attr(comm, key, 2_MPI_ADDRESS_KIND**35)
    call c_attributes(int(comm%MPI_VAL, C_INT), int(key, C_INT), address, value)
    CHECK(value == 2_MPI_ADDRESS_KIND**35)
    call MPI_Comm_get_attr(comm, key, v, flag)  ! c_attributes has put an address there
    CHECK(flag .and. v == address)
    call MPI_Comm_dup(comm, copy)
    call MPI_Comm_get_attr(copy, key, v, flag)
    CHECK(flag .and. v == 2 * address)
    call MPI_Comm_free(copy)

    ! A key of C's, whose functions copy what its address leads to.
    key = c_key()
    call MPI_Comm_set_attr(comm, key, 21_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(comm, copy)
    call MPI_Comm_get_attr(copy, key, v, flag)
    CHECK(flag .and. v == 21)
    call MPI_Comm_free(copy)

    ! An operator and an error handler of Fortran's in C.
    call MPI_Op_create(add, .true., op)
    CHECK(c_sum(int(comm%MPI_VAL, C_INT), int(op%MPI_VAL, C_INT)) == ranks * (ranks + 1) / 2)
    call MPI_Op_free(op)
    call MPI_Comm_create_errhandler(handler, eh)
    call MPI_Comm_set_errhandler(comm, eh)
    call c_fail(int(comm%MPI_VAL, C_INT))
    CHECK(failures == 1)
    call MPI_Errhandler_free(eh)

    ! A datatype of C's.
    vector = MPI_Datatype(c_vector())
    a = (/ 1, 2, 3, 4, 5 /)
    b = 0
    call MPI_Sendrecv(a, 1, vector, 0, 1, b, 3, MPI_INTEGER4, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    CHECK(all(b == (/ 1, 3, 5 /)))
    call MPI_Type_free(vector)
    call MPI_Comm_free(comm)
  end subroutine
end module

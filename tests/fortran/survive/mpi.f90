! A program of Open MPI 5 in module mpi, as it is: rank 3 of 4 dies, and the others go on without it.
subroutine use_rest(comm, group, total) ! what a library may do that is given a communicator
  use mpi
  use mpi_ext, only: MPIX_Comm_get_failed, MPIX_ERR_REVOKED
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: group, total
  integer :: ierr
  call MPIX_Comm_get_failed(comm, group, ierr)
  call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  if (ierr == MPIX_ERR_REVOKED) total = -1
end subroutine

program main
  use mpi
  use mpi_ext
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    function raise(signal) bind(C) result(failed)
      import :: c_int
      integer(c_int), value :: signal
      integer(c_int) :: failed
    end function
  end interface
  integer :: comm, rest, again, group, request, rank, n, class, code, ierr, flag, acked, total, status(MPI_STATUS_SIZE)
  logical :: there
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
  call MPI_Barrier(comm, ierr)
  if (rank == 3) class = raise(9_c_int)

  ! A pool: a receive from any source pends until the loss is acknowledged.
  if (rank == 0) then
    call MPI_Irecv(n, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, comm, request, ierr)
    do
      call MPI_Wait(request, status, code)
      call MPI_Error_class(code, class, ierr)
      if (class /= MPIX_ERR_PROC_FAILED_PENDING) exit
      call MPIX_Comm_ack_failed(comm, 1, acked, ierr)
      call check(acked == 1, 1)
      call MPI_Send(rank, 1, MPI_INTEGER, 1, 2, comm, ierr)
    end do
    call check(code == MPI_SUCCESS .and. status(MPI_SOURCE) == 1 .and. n == 42, 2)
    call MPI_Send(rank, 1, MPI_INTEGER, 1, 2, comm, ierr)
  else if (rank == 1) then
    call MPI_Recv(n, 1, MPI_INTEGER, 0, 2, comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Send(42, 1, MPI_INTEGER, 0, 1, comm, ierr)
    call MPI_Recv(n, 1, MPI_INTEGER, 0, 2, comm, MPI_STATUS_IGNORE, ierr)
  end if

  ! Rank 2 waits for rank 1, which leaves for a recovery.
  if (rank == 2) then
    call MPI_Recv(n, 1, MPI_INTEGER, 1, 3, comm, MPI_STATUS_IGNORE, code)
    call MPI_Error_class(code, class, ierr)
    call check(class == MPIX_ERR_REVOKED, 3)
  else if (rank == 1) then
    call MPI_Recv(n, 1, MPI_INTEGER, 3, 3, comm, MPI_STATUS_IGNORE, code)
    call MPI_Error_class(code, class, ierr)
    call check(class == MPIX_ERR_PROC_FAILED, 4)
    call MPIX_Comm_revoke(comm, ierr)
    call MPIX_Comm_is_revoked(comm, there, ierr)
    call check(there, 5)
  end if
  call MPIX_Comm_shrink(comm, rest, ierr)
  call check(ierr == MPI_SUCCESS, 6)
  call use_rest(rest, group, total)
  call check(group == MPI_GROUP_EMPTY .and. total == 3, 7)
  flag = 7
  if (rank == 1) flag = 5
  call PMPIX_Comm_agree(comm=rest, flag=flag, ierror=ierr)
  call check(flag == 5, 8)

  ! All know of the loss, and acknowledge it.
  call MPIX_Comm_failure_ack(comm, ierr)
  call MPIX_Comm_failure_get_acked(comm, group, ierr)
  call MPI_Group_size(group, n, ierr)
  call check(n == 1, 9)
  call PMPIX_Comm_is_revoked(rest, there, ierr)
  call check(.not. there, 10)
  call MPIX_Comm_ishrink(comm, again, request, ierr)
  call MPI_Wait(request, status, ierr)
  call MPI_Comm_size(again, n, ierr)
  call check(n == 3, 11)
  call MPI_Comm_free(again, ierr)
  call MPI_Comm_free(rest, ierr)
  call MPI_Comm_free(comm, ierr)
  call MPI_Finalize(ierr)
contains
  subroutine check(good, number)
    logical, intent(in) :: good
    integer, intent(in) :: number
    if (good) return
    write (0, *) 'check', number, 'fails on rank', rank
    call MPI_Abort(MPI_COMM_WORLD, number, ierr)
  end subroutine
end program

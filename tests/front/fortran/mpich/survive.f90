! MPICH's procedures for failures that a job survives, of mpi_f08 and of mpif.h. Its Fortran has no names for the
! classes of errors, whose values are those of its mpi.h, and takes a LOGICAL for the flag of an agreement. That is
! INTENT(OUT) in its mpi_f08, with which compilers leave out what the program has set it to.
subroutine go_on(comm, rest, failed) ! with mpif.h
  implicit none
  include 'mpif.h'
  integer, intent(in) :: comm
  integer, intent(out) :: rest, failed
  integer :: group, rank, ierror
  logical :: flag
  call MPIX_Comm_revoke(comm, ierror)
  call MPIX_Comm_shrink(comm, rest, ierror)
  call MPIX_Comm_failure_ack(comm, ierror)
  call MPIX_Comm_failure_get_acked(comm, group, ierror)
  call MPI_Group_size(group, failed, ierror)
  call MPI_Comm_rank(comm, rank, ierror)
  flag = rank /= 1
  call MPIX_Comm_agree(rest, flag, ierror)
  if (flag) call MPI_Abort(MPI_COMM_WORLD, 50, ierror)
  flag = .true.
  call PMPIX_Comm_agree(rest, flag, ierror)
  if (.not. flag) call MPI_Abort(MPI_COMM_WORLD, 51, ierror)
end subroutine

program main
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    function raise(signal) bind(C) result(failed)
      import :: c_int
      integer(c_int), value :: signal
      integer(c_int) :: failed
    end function
  end interface
  integer, parameter :: MPIX_ERR_PROC_FAILED = 101, MPIX_ERR_REVOKED = 103
  type(MPI_Comm) :: comm, rest, again
  type(MPI_Group) :: group
  integer :: rank, n, class, code
  logical :: flag
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Barrier(comm)
  if (rank == 3) code = raise(9_c_int)
  call MPI_Recv(n, 1, MPI_INTEGER, 3, 1, comm, MPI_STATUS_IGNORE, code)
  call MPI_Error_class(code, class)
  call check(class == MPIX_ERR_PROC_FAILED, 1)
  call MPIX_Comm_failure_ack(comm)
  call MPIX_Comm_failure_get_acked(comm, group)
  call MPI_Group_size(group, n)
  call check(n == 1, 2)
  call MPIX_Comm_agree(comm, flag, code)
  call check(code == MPI_SUCCESS, 3)
  call PMPIX_Comm_agree(comm, flag, code)
  call check(code == MPI_SUCCESS, 4)
  call go_on(comm%MPI_VAL, rest%MPI_VAL, n)
  call check(n == 1, 5)
  call MPI_Barrier(comm, code)
  call MPI_Error_class(code, class)
  call check(class == MPIX_ERR_REVOKED, 6)
  call PMPIX_Comm_shrink(comm, again)
  call MPI_Allreduce(rank, n, 1, MPI_INTEGER, MPI_SUM, again)
  call check(n == 3, 7)
  call MPIX_Comm_revoke(again)
  call MPI_Send(n, 1, MPI_INTEGER, 0, 1, again, code)
  call MPI_Error_class(code, class)
  call check(class == MPIX_ERR_REVOKED, 8)
  call MPI_Comm_free(again)
  call MPI_Comm_free(rest)
  call MPI_Comm_free(comm)
  call MPI_Finalize()
contains
  subroutine check(good, number)
    logical, intent(in) :: good
    integer, intent(in) :: number
    if (good) return
    write (0, *) 'check', number, 'fails on rank', rank
    call MPI_Abort(MPI_COMM_WORLD, number)
  end subroutine
end program

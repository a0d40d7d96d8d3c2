! A program of Open MPI 5 in mpi_f08, as it is: rank 3 of 4 dies, and the others go on without it.
program main
  use mpi_f08
  use mpi_f08_ext
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  interface
    function raise(signal) bind(C) result(failed)
      import :: c_int
      integer(c_int), value :: signal
      integer(c_int) :: failed
    end function
  end interface
  type(MPI_Comm) :: comm, rest, again
  type(MPI_Group) :: failed
  type(MPI_Request) :: request
  integer :: rank, n, class, code, number
  integer, asynchronous :: flag
  logical :: there
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Barrier(comm)
  if (rank == 3) class = raise(9_c_int)

  call MPI_Recv(flag, 1, MPI_INTEGER, 3, 1, comm, MPI_STATUS_IGNORE, code)
  call MPI_Error_class(code, class)
  call check(class == MPIX_ERR_PROC_FAILED, 1)
  call MPI_Irecv(flag, 1, MPI_INTEGER, MPI_ANY_SOURCE, 1, comm, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE, code)
  call MPI_Error_class(code, class)
  call check(class == MPIX_ERR_PROC_FAILED_PENDING, 2)
  call MPI_Cancel(request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  flag = 0
  call MPIX_Comm_agree(comm, flag, code)
  call MPI_Error_class(code, class)
  call check(class == MPIX_ERR_PROC_FAILED, 3) ! which not all have acknowledged

  call MPIX_Comm_get_failed(comm, failed)
  call MPI_Group_size(failed, n)
  call check(n == 1, 4)
  call MPI_Group_free(failed)
  call MPIX_Comm_ack_failed(comm, n, number)
  call check(number == 1, 5)
  call MPIX_Comm_failure_ack(comm)
  call MPIX_Comm_failure_get_acked(comm, failed)
  call MPI_Group_size(failed, n)
  call check(n == 1, 6)
  flag = 15 - 2**rank
  call MPIX_Comm_agree(comm=comm, flag=flag, ierror=code)
  call check(code == MPI_SUCCESS .and. flag == 8, 7)

  call MPIX_Comm_is_revoked(comm, there)
  call check(.not. there, 8)
  call MPIX_Comm_agree(comm, flag) ! before anybody revokes it
  if (rank == 0) call MPIX_Comm_revoke(comm)
  call MPI_Recv(number, 1, MPI_INTEGER, 0, 1, comm, MPI_STATUS_IGNORE, code)
  call MPI_Error_class(code, class)
  call check(class == MPIX_ERR_REVOKED, 9)
  call PMPIX_Comm_is_revoked(comm, there)
  call check(there, 10)

  call MPIX_Comm_shrink(comm, rest)
  call MPI_Comm_size(rest, n)
  call check(n == 3, 11)
  call PMPIX_Comm_ishrink(comm, again, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Allreduce(rank, number, 1, MPI_INTEGER, MPI_SUM, again)
  call check(number == 3, 12)
  if (kind(flag) == 4) then ! as C has it
    flag = 7 + rank
    call MPIX_Comm_iagree(rest, flag, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(flag == 0, 13)
  end if
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

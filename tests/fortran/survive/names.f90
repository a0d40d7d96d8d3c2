! What Open MPI 5.0 has, and does not document: other names of the classes and of the attribute, and in mpi_f08_ext
! INTEGERs for the LOGICALs of its manual.
subroutine old(classes, keyval)
  use mpi, only: MPI_ERR_PROC_FAILED, MPI_ERR_PROC_FAILED_PENDING, MPI_ERR_REVOKED, MPI_FT
  use mpi_ext, only: have => OMPI_HAVE_MPI_EXT
  implicit none
  integer, intent(out) :: classes(4), keyval
  classes = (/ MPI_ERR_PROC_FAILED, MPI_ERR_PROC_FAILED_PENDING, MPI_ERR_REVOKED, have /)
  keyval = MPI_FT
end subroutine

subroutine oldest(classes)
  implicit none
  include 'mpif-ext.h'
  include 'mpif.h'
  integer, intent(out) :: classes(4)
  classes = (/ MPI_ERR_PROC_FAILED, MPI_ERR_PROC_FAILED_PENDING, MPI_ERR_REVOKED, OMPI_HAVE_MPI_EXT_FTMPI /)
  if (OMPI_HAVE_MPI_EXT /= 1 .or. MPI_FT /= MPIX_FT) classes = -1
end subroutine

program main
  use mpi_f08
  use mpi_f08_ext
  implicit none
  type(MPI_Comm) :: comm
  integer :: revoked, code, keyval, classes(4), again(4)
  integer(MPI_ADDRESS_KIND) :: goes_on
  logical :: there
  call MPI_Init()
  call old(classes, keyval)
  call oldest(again)
  call check(all(classes == (/ MPIX_ERR_PROC_FAILED, MPIX_ERR_PROC_FAILED_PENDING, MPIX_ERR_REVOKED, &
    OMPI_HAVE_MPI_EXT /)) .and. all(again == classes), 1)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, goes_on, there)
  call check(there .and. goes_on == 1 .and. keyval == MPI_FT, 2)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  revoked = -1
  call MPIX_Comm_is_revoked(comm, revoked)
  call check(revoked == 0, 3)
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPIX_Comm_revoke(comm)
  call MPIX_Comm_is_revoked(comm=comm, flag=revoked, ierror=code)
  call check(revoked /= 0 .and. code == MPI_SUCCESS, 4)
  revoked = 0
  call PMPIX_Comm_is_revoked(comm, revoked)
  call MPIX_Comm_is_revoked(comm, there)
  call check(revoked /= 0 .and. there, 5)
  call MPI_Comm_free(comm)
  call MPI_Finalize()
contains
  subroutine check(good, number)
    logical, intent(in) :: good
    integer, intent(in) :: number
    if (good) return
    write (0, *) 'check', number, 'fails'
    call MPI_Abort(MPI_COMM_WORLD, number)
  end subroutine
end program

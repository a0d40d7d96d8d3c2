! What tests share: who the process is, and how a fact that does not hold ends the job. A test prints nothing on success.
module checks
  implicit none
  integer, save :: rank = -1, ranks = 0
  logical, save :: ours = .false.  ! the library is libimpi
contains
  subroutine start
    include 'mpif.h'
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: n, ierror
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
    call MPI_GET_LIBRARY_VERSION(version, n, ierror)
    ours = version(1:7) == 'libimpi'
  end subroutine

  subroutine wrong(file, line)
    character(*), intent(in) :: file
    integer, intent(in) :: line
    include 'mpif.h'
    integer :: ierror
    write (0, '(2a, 3(i0, a))') file, ':', line, ': rank ', rank, ' of ', ranks, ': does not hold'
    flush (0)
    call MPI_ABORT(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    include 'mpif.h'
    integer :: ierror
    if (ok) return
    write (0, '(a, i0, 2a)') 'rank ', rank, ': wrong: ', what
    flush (0)
    call MPI_ABORT(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  integer function right()
    right = mod(rank + 1, ranks)
  end function

  integer function left()
    left = mod(rank + ranks - 1, ranks)
  end function
end module

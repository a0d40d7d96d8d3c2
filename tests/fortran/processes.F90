! Processes that a program starts: what they are started with, and what says how that went.
#include "binding.h"
module processes
  USE_MPI
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: processes_tests, child
contains
  subroutine processes_tests
    call one_program
    call no_arguments
    call several_programs
  end subroutine

  subroutine own_name(name)
    character(*), intent(out) :: name
    call get_command_argument(0, name)
  end subroutine

  ! Children say how many arguments they have got, and the last one, to the first of their parents.
  subroutine hear(children, n, want)
    COMM_T :: children
    integer, intent(in) :: n
    character(*), intent(in) :: want(n)
    character(24) :: got
    integer :: i, e
    if (rank /= 0) return
    do i = 1, n
      call MPI_Recv(got, 24, MPI_CHARACTER, i - 1, 5, children, MPI_STATUS_IGNORE, e)
      CHECK(got == want(i))
    end do
  end subroutine

  subroutine one_program
    character(300) :: name
    character(12) :: argv(4)
    integer :: codes(2), n, e
    COMM_T :: children
    call own_name(name)
    argv = (/ character(12) :: 'child', ' two words', 'last', ' ' /)
    codes = -1
    call MPI_Comm_spawn(name, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, e)
    CHECK(all(codes == MPI_SUCCESS))
    call MPI_Comm_remote_size(children, n, e)
    CHECK(n == 2)
    call hear(children, 2, (/ '3 last', '3 last' /))
    call MPI_Comm_disconnect(children, e)
    CHECK(children == MPI_COMM_NULL)
  end subroutine

  subroutine no_arguments
    character(300) :: name
    integer :: e
    COMM_T :: children
    call own_name(name)
    call MPI_Comm_spawn(name, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, e)
    call hear(children, 1, (/ '0' /))
    call MPI_Comm_disconnect(children, e)
  end subroutine

  ! argvs(i, :) are those of program i.
  subroutine several_programs
    character(300) :: names(2)
    character(10) :: argvs(2, 3)
    integer :: codes(3), n, e
    COMM_T :: children
    INFO_T :: infos(2)
    call own_name(names(1))
    names(2) = names(1)
    argvs(1, :) = (/ character(10) :: 'child', 'first', ' ' /)
    argvs(2, :) = (/ character(10) :: 'child', ' ', ' ' /)
    infos = MPI_INFO_NULL
    codes = -1
    call MPI_Comm_spawn_multiple(2, names, argvs, (/ 1, 2 /), infos, 0, MPI_COMM_WORLD, children, codes, e)
    CHECK(all(codes == MPI_SUCCESS))
    call MPI_Comm_remote_size(children, n, e)
    CHECK(n == 3)
    call hear(children, 3, (/ '2 first', '1 child', '1 child' /))
    call MPI_Comm_disconnect(children, e)
    call MPI_Comm_spawn_multiple(1, names, MPI_ARGVS_NULL, (/ 1 /), infos, 0, MPI_COMM_WORLD, children, &
      MPI_ERRCODES_IGNORE, e)
    call hear(children, 1, (/ '0' /))
    call MPI_Comm_disconnect(children, e)
  end subroutine

  ! What a started process does. It returns .false. to others.
  logical function child()
    COMM_T :: parents
    character(24) :: text
    character(20) :: last
    integer :: n, e
    call MPI_Comm_get_parent(parents, e)
    child = parents /= MPI_COMM_NULL
    if (.not. child) return
    n = command_argument_count()
    last = ' '
    if (n > 0) call get_command_argument(n, last)
    write (text, '(i0, a)') n, ' ' // last
    if (n == 3) then
      call get_command_argument(2, last)
      CHECK(last == 'two words') ! blanks on both sides are stripped (MPI 5.0, 11.8.2)
    end if
    call MPI_Send(text, 24, MPI_CHARACTER, 0, 5, parents, e)
    call MPI_Comm_disconnect(parents, e)
  end function
end module

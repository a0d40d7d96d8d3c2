! Error handlers, codes and strings; the classes of errors of wrong arguments, and what they say.
#include "binding.h"
module errors
  USE_MPI
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: errors_tests

  integer, save :: calls = 0, class = 0
contains
  subroutine errors_tests
    call strings
    call own_codes
    call wrong_arguments
    call own_handlers
    call on_windows_and_files
    call many_handlers
  end subroutine

  subroutine strings
    character(MPI_MAX_ERROR_STRING) :: text
    character(9) :: short
    integer :: n, c, e
    text = repeat('x', len(text))
    call MPI_Error_string(MPI_ERR_COMM, text, n, e)
    CHECK(n > 0 .and. n == len_trim(text) .and. verify(text(n + 1:), ' ') == 0)
    call MPI_Error_string(MPI_ERR_COMM, short, n, e)
    CHECK(short == text(1:9))
    call MPI_Error_class(MPI_ERR_TRUNCATE, c, e)
    CHECK(c == MPI_ERR_TRUNCATE)
  end subroutine

  subroutine own_codes
    integer :: c, code, n, e
    integer(MPI_ADDRESS_KIND) :: last
    logical :: flag
    character(MPI_MAX_ERROR_STRING) :: text
    call MPI_Add_error_class(c, e)
    call MPI_Add_error_code(c, code, e)
    call MPI_Add_error_string(code, 'no milk in the refrigerator ', e)
    call MPI_Error_string(code, text, n, e)
    CHECK(text == 'no milk in the refrigerator' .and. n == 27)
    call MPI_Error_class(code, n, e)
    CHECK(n == c)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, last, flag, e)
    CHECK(flag .and. (last == code .or. .not. ours))
    call MPI_Remove_error_string(code, e)
    call MPI_Remove_error_code(code, e)
    call MPI_Remove_error_class(c, e)
    CHECK(e == MPI_SUCCESS)
  end subroutine

  integer function class_of(code)
    integer, intent(in) :: code
    integer :: e
    call MPI_Error_class(code, class_of, e)
  end function

  ! An error of that class, whose text begins with the name of the call.
  logical function tells(code, class, name)
    integer, intent(in) :: code, class
    character(*), intent(in) :: name
    character(MPI_MAX_ERROR_STRING) :: text
    integer :: n, e
    tells = class_of(code) == class
    if (.not. ours) return
    call MPI_Error_string(code, text, n, e)
    tells = tells .and. index(text, name // ': ') == 1
  end function

  subroutine wrong_arguments
    integer :: x, n, list(3), e
    ERRHANDLER_T :: before
    REQUEST_T :: r(1)
    COMM_T :: none
    GROUP_T :: g, h
    DATATYPE_T :: t
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, before, e)
    CHECK(before == MPI_ERRORS_ARE_FATAL)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
    x = 0
    call MPI_Send(x, 1, MPI_INTEGER, ranks, 1, MPI_COMM_WORLD, e)
    CHECK(tells(e, MPI_ERR_RANK, 'MPI_Send'))
    call MPI_Send(x, -1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, e)
    CHECK(tells(e, MPI_ERR_COUNT, 'MPI_Send'))
    call MPI_Send(x, 1, MPI_INTEGER, 0, -17, MPI_COMM_WORLD, e)
    CHECK(tells(e, MPI_ERR_TAG, 'MPI_Send'))
    call MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 1, MPI_COMM_WORLD, e)
    CHECK(tells(e, MPI_ERR_TYPE, 'MPI_Send'))
    call MPI_Bcast(x, 1, MPI_INTEGER, -5, MPI_COMM_WORLD, e)
    CHECK(tells(e, MPI_ERR_ROOT, 'MPI_Bcast'))
    none = MPI_COMM_NULL
    call MPI_Comm_size(none, n, e)
    CHECK(tells(e, MPI_ERR_COMM, 'MPI_Comm_size'))
    call MPI_Allreduce(x, n, 1, MPI_CHARACTER, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(tells(e, MPI_ERR_OP, 'MPI_Allreduce'))
    call MPI_Type_vector(-1, 1, 1, MPI_INTEGER, t, e)
    CHECK(class_of(e) == MPI_ERR_COUNT .or. class_of(e) == MPI_ERR_ARG)
    call MPI_Comm_group(MPI_COMM_WORLD, g, e)
    call MPI_Group_incl(g, 1, (/ ranks /), h, e)
    CHECK(tells(e, MPI_ERR_RANK, 'MPI_Group_incl'))
    call MPI_Group_free(g, e)
    call MPI_Info_get_nkeys(MPI_INFO_NULL, n, e)
    CHECK(class_of(e) == MPI_ERR_INFO .or. e /= MPI_SUCCESS .and. .not. ours)
    call MPI_Comm_free_keyval(x, e)
    CHECK(class_of(e) == MPI_ERR_KEYVAL .or. class_of(e) == MPI_ERR_ARG)
    list = 1
    n = 1000000
    r = MPI_REQUEST_NULL
    call MPI_Waitsome(-1, r, n, list, MPI_STATUSES_IGNORE, e)
    CHECK(e /= MPI_SUCCESS .and. all(list == 1))
    call MPI_Type_create_f90_real(999, 9999, t, e)
    CHECK(e /= MPI_SUCCESS)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, before, e)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, before, e)
  end subroutine

  subroutine handler(comm, error_code)
    COMM_T :: comm
    integer :: error_code, e
    if (comm == MPI_COMM_NULL) stop 9
    calls = calls + 1
    call MPI_Error_class(error_code, class, e)
  end subroutine

  subroutine win_handler(win, error_code)
    WIN_T :: win
    integer :: error_code, e
    if (win == MPI_WIN_NULL) stop 10
    calls = calls + 100
    call MPI_Error_class(error_code, class, e)
  end subroutine

  subroutine file_handler(file, error_code)
    FILE_T :: file
    integer :: error_code, e
    calls = calls + 10000
    call MPI_Error_class(error_code, class, e)
    if (class == MPI_ERR_FILE) stop 11
  end subroutine

  subroutine own_handlers
    COMM_T :: c
    ERRHANDLER_T :: h, found
    integer :: x, e
    calls = 0
    x = 0
    call MPI_Comm_dup(MPI_COMM_SELF, c, e)
    call MPI_Comm_create_errhandler(handler, h, e)
    call MPI_Comm_set_errhandler(c, h, e)
    call MPI_Comm_get_errhandler(c, found, e)
    CHECK(found == h .or. .not. ours)
    call MPI_Errhandler_free(found, e)
    call MPI_Send(x, 1, MPI_INTEGER, 1, 1, c, e)
    CHECK(calls == 1 .and. class == MPI_ERR_RANK)
    CHECK(class_of(e) == MPI_ERR_RANK .or. .not. ours)  ! where a handler returns, MPICH's calls succeed
    call MPI_Comm_call_errhandler(c, MPI_ERR_OTHER, e)
    CHECK(calls == 2 .and. class == MPI_ERR_OTHER)
    call MPI_Errhandler_free(h, e)
    CHECK(h == MPI_ERRHANDLER_NULL)
    call MPI_Send(x, 1, MPI_INTEGER, 1, 1, c, e)
    CHECK(calls == 3)
    call MPI_Comm_free(c, e)
  end subroutine

  subroutine on_windows_and_files
    ERRHANDLER_T :: h, k, before
    WIN_T :: w
    FILE_T :: f
    integer ASYNC, target, save :: room(2)
    integer :: x, e
    integer(MPI_ADDRESS_KIND) :: size, at
    calls = 0
    class = 0
    size = 8
    at = 0
    call MPI_Win_create_errhandler(win_handler, h, e)
    call MPI_Win_create(room, size, 1, MPI_INFO_NULL, MPI_COMM_SELF, w, e)
    call MPI_Win_set_errhandler(w, h, e)
    call MPI_Put(x, 1, MPI_BYTE, 5, at, 1, MPI_BYTE, w, e)
    CHECK(calls == 100 .and. class == MPI_ERR_RANK)
    call MPI_Win_call_errhandler(w, MPI_ERR_ASSERT, e)
    CHECK(calls == 200 .and. class == MPI_ERR_ASSERT)
    call MPI_Win_free(w, e)
    call MPI_Errhandler_free(h, e)

    f = MPI_FILE_NULL
    call MPI_File_get_errhandler(f, before, e)
    CHECK(before == MPI_ERRORS_RETURN)
    call MPI_File_create_errhandler(file_handler, k, e)
    call MPI_File_set_errhandler(f, k, e)
    call MPI_File_open(MPI_COMM_SELF, '/there/is/no such folder  ', MPI_MODE_RDONLY, MPI_INFO_NULL, f, e)
    CHECK(calls == 10200 .and. class == MPI_ERR_NO_SUCH_FILE)
    CHECK(class_of(e) == MPI_ERR_NO_SUCH_FILE .or. .not. ours)
    f = MPI_FILE_NULL
    call MPI_File_set_errhandler(f, before, e)
    call MPI_Errhandler_free(k, e)
  end subroutine

  subroutine many_handlers
    ERRHANDLER_T :: h
    integer :: i, e
    do i = 1, 200
      call MPI_Comm_create_errhandler(handler, h, e)
      CHECK(e == MPI_SUCCESS)
      call MPI_Errhandler_free(h, e)
    end do
  end subroutine
end module

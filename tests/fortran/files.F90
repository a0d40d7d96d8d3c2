! Files: opening, views, all kinds of access, and data representations of the program.
#include "binding.h"
module files
  USE_MPI
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: files_tests

  integer, save :: reads = 0, writes = 0, extents = 0
contains
  subroutine files_tests
    call individual
    call explicit
    call collective
    call shared
    call ordered
    call views
    call nonblocking
    call split
    call representations
    call standard_representations
    call deletions
  end subroutine

  subroutine open_new(f)
    FILE_T, intent(out) :: f
    integer :: e
    call MPI_File_open(MPI_COMM_WORLD, name(), ior(MPI_MODE_RDWR, ior(MPI_MODE_CREATE, MPI_MODE_DELETE_ON_CLOSE)), &
      MPI_INFO_NULL, f, e)
    CHECK(e == MPI_SUCCESS)
  end subroutine

  ! The same on all processes, and no other job's.
  character(300) function name()
    character(20), save :: number = ' '
    integer(selected_int_kind(18)) :: clock  ! this long it counts nanoseconds
    integer :: e
    if (number == ' ') then
      call system_clock(clock)
      write (number, '(i0)') clock
      call MPI_Bcast(number, 20, MPI_CHARACTER, 0, MPI_COMM_WORLD, e)
    end if
    call get_environment_variable('TMPDIR', name)
    if (name == ' ') name = '/tmp'
    name = trim(name) // '/impi-fortran-' // number
  end function

  integer function bytes()
    bytes = storage_size(bytes) / 8
  end function

  subroutine individual
    FILE_T :: f
    integer :: x(2), n, e, amode
    integer(MPI_OFFSET_KIND) :: at, size
    GROUP_T :: g
    INFO_T :: i
    STATUS(st)
    logical :: flag
    call open_new(f)
    call MPI_File_get_amode(f, amode, e)
    CHECK(iand(amode, MPI_MODE_RDWR) /= 0)
    call MPI_File_get_group(f, g, e)
    call MPI_Group_size(g, n, e)
    CHECK(n == ranks)
    call MPI_Group_free(g, e)
    at = 2 * bytes() * rank
    call MPI_File_seek(f, at, MPI_SEEK_SET, e)
    x = (/ rank, -1 /)
    call MPI_File_write(f, x, 2, MPI_INTEGER, st, e)
    call MPI_Get_count(st, MPI_INTEGER, n, e)
    CHECK(n == 2)
    call MPI_File_get_position(f, at, e)
    CHECK(at == 2 * bytes() * (rank + 1))
    call MPI_File_get_byte_offset(f, at, size, e)
    CHECK(size == at)
    at = -2 * bytes()
    call MPI_File_seek(f, at, MPI_SEEK_CUR, e)
    x = 0
    call MPI_File_read(f, x, 2, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CHECK(x(1) == rank .and. x(2) == -1)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_File_get_size(f, size, e)
    CHECK(size == 2 * bytes() * ranks)
    size = 100
    call MPI_File_set_size(f, size, e)
    call MPI_File_preallocate(f, 2 * size, e)
    call MPI_File_get_size(f, size, e)
    CHECK(size == 200)
    call MPI_File_set_atomicity(f, .true., e)
    call MPI_File_get_atomicity(f, flag, e)
    CHECK(flag)
    call MPI_File_sync(f, e)
    call MPI_File_get_info(f, i, e)
    call MPI_File_set_info(f, i, e)
    call MPI_Info_free(i, e)
    call MPI_File_close(f, e)
    CHECK(f == MPI_FILE_NULL)
  end subroutine

  subroutine explicit
    FILE_T :: f
    double precision :: x(3), y(3)
    integer :: n, e
    integer(MPI_OFFSET_KIND) :: at
    STATUS(st)
    call open_new(f)
    x = (/ 1d0, 2d0, rank + 0d0 /)
    at = 24 * rank
    call MPI_File_write_at(f, at, x, 3, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, e)
    call MPI_File_write_at_all(f, at, x, 3, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, e)
    at = 24 * right()
    y = 0
    call MPI_File_read_at_all(f, at, y, 3, MPI_DOUBLE_PRECISION, st, e)
    CHECK(y(2) == 2 .and. y(3) == right())
    at = 24 * (ranks - 1)
    call MPI_File_read_at(f, at, y, 3, MPI_DOUBLE_PRECISION, st, e)
    call MPI_Get_count(st, MPI_DOUBLE_PRECISION, n, e)
    CHECK(n * storage_size(x) == 3 * 64 .or. n > 0)
    CHECK(y(1) == 1)
    call MPI_File_close(f, e)
  end subroutine

  subroutine collective
    FILE_T :: f
    integer :: x(2), e
    integer(MPI_OFFSET_KIND) :: at
    call open_new(f)
    at = 2 * bytes() * rank
    call MPI_File_seek(f, at, MPI_SEEK_SET, e)
    x = rank
    call MPI_File_write_all(f, x, 2, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    at = 2 * bytes() * right()
    call MPI_File_seek(f, at, MPI_SEEK_SET, e)
    call MPI_File_read_all(f, x, 2, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CHECK(all(x == right()))
    call MPI_File_close(f, e)
  end subroutine

  subroutine shared
    FILE_T :: f
    integer :: x, all(ranks), e
    integer(MPI_OFFSET_KIND) :: at
    call open_new(f)
    x = rank + 1
    call MPI_File_write_shared(f, x, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_File_get_position_shared(f, at, e)
    CHECK(at == bytes() * ranks)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    at = 0
    call MPI_File_read_at(f, at, all, ranks, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CHECK(sum(all) == ranks * (ranks + 1) / 2)
    call MPI_File_seek_shared(f, at, MPI_SEEK_SET, e)
    call MPI_File_read_shared(f, x, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CHECK(x >= 1 .and. x <= ranks)
    call MPI_File_close(f, e)
  end subroutine

  subroutine ordered
    FILE_T :: f
    integer :: x, all(ranks), i, e
    integer(MPI_OFFSET_KIND) :: at
    call open_new(f)
    x = 10 * rank
    call MPI_File_write_ordered(f, x, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    at = 0
    call MPI_File_seek_shared(f, at, MPI_SEEK_SET, e)
    x = -1
    call MPI_File_read_ordered(f, x, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CHECK(x == 10 * rank)
    call MPI_File_read_at(f, at, all, ranks, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    do i = 1, ranks
      CHECK(all(i) == 10 * (i - 1))
    end do
    call MPI_File_close(f, e)
  end subroutine

  ! Each process has every ranks-th integer.
  subroutine views
    FILE_T :: f
    DATATYPE_T :: etype, filetype, mine
    integer :: x(3), all(3 * ranks), i, e
    integer(MPI_OFFSET_KIND) :: disp, none
    integer(MPI_ADDRESS_KIND) :: extent
    character(MPI_MAX_DATAREP_STRING) :: datarep
    call open_new(f)
    call MPI_Type_vector(3, 1, ranks, MPI_INTEGER, mine, e)
    call MPI_Type_commit(mine, e)
    disp = bytes() * rank
    call MPI_File_set_view(f, disp, MPI_INTEGER, mine, 'native   ', MPI_INFO_NULL, e)
    x = (/ rank, rank + 100, rank + 200 /)
    call MPI_File_write_all(f, x, 3, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    datarep = repeat('x', len(datarep))
    call MPI_File_get_view(f, disp, etype, filetype, datarep, e)
    CHECK(disp == bytes() * rank .and. datarep == 'native')
    CHECK(etype == MPI_INTEGER)
    call MPI_Type_free(filetype, e)
    call MPI_File_get_type_extent(f, MPI_INTEGER, extent, e)
    CHECK(extent == bytes())
    disp = 0
    call MPI_File_set_view(f, disp, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, e)
    none = 0
    call MPI_File_read_at(f, none, all, 3 * ranks, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    do i = 0, 3 * ranks - 1
      CHECK(all(i + 1) == mod(i, ranks) + 100 * (i / ranks))
    end do
    call MPI_Type_free(mine, e)
    call MPI_File_close(f, e)
  end subroutine

  subroutine nonblocking
    FILE_T :: f
    REQUEST_T :: r
    integer ASYNC :: x(2), y(2)
    integer :: e
    integer(MPI_OFFSET_KIND) :: at
    call open_new(f)
    x = rank
    at = 2 * bytes() * rank
    call MPI_File_iwrite_at(f, at, x, 2, MPI_INTEGER, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call MPI_File_iread_at_all(f, at, y, 2, MPI_INTEGER, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    CHECK(all(y == rank))
    call MPI_File_seek(f, at, MPI_SEEK_SET, e)
    call MPI_File_iwrite(f, y, 2, MPI_INTEGER, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call MPI_File_seek(f, at, MPI_SEEK_SET, e)
    y = -1
    call MPI_File_iread(f, y, 2, MPI_INTEGER, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    CHECK(all(y == rank))
    call MPI_File_close(f, e)
  end subroutine

  subroutine split
    FILE_T :: f
    integer ASYNC :: x(2), y(2)
    integer :: n, e
    integer(MPI_OFFSET_KIND) :: at
    STATUS(st)
    call open_new(f)
    x = rank
    at = 2 * bytes() * rank
    call MPI_File_write_at_all_begin(f, at, x, 2, MPI_INTEGER, e)
    call MPI_File_write_at_all_end(f, x, st, e)
    call MPI_Get_count(st, MPI_INTEGER, n, e)
    CHECK(n == 2)
    call MPI_File_read_at_all_begin(f, at, y, 2, MPI_INTEGER, e)
    call MPI_File_read_at_all_end(f, y, st, e)
    CHECK(all(y == rank))
    call MPI_File_close(f, e)
  end subroutine

  ! A representation with integers of twice their length in the file: the number, and then its negative.
#if BINDING == 3
  subroutine read_pairs(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: C_PTR, c_f_pointer
    type(C_PTR), value :: userbuf, filebuf
    integer, pointer :: user(:), pairs(:)
#else
  subroutine read_pairs(user, datatype, count, pairs, position, extra_state, ierror)
    integer :: user(*), pairs(*)
#endif
    DATATYPE_T :: datatype
    integer :: count, ierror, i, at
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    at = int(position)
#if BINDING == 3
    call c_f_pointer(userbuf, user, (/ at + count /))
    call c_f_pointer(filebuf, pairs, (/ 2 * count /))
#endif
    ierror = MPI_SUCCESS
    if (datatype /= MPI_INTEGER .or. extra_state /= 2_MPI_ADDRESS_KIND**33) ierror = MPI_ERR_CONVERSION
    do i = 1, count
      user(at + i) = pairs(2 * i - 1)
      if (pairs(2 * i) /= -pairs(2 * i - 1)) ierror = MPI_ERR_CONVERSION
    end do
    reads = reads + 1
  end subroutine

#if BINDING == 3
  subroutine write_pairs(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: C_PTR, c_f_pointer
    type(C_PTR), value :: userbuf, filebuf
    integer, pointer :: user(:), pairs(:)
#else
  subroutine write_pairs(user, datatype, count, pairs, position, extra_state, ierror)
    integer :: user(*), pairs(*)
#endif
    DATATYPE_T :: datatype
    integer :: count, ierror, i, at
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    at = int(position)
#if BINDING == 3
    call c_f_pointer(userbuf, user, (/ at + count /))
    call c_f_pointer(filebuf, pairs, (/ 2 * count /))
#endif
    ierror = MPI_SUCCESS
    if (datatype /= MPI_INTEGER .or. extra_state /= 2_MPI_ADDRESS_KIND**33) ierror = MPI_ERR_CONVERSION
    do i = 1, count
      pairs(2 * i - 1) = user(at + i)
      pairs(2 * i) = -user(at + i)
    end do
    writes = writes + 1
  end subroutine

  subroutine extent_of_pairs(datatype, extent, extra_state, ierror)
    DATATYPE_T :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state, lb
    integer :: ierror
    call MPI_Type_get_extent(datatype, lb, extent, ierror)
    extent = 2 * extent
    if (extra_state == 0) ierror = MPI_ERR_OTHER
    extents = extents + 1
  end subroutine

  subroutine representations
    FILE_T :: f
    integer :: x(3), y(3), raw(6), e
    integer(MPI_OFFSET_KIND) :: disp
    integer(MPI_ADDRESS_KIND) :: extra
    if (.not. ours) return  ! MPICH has none
    extra = 2_MPI_ADDRESS_KIND**33
    call MPI_Register_datarep('pairs  ', read_pairs, write_pairs, extent_of_pairs, extra, e)
    CHECK(e == MPI_SUCCESS)
    call MPI_File_open(MPI_COMM_SELF, trim(name()) // achar(48 + rank), &
      MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, f, e)
    disp = 0
    call MPI_File_set_view(f, disp, MPI_INTEGER, MPI_INTEGER, 'pairs', MPI_INFO_NULL, e)
    CHECK(e == MPI_SUCCESS)
    x = (/ 1, 2, 3 /)
    call MPI_File_write(f, x, 3, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    y = 0
    call MPI_File_read_at(f, disp, y, 3, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CHECK(all(y == x) .and. reads > 0 .and. writes > 0 .and. extents > 0)
    call MPI_File_set_view(f, disp, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, e)
    call MPI_File_read_at(f, disp, raw, 6, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CHECK(all(raw == (/ 1, -1, 2, -2, 3, -3 /)))
    call MPI_File_close(f, e)
    call MPI_Register_datarep('halves', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of_pairs, extra, e)
    CHECK(e == MPI_SUCCESS)
  end subroutine

  subroutine standard_representations
    FILE_T :: f
    integer :: x, e
    character :: raw(8)
    integer(MPI_OFFSET_KIND) :: disp
    if (.not. ours) return  ! MPICH has none but the native one
    call open_new(f)
    disp = 0
    call MPI_File_set_view(f, disp, MPI_INTEGER, MPI_INTEGER, 'external32', MPI_INFO_NULL, e)
    x = 5
    if (rank == 0) call MPI_File_write_at(f, disp, x, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    x = 0
    call MPI_File_read_at(f, disp, x, 1, MPI_INTEGER, MPI_STATUS_IGNORE, e)
    CHECK(x == 5)
    call MPI_File_set_view(f, disp, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, e)
    call MPI_File_read_at(f, disp, raw, bytes(), MPI_BYTE, MPI_STATUS_IGNORE, e)
    CHECK(iachar(raw(bytes())) == 5 .and. iachar(raw(1)) == 0)
    call MPI_File_close(f, e)
  end subroutine

  subroutine deletions
    FILE_T :: f
    integer :: class, e
    character(303) :: own
    own = trim(name()) // '-' // achar(48 + rank)
    call MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_WRONLY + MPI_MODE_CREATE, MPI_INFO_NULL, f, e)
    call MPI_File_close(f, e)
    call MPI_File_delete(own, MPI_INFO_NULL, e)
    CHECK(e == MPI_SUCCESS)
    call MPI_File_delete(own, MPI_INFO_NULL, e)
    call MPI_Error_class(e, class, e)
    CHECK(class == MPI_ERR_NO_SUCH_FILE)
  end subroutine
end module

! Buffers that are not contiguous in one-sided communication and in files.
module sections_elsewhere
  use mpi_f08
  use checks, only: check, rank, ranks
  implicit none
  private
  public :: sections_elsewhere_tests

  integer, parameter :: n = 12, bytes = storage_size(0) / 8 ! of an INTEGER
  integer, asynchronous :: a(n, n), b(n, n), memory(2 * n)
  integer :: want(n, n), i, j, right, left
contains
  subroutine sections_elsewhere_tests
    right = mod(rank + 1, ranks)
    left = mod(rank + ranks - 1, ranks)
    do j = 1, n
      do i = 1, n
        a(i, j) = 1000 * rank + 20 * j + i
      end do
    end do
    call windows
    call files
  end subroutine

  subroutine windows
    type(MPI_Win) :: w
    type(MPI_Request) :: r
    integer :: k
    memory = -1
    call MPI_Win_create(memory, 2_MPI_ADDRESS_KIND * bytes * n, bytes, MPI_INFO_NULL, MPI_COMM_WORLD, w)
    call MPI_Win_fence(0, w)
    call MPI_Put(a(3, n:1:-1), n, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, n, MPI_INTEGER, w)
    call MPI_Win_fence(0, w)
    call check(all(memory(2:n + 1) == [(1000 * left + 20 * k + 3, k = n, 1, -1)]) .and. memory(1) == -1 .and. &
      all(memory(n + 2:) == -1), 'put')
    b = -1
    want = -1
    call MPI_Get(b(2:n:2, 5:6), n, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, n, MPI_INTEGER, w)
    call MPI_Win_fence(0, w)
    want(2:n:2, 5:6) = reshape([(1000 * rank + 20 * k + 3, k = n, 1, -1)], [n / 2, 2])
    call check(all(b == want), 'get')
    call MPI_Accumulate(a(3, 1::2), n / 2, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, n / 2, MPI_INTEGER, MPI_SUM, w)
    call MPI_Win_fence(0, w)
    call check(all(memory(2:n / 2 + 1) == [(2000 * left + 20 * (n + 1 - k) + 20 * (2 * k - 1) + 6, k = 1, n / 2)]), &
      'accumulate')
    call MPI_Barrier(MPI_COMM_WORLD) ! the next one changes what has been looked at
    b = -1
    want = -1
    call MPI_Get_accumulate(a(3, 1::2), n / 2, MPI_INTEGER, b(n:2:-2, n), n / 2, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, &
      n / 2, MPI_INTEGER, MPI_REPLACE, w)
    call MPI_Win_fence(0, w)
    want(n:2:-2, n) = [(2000 * rank + 20 * (n + 1 - k) + 20 * (2 * k - 1) + 6, k = 1, n / 2)]
    call check(all(b == want), 'get_accumulate')
    call check(all(memory(2:n / 2 + 1) == [(1000 * left + 20 * (2 * k - 1) + 3, k = 1, n / 2)]), 'replaced')
    call MPI_Win_lock_all(0, w)
    call MPI_Rget(b(1, ::2), n / 2, MPI_INTEGER, right, 1_MPI_ADDRESS_KIND, n / 2, MPI_INTEGER, w, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b(1, ::2) == [(1000 * rank + 20 * (2 * k - 1) + 3, k = 1, n / 2)]), 'rget')
    call MPI_Win_unlock_all(w)
    call MPI_Win_free(w)
  end subroutine

  subroutine files
    type(MPI_File) :: f
    type(MPI_Status) :: status
    type(MPI_Request) :: r
    character(200) :: name
    integer(MPI_OFFSET_KIND) :: mine
    integer :: count
    if (rank == 0) call named(name)
    call MPI_Bcast(name, 200, MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
      MPI_INFO_NULL, f)
    mine = 36_MPI_OFFSET_KIND * bytes * rank
    call MPI_File_write_at(f, mine, a(2::2, 2::2), 36, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 36, 'integers written')
    call MPI_File_sync(f)
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_sync(f)
    b = -1
    want = -1
    call MPI_File_read_at_all(f, 36_MPI_OFFSET_KIND * bytes * right, b(n - 1:1:-2, 1::2), 36, MPI_INTEGER, status)
    want(n - 1:1:-2, 1::2) = a(2::2, 2::2) + 1000 * (right - rank)
    call check(all(b == want), 'written and read')
    b = -1
    want = -1
    call MPI_File_iread_at(f, mine, b(7, :), n, MPI_INTEGER, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    want(7, :) = reshape(a(2::2, 2:4:2), [n])
    call check(all(b == want), 'iread_at')
    call MPI_File_seek(f, mine, MPI_SEEK_SET)
    call MPI_File_write_all_begin(f, a(1, :), n, MPI_INTEGER)
    call MPI_File_write_all_end(f, a(1, :), status)
    call MPI_File_seek(f, mine, MPI_SEEK_SET)
    b = -1
    want = -1
    call MPI_File_read_all_begin(f, b(:, 1::11), n, MPI_INTEGER)
    call MPI_File_read_all_end(f, b(:, 1::11), status)
    want(:, 1) = a(1, :)
    call check(all(b == want), 'split collective accesses')
    call MPI_File_close(f)
  end subroutine

  subroutine named(name) ! a file in the folder for temporary ones, which nobody else has
    character(*), intent(out) :: name
    character(150) :: folder
    integer :: length
    integer(selected_int_kind(18)) :: clock ! this long it counts nanoseconds
    call get_environment_variable('TMPDIR', folder, length)
    if (length == 0) folder = '/tmp'
    call system_clock(clock)
    write (name, '(2a,i0)') trim(folder), '/sections.', clock
  end subroutine
end module

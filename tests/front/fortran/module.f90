! ranks: 1 2 3 4
! Module mpi of another MPI: what it declares beside mpif.h, windows, files, buffers, spawned programs.
program main
use mpi
use, intrinsic :: iso_c_binding
implicit none
integer :: ierr, rank, n, i, win, file, parent, children, status(MPI_STATUS_SIZE), codes(2), r, size
integer(MPI_ADDRESS_KIND) :: bytes, address
integer(MPI_OFFSET_KIND) :: length
double precision :: before
integer, pointer :: memory(:)
type(c_ptr) :: base
character(len=200) :: self, args(3), got
character :: space(1000)
double precision :: x(3)
logical :: flag
call MPI_Init_thread(MPI_THREAD_FUNNELED, i, ierr)
call check(i >= MPI_THREAD_FUNNELED, 1)
call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
call MPI_Comm_get_parent(parent, ierr)
if (parent /= MPI_COMM_NULL) call child()
before = MPI_Wtime()
call check(before > 0 .and. MPI_Wtick() < 1, 2)
address = 100
bytes = 20
call check(MPI_Aint_add(address, bytes) == 120 .and. MPI_Aint_diff(address, bytes) == 80, 3)
call MPI_Sizeof(x, size, ierr)
call check(size == 8, 4)

! Windows, whose memory comes as a pointer.
bytes = 4 * n
call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierr)
call c_f_pointer(base, memory, (/ n /))
memory = -1
call MPI_Win_fence(0, win, ierr)
do i = 0, n - 1
  bytes = rank
  call MPI_Put(rank, 1, MPI_INTEGER, i, bytes, 1, MPI_INTEGER, win, ierr)
end do
call MPI_Win_fence(0, win, ierr)
call check(all(memory == (/ (i, i = 0, n - 1) /)), 5)
call MPI_Win_get_attr(win, MPI_WIN_SIZE, address, flag, ierr)
call check(flag .and. address == 4 * n, 6)
call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, address, flag, ierr)
call check(flag .and. address == 4, 7)
call MPI_Win_free(win, ierr)
call check(win == MPI_WIN_NULL, 8)

! Files.
write (self, '(a, i0)') 'fortran-module-', n
call MPI_File_open(MPI_COMM_WORLD, trim(self), ior(ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_MODE_DELETE_ON_CLOSE), &
  MPI_INFO_NULL, file, ierr)
call check(ierr == MPI_SUCCESS .and. file /= MPI_FILE_NULL, 9)
x = rank
length = 24 * rank
call MPI_File_write_at_all(file, length, x, 3, MPI_DOUBLE_PRECISION, status, ierr)
call MPI_Get_count(status, MPI_DOUBLE_PRECISION, i, ierr)
call check(i == 3, 10)
length = 24 * mod(rank + 1, n)
call MPI_File_sync(file, ierr)
call MPI_Barrier(MPI_COMM_WORLD, ierr)
call MPI_File_read_at(file, length, x, 3, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, ierr)
call check(all(x == mod(rank + 1, n)), 11)
call MPI_File_get_size(file, length, ierr)
call check(length == 24 * n, 12)
call MPI_File_close(file, ierr)
call check(file == MPI_FILE_NULL, 13)
call MPI_File_open(MPI_COMM_SELF, '/there/is/none', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
call MPI_Error_class(ierr, i, r)
call check(i == MPI_ERR_NO_SUCH_FILE, 14)

! A buffer that is attached, and persistent requests.
call MPI_Buffer_attach(space, 1000, ierr)
call MPI_Bsend(rank, 1, MPI_INTEGER, mod(rank + 1, n), 3, MPI_COMM_WORLD, ierr)
call MPI_Recv_init(i, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r, ierr)
call MPI_Start(r, ierr)
call MPI_Wait(r, status, ierr)
call check(i == mod(rank + n - 1, n) .and. status(MPI_SOURCE) == i .and. r /= MPI_REQUEST_NULL, 15)
call MPI_Request_free(r, ierr)
call MPI_Buffer_detach(space, size, ierr)
call check(size == 1000, 16)

! Programs that are started, with arguments.
call get_command_argument(0, self)
args = (/ character(len=200) :: 'one', 'two words', '' /)
call MPI_Comm_spawn(self, args, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, ierr)
call check(ierr == MPI_SUCCESS .and. all(codes == MPI_SUCCESS), 17)
call MPI_Comm_remote_size(children, i, ierr)
call check(i == 2, 18)
call MPI_Bcast(4711, 1, MPI_INTEGER, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), children, ierr)
call MPI_Comm_disconnect(children, ierr)
call MPI_Finalize(ierr)
contains
subroutine child()
call check(n == 2 .and. command_argument_count() == 2, 20)
call get_command_argument(1, got)
call check(got == 'one', 21)
call get_command_argument(2, got)
call check(got == 'two words', 22)
call MPI_Bcast(i, 1, MPI_INTEGER, 0, parent, ierr)
call check(i == 4711, 23)
call MPI_Comm_disconnect(parent, ierr)
call MPI_Finalize(ierr)
stop
end subroutine
subroutine check(good, number)
logical, intent(in) :: good
integer, intent(in) :: number
if (good) return
print *, 'check', number, 'fails on rank', rank
call MPI_Abort(MPI_COMM_WORLD, number, ierr)
end subroutine
end program

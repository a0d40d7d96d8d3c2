! ranks: 1 2 3 4
! Module mpi_f08 of another MPI: types of handles and statuses, no error arguments, sections where it supports them.
module functions
use mpi_f08
use, intrinsic :: iso_c_binding
implicit none
integer :: failures = 0, freed = 0
contains
subroutine most(in, inout, n, t)
type(c_ptr), value :: in, inout
integer :: n
type(MPI_Datatype) :: t
integer, pointer :: a(:), b(:)
call c_f_pointer(in, a, (/ n /))
call c_f_pointer(inout, b, (/ n /))
b = max(a, b) + merge(0, 1000, t == MPI_INTEGER)
end subroutine
subroutine failed(comm, code)
type(MPI_Comm) :: comm
integer :: code
failures = failures + 1
end subroutine
subroutine deleted(t, key, value, extra, ierror)
type(MPI_Datatype) :: t
integer :: key, ierror
integer(MPI_ADDRESS_KIND) :: value, extra
freed = int(value + extra)
ierror = MPI_SUCCESS
end subroutine
end module

program main
use functions
implicit none
type(MPI_Comm) :: comm, other
type(MPI_Status) :: status, two(2)
type(MPI_Request) :: requests(2)
type(MPI_Datatype) :: t
type(MPI_Op) :: op
type(MPI_Errhandler) :: handler
type(MPI_Info) :: info
type(MPI_Group) :: group
integer :: rank, n, left, right, i, key, code, class, buf(4), matrix(4, 5)
integer(MPI_ADDRESS_KIND) :: value, extra
logical :: flag
character(len=MPI_MAX_OBJECT_NAME) :: name
call MPI_Init()
call MPI_Comm_rank(MPI_COMM_WORLD, rank)
call MPI_Comm_size(MPI_COMM_WORLD, n)
right = mod(rank + 1, n)
left = mod(rank + n - 1, n)
call MPI_Comm_dup(MPI_COMM_WORLD, comm)
call check(comm /= MPI_COMM_NULL .and. comm /= MPI_COMM_WORLD, 1)

! Statuses and requests.
call MPI_Irecv(buf, 4, MPI_INTEGER, MPI_ANY_SOURCE, 1, comm, requests(1))
call MPI_Isend((/ rank, 2, 3 /), 3, MPI_INTEGER, right, 1, comm, requests(2))
call MPI_Waitall(2, requests, two)
call MPI_Get_count(two(1), MPI_INTEGER, i)
call check(i == 3 .and. two(1)%MPI_SOURCE == left .and. two(1)%MPI_TAG == 1 .and. buf(1) == left, 2)

! The same by the names that a profiling layer calls.
call PMPI_Comm_size(comm, i)
call check(i == n, 30)
call PMPI_Irecv(buf, 4, MPI_INTEGER, left, 2, comm, requests(1))
call PMPI_Send((/ 5, rank /), 2, MPI_INTEGER, right, 2, comm)
call PMPI_Wait(requests(1), status)
call PMPI_Get_count(status, MPI_INTEGER, i)
call check(i == 2 .and. buf(1) == 5 .and. buf(2) == left, 31)
call check(requests(1) == MPI_REQUEST_NULL, 3)
call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
call MPI_Recv(buf, 1, MPI_INTEGER, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE)
call MPI_Test(requests(1), flag, status)
call check(flag, 6)

! Sums in place, and by a function of the program.
buf = rank
call MPI_Allreduce(MPI_IN_PLACE, buf, 4, MPI_INTEGER, MPI_MAX, comm)
call check(all(buf == n - 1), 7)
call MPI_Op_create(most, .true., op)
call MPI_Allreduce((/ rank, -rank /), buf, 2, MPI_INTEGER, op, comm)
call check(buf(1) == n - 1 .and. buf(2) == 0, 8)
call MPI_Op_free(op)
call check(op == MPI_OP_NULL, 9)

! Sections.
matrix = reshape((/ (100 * rank + i, i = 1, 20) /), (/ 4, 5 /))
if (MPI_SUBARRAYS_SUPPORTED) then
  call MPI_Irecv(buf(1:4:3), 2, MPI_INTEGER, left, 2, comm, requests(1))
  call MPI_Isend(matrix(2, 2:5:2), 2, MPI_INTEGER, right, 2, comm, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
else
  call MPI_Sendrecv(matrix(2, 2:5:2), 2, MPI_INTEGER, right, 2, buf(1:4:3), 2, MPI_INTEGER, left, 2, comm, status)
end if
call check(buf(1) == 100 * left + 6 .and. buf(4) == 100 * left + 14, 10)
matrix = 0
call MPI_Bcast(matrix(1:3, 1:4), 12, MPI_INTEGER, 0, comm)
call check(all(matrix == 0), 11)

! Functions of the program, strings, types.
call MPI_Comm_create_errhandler(failed, handler)
call MPI_Comm_set_errhandler(comm, handler)
call MPI_Send(buf, 1, MPI_INTEGER, n, 1, comm, code)
call MPI_Error_class(code, class)
call check(failures == 1 .and. class == MPI_ERR_RANK, 12)
extra = 7
call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, deleted, key, extra)
call MPI_Type_vector(2, 1, 3, MPI_INTEGER, t)
call MPI_Type_commit(t)
value = 35
call MPI_Type_set_attr(t, key, value)
value = 0
call MPI_Type_get_attr(t, key, value, flag)
call check(flag .and. value == 35, 13)
call MPI_Type_free(t)
call check(freed == 42 .and. t == MPI_DATATYPE_NULL, 14)
call MPI_Comm_set_name(comm, 'of Fortran')
call MPI_Comm_get_name(comm, name, i)
call check(i == 10 .and. name == 'of Fortran', 15)
call MPI_Info_create(info)
call MPI_Info_set(info, 'key', 'value')
call MPI_Info_get(info, 'key', 5, name(1:5), flag)
call check(flag .and. name(1:5) == 'value', 16)
call MPI_Info_free(info)
call MPI_Comm_group(comm, group)
call MPI_Comm_create(comm, MPI_GROUP_EMPTY, other)
call check(other == MPI_COMM_NULL .and. group /= MPI_GROUP_NULL, 17)
call MPI_Group_free(group)
call MPI_Sizeof(matrix, i)
call check(i == 4, 18)
call MPI_Comm_free(comm)
call MPI_Finalize()
contains
subroutine check(good, number)
logical, intent(in) :: good
integer, intent(in) :: number
if (good) return
print *, 'check', number, 'fails on rank', rank
call MPI_Abort(MPI_COMM_WORLD, number)
end subroutine
end program

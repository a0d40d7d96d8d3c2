c ranks: 1 2 3 4
c mpif.h of another MPI: statuses, constants that are addresses, arrays of requests, strings, functions of the program.
      module counted
      integer :: copies = 0, deletes = 0, errors = 0, last = 0
      contains
      subroutine first(in, inout, n, t)
      integer n, t, in(n), inout(n), i
      do i = 1, n
        inout(i) = in(i)
      end do
      end subroutine
      subroutine copied(comm, key, extra, in, out, flag, ierr)
      include 'mpif.h'
      integer comm, key, ierr
      integer(MPI_ADDRESS_KIND) extra, in, out
      logical flag
      copies = copies + 1
      out = in + extra
      flag = .true.
      ierr = MPI_SUCCESS
      end subroutine
      subroutine deleted(comm, key, value, extra, ierr)
      include 'mpif.h'
      integer comm, key, ierr
      integer(MPI_ADDRESS_KIND) value, extra
      deletes = deletes + 1
      last = int(value)
      ierr = MPI_SUCCESS
      end subroutine
      subroutine failed(comm, code)
      integer comm, code
      errors = errors + 1
      end subroutine
      end module

      program main
      use counted
      implicit none
      include 'mpif.h'
      integer ierr, rank, n, i, comm, right, left, got, t, key, op
      integer status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
      integer requests(4), buf(8), in(8), group, handler, code, class
      integer lens(2), types(2), index, indices(4), many
      integer(MPI_ADDRESS_KIND) value, place(2), lb, extent
      logical flag, periodic(1)
      character(len=MPI_MAX_ERROR_STRING) text
      character(len=20) name
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, n, ierr)
      call mpi_comm_dup(MPI_COMM_WORLD, comm, ierr)
      call mpi_comm_compare(MPI_COMM_WORLD, comm, i, ierr)
      call check(i == MPI_CONGRUENT, 1)
      right = mod(rank + 1, n)
      left = mod(rank + n - 1, n)

c Statuses and arrays of requests.
      do i = 1, 2
        call mpi_irecv(in(i), 1, MPI_INTEGER, left, i, comm,
     &    requests(i), ierr)
        buf(i) = 100 * rank + i
        call mpi_isend(buf(i), 1, MPI_INTEGER, right, i, comm,
     &    requests(2 + i), ierr)
      end do
      call mpi_waitall(4, requests, statuses, ierr)
      do i = 1, 2
        call check(in(i) == 100 * left + i, 2)
        call check(statuses(MPI_SOURCE, i) == left, 3)
        call check(statuses(MPI_TAG, i) == i, 4)
        call mpi_get_count(statuses(1, i), MPI_INTEGER, got, ierr)
        call check(got == 1, 5)
      end do
      call check(all(requests == MPI_REQUEST_NULL), 6)
      call mpi_waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
      call mpi_irecv(in, 1, MPI_INTEGER, MPI_ANY_SOURCE, 7, comm,
     &  requests(2), ierr)
      call mpi_send(rank, 1, MPI_INTEGER, right, 7, comm, ierr)
      call mpi_waitany(3, requests, index, status, ierr)
      call check(index == 2 .and. status(MPI_TAG) == 7, 7)
      call mpi_waitany(3, requests, index, MPI_STATUS_IGNORE, ierr)
      call check(index == MPI_UNDEFINED, 8)
      call mpi_irecv(in, 1, MPI_INTEGER, left, 8, comm,
     &  requests(3), ierr)
      call mpi_send(rank, 1, MPI_INTEGER, right, 8, comm, ierr)
      call mpi_waitsome(4, requests, many, indices, statuses, ierr)
      call check(many == 1 .and. indices(1) == 3, 9)
      call mpi_recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 1, comm,
     &  status, ierr)
      call check(status(MPI_SOURCE) == MPI_PROC_NULL, 10)
      call mpi_iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, flag,
     &  MPI_STATUS_IGNORE, ierr)
      call check(.not. flag, 11)

c Constants that are addresses.
      in(1) = rank + 1
      call mpi_allreduce(MPI_IN_PLACE, in, 1, MPI_INTEGER, MPI_SUM,
     &  comm, ierr)
      call check(in(1) == n * (n + 1) / 2, 12)
      call mpi_get_address(buf, place(1), ierr)
      call mpi_type_create_hindexed(1, (/ 2 /), place, MPI_INTEGER, t,
     &  ierr)
      call mpi_type_commit(t, ierr)
      buf(1:2) = (/ 7, 8 /)
      call mpi_sendrecv(MPI_BOTTOM, 1, t, right, 1, in, 2, MPI_INTEGER,
     &  left, 1, comm, MPI_STATUS_IGNORE, ierr)
      call check(all(in(1:2) == (/ 7, 8 /)), 13)
      call mpi_type_free(t, ierr)
      call check(t == MPI_DATATYPE_NULL, 14)
      call mpi_dist_graph_create_adjacent(comm, 1, (/ left /),
     &  MPI_UNWEIGHTED, 1, (/ right /), MPI_UNWEIGHTED, MPI_INFO_NULL,
     &  .false., t, ierr)
      call mpi_dist_graph_neighbors_count(t, i, got, flag, ierr)
      call check(i == 1 .and. got == 1 .and. .not. flag, 15)
      call mpi_comm_free(t, ierr)

c Types.
      lens = (/ 1, 2 /)
      place = (/ 0, 8 /)
      types = (/ MPI_INTEGER, MPI_DOUBLE_PRECISION /)
      call mpi_type_create_struct(2, lens, place, types, t, ierr)
      call mpi_type_get_extent(t, lb, extent, ierr)
      call check(lb == 0 .and. extent == 24, 16)
      call mpi_type_size(t, i, ierr)
      call check(i == 20, 17)
      call mpi_type_get_envelope(t, i, got, many, index, ierr)
      call check(index == MPI_COMBINER_STRUCT .and. many == 2, 18)
      call mpi_type_get_contents(t, i, got, many, buf, place, indices,
     &  ierr)
      call check(all(indices(1:2) == types), 19)
      call mpi_type_free(t, ierr)
      call mpi_type_size(MPI_2DOUBLE_PRECISION, i, ierr)
      call check(i == 16, 20)

c Strings.
      call mpi_comm_set_name(comm, 'ring', ierr)
      call mpi_comm_get_name(comm, name, i, ierr)
      call check(name == 'ring' .and. i == 4, 21)
      call mpi_error_string(MPI_ERR_RANK, text, i, ierr)
      call check(i > 0 .and. text(i + 1:) == ' ', 22)
      call mpi_info_create(i, ierr)
      call mpi_info_set(i, ' key ', 'a value ', ierr)
      call mpi_info_get(i, 'key', 20, name, flag, ierr)
      call check(flag .and. name == 'a value', 23)
      call mpi_info_free(i, ierr)
      call check(i == MPI_INFO_NULL, 24)

c Operators, keys, error handlers.
      call mpi_op_create(first, .false., op, ierr)
      call mpi_reduce(rank + 1, got, 1, MPI_INTEGER, op, 0, comm, ierr)
      call check(rank /= 0 .or. got == 1, 25)
      call mpi_op_free(op, ierr)
      call check(op == MPI_OP_NULL, 26)
      extent = 5
      call mpi_comm_create_keyval(copied, deleted, key, extent, ierr)
      value = -(2_8 ** 40)
      call mpi_comm_set_attr(comm, key, value, ierr)
      call mpi_comm_dup(comm, t, ierr)
      call mpi_comm_get_attr(t, key, value, flag, ierr)
      call check(flag .and. value == 5 - 2_8 ** 40 .and.
     &  copies == 1, 27)
      call mpi_comm_set_attr(t, key, 17_8, ierr)
      call mpi_comm_free(t, ierr)
      call check(deletes == 2 .and. last == 17, 28)
      call mpi_comm_free_keyval(key, ierr)
      call check(key == MPI_KEYVAL_INVALID, 29)
      call mpi_comm_create_keyval(MPI_COMM_DUP_FN,
     &  MPI_COMM_NULL_DELETE_FN, key, extent, ierr)
      call mpi_comm_set_attr(MPI_COMM_SELF, key, 4711_8, ierr)
      call mpi_comm_dup(MPI_COMM_SELF, t, ierr)
      call mpi_comm_get_attr(t, key, value, flag, ierr)
      call check(flag .and. value == 4711, 30)
      call mpi_comm_free(t, ierr)
      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag,
     &  ierr)
      call check(flag .and. value >= 32767, 31)
      call mpi_comm_create_errhandler(failed, handler, ierr)
      call mpi_comm_set_errhandler(comm, handler, ierr)
      call mpi_send(rank, 1, MPI_INTEGER, n + 5, 1, comm, code)
      call mpi_error_class(code, class, ierr)
      call check(errors == 1 .and. class == MPI_ERR_RANK, 32)
      call mpi_comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
      call mpi_send(rank, 1, MPI_DATATYPE_NULL, 0, 1, comm, code)
      call mpi_error_class(code, class, ierr)
      call check(class == MPI_ERR_TYPE, 33)

c Grids, and what a group says.
      call mpi_cart_create(comm, 1, (/ n /), (/ .true. /), .false., t,
     &  ierr)
      call mpi_cart_get(t, 1, indices, periodic, buf, ierr)
      call check(indices(1) == n .and. periodic(1), 34)
      call mpi_cart_shift(t, 0, 1, i, got, ierr)
      call check(i == left .and. got == right, 35)
      call mpi_topo_test(t, i, ierr)
      call check(i == MPI_CART, 36)
      call mpi_comm_group(t, group, ierr)
      call mpi_group_size(group, i, ierr)
      call check(i == n, 37)
      call mpi_group_free(group, ierr)
      call mpi_comm_free(t, ierr)
      call mpi_comm_split(comm, MPI_UNDEFINED, 0, t, ierr)
      call check(t == MPI_COMM_NULL, 38)
      call mpi_comm_free(comm, ierr)
      call mpi_finalize(ierr)
      contains
      subroutine check(good, number)
      logical good
      integer number, e
      if (good) return
      print *, 'check', number, 'fails on rank', rank
      call mpi_abort(MPI_COMM_WORLD, number, e)
      end subroutine
      end program

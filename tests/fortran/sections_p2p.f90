! Buffers that are not contiguous in communication between two processes, and in packing: every rank talks to the next
! one and to itself. What is expected is written out by array expressions.
module sections_p2p
  use mpi_f08
  use checks, only: check, rank, ranks
  implicit none
  private
  public :: sections_p2p_tests

  integer :: right, left
  integer, parameter :: bytes = storage_size(0) / 8 ! of an INTEGER
  integer, parameter :: n = 7
  integer, asynchronous :: a(n, n, n), b(n, n, n)
  integer :: from(n, n, n), want(n, n, n)
  type(MPI_Request) :: r(2)
  type(MPI_Status) :: status
  integer :: count
contains
  subroutine sections_p2p_tests
    right = mod(rank + 1, ranks)
    left = mod(rank + ranks - 1, ranks)
    call fill(from, left)
    call fill(a, rank)

    call shapes
    call few_elements
    call persistent
    call buffered
    call replaced
    call matched
    call derived
    call structures
    call packed
    call partitioned
    call sevenfold
    call often
    call refused
  end subroutine

  ! Numbers that tell the rank and the place.
  subroutine fill(a, of)
    integer, intent(out) :: a(:, :, :)
    integer, intent(in) :: of
    integer :: i, j, k
    do k = 1, size(a, 3)
      do j = 1, size(a, 2)
        do i = 1, size(a, 1)
          a(i, j, k) = of * 100000 + i + 100 * j + 10000 * k
        end do
      end do
    end do
  end subroutine

  subroutine start
    b = -1
    want = -1
  end subroutine

  subroutine shapes ! rows, columns, planes, the interior, backwards: sections of several ranks of both sides
    call start
    call MPI_Isend(a(3, :, 2), n, MPI_INTEGER, right, 1, MPI_COMM_WORLD, r(1))
    call MPI_Recv(b(2, 5, ::1), n, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    want(2, 5, :) = from(3, :, 2)
    call check(all(b == want), 'a row to a pillar')
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == n, 'count of a status')
    call start
    call MPI_Irecv(b(2:6, 2:6, 2:6), 125, MPI_INTEGER, left, 2, MPI_COMM_WORLD, r(2))
    call MPI_Isend(a(6:2:-1, 2:6, 6:2:-1), 125, MPI_INTEGER, right, 2, MPI_COMM_WORLD, r(1))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    want(2:6, 2:6, 2:6) = from(6:2:-1, 2:6, 6:2:-1)
    call check(all(b == want), 'the interior, reversed')
    call start
    call MPI_Sendrecv(a(::2, ::3, ::2), 48, MPI_INTEGER, right, 3, &
      b(7:1:-2, 7:1:-3, 7:1:-2), 48, MPI_INTEGER, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    want(7:1:-2, 7:1:-3, 7:1:-2) = from(::2, ::3, ::2)
    call check(all(b == want), 'every other element, and backwards')
    call start
    call MPI_Isendrecv(a(:, 4, :), 49, MPI_INTEGER, right, 3, b(4, :, :), 49, MPI_INTEGER, left, 3, MPI_COMM_WORLD, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    want(4, :, :) = from(:, 4, :)
    call check(all(b == want), 'planes')
    call start
    call MPI_Issend(a(:, 1, 1), n, MPI_INTEGER, right, 4, MPI_COMM_WORLD, r(1))
    call MPI_Recv(b(1, 1, :), n, MPI_INTEGER, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    want(1, 1, :) = from(:, 1, 1)
    call check(all(b == want), 'from contiguous memory')
  end subroutine

  subroutine few_elements ! a count that is smaller than the section, and ends within a column
    integer :: flat(125)
    call start
    call MPI_Isend(a(2:6, 2:6, 2:6), 33, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(1))
    call MPI_Recv(b(1:7:2, 1:7:2, 1:7:2), 64, MPI_INTEGER, left, 5, MPI_COMM_WORLD, status)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    flat = reshape(from(2:6, 2:6, 2:6), [125])
    want(1:7:2, 1:7:2, 1:7:2) = reshape(flat(1:64), [4, 4, 4])
    call undo_behind(33)
    call check(all(b == want), '33 elements')
    call MPI_Get_count(status, MPI_INTEGER, count)
    call check(count == 33, 'count of 33 elements')
    call start
    call MPI_Isend(a(2:6, 2:6, 2:6), 0, MPI_INTEGER, right, 5, MPI_COMM_WORLD, r(1))
    call MPI_Recv(b(1:7:2, 1:7:2, 1:7:2), 0, MPI_INTEGER, left, 5, MPI_COMM_WORLD, status)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    call check(all(b == want), 'no elements')
  end subroutine

  subroutine undo_behind(k) ! what a message of k elements does not reach in want(1:7:2, ...)
    integer, intent(in) :: k
    integer :: i
    do i = k, 63
      want(1 + 2 * mod(i, 4), 1 + 2 * mod(i / 4, 4), 1 + 2 * (i / 16)) = -1
    end do
  end subroutine

  subroutine persistent
    integer :: i
    call MPI_Send_init(a(2, :, ::3), 21, MPI_INTEGER, right, 6, MPI_COMM_WORLD, r(1))
    call MPI_Recv_init(b(::3, 2, :), 21, MPI_INTEGER, left, 6, MPI_COMM_WORLD, r(2))
    do i = 1, 3
      call start
      a(2, :, ::3) = a(2, :, ::3) + 1
      from(2, :, ::3) = from(2, :, ::3) + 1
      call MPI_Startall(2, r)
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
      want(::3, 2, :) = reshape(from(2, :, ::3), [3, 7])
      call check(all(b == want), 'a persistent request')
    end do
    call MPI_Request_free(r(1))
    call MPI_Request_free(r(2))
  end subroutine

  subroutine buffered
    character :: room(1000 + MPI_BSEND_OVERHEAD)
    integer :: size
    call start
    call MPI_Buffer_attach(room, 1000 + MPI_BSEND_OVERHEAD)
    call MPI_Bsend(a(5, 1:7:2, :), 28, MPI_INTEGER, right, 7, MPI_COMM_WORLD)
    call MPI_Recv(b(5, 7:1:-2, :), 28, MPI_INTEGER, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    want(5, 7:1:-2, :) = from(5, 1:7:2, :)
    call check(all(b == want), 'a buffered send')
    call detach(size)
    call check(size == 1000 + MPI_BSEND_OVERHEAD, 'detached')
  end subroutine

  subroutine detach(size)
    use, intrinsic :: iso_c_binding, only: c_ptr
    integer, intent(out) :: size
    type(c_ptr) :: where
    call MPI_Buffer_detach(where, size)
  end subroutine

  subroutine replaced
    call start
    b = a
    want = a
    call MPI_Sendrecv_replace(b(::2, 3, ::2), 16, MPI_INTEGER, right, 8, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    want(::2, 3, ::2) = from(::2, 3, ::2)
    call check(all(b == want), 'sendrecv_replace')
    call MPI_Isendrecv_replace(b(1, ::2, :), 28, MPI_INTEGER, right, 8, left, 8, MPI_COMM_WORLD, r(1))
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    want(1, ::2, :) = from(1, ::2, :)
    if (ranks > 2) want(1, 3, ::2) = before_left(1, 3)
    if (ranks == 2) want(1, 3, ::2) = a(1, 3, ::2)
    call check(all(b == want), 'isendrecv_replace')
  end subroutine

  function before_left(i, j) result(pillar) ! what the left one had received before it sent
    integer, intent(in) :: i, j
    integer :: pillar(4), theirs(n, n, n)
    call fill(theirs, mod(rank + ranks - 2, ranks))
    pillar = theirs(i, j, ::2)
  end function

  subroutine matched
    type(MPI_Message) :: m
    call start
    call MPI_Isend(a(3, ::2, 7:1:-1), 28, MPI_INTEGER, right, 9, MPI_COMM_WORLD, r(1))
    call MPI_Mprobe(left, 9, MPI_COMM_WORLD, m, status)
    call MPI_Mrecv(b(6, 1:7:2, :), 28, MPI_INTEGER, m, status)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    want(6, 1:7:2, :) = from(3, ::2, 7:1:-1)
    call check(all(b == want), 'mrecv')
    call start
    call MPI_Isend(a(3, ::2, 7:1:-1), 28, MPI_INTEGER, right, 9, MPI_COMM_WORLD, r(1))
    call MPI_Mprobe(left, 9, MPI_COMM_WORLD, m, status)
    call MPI_Imrecv(b(6, 1:7:2, :), 28, MPI_INTEGER, m, r(2))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    want(6, 1:7:2, :) = from(3, ::2, 7:1:-1)
    call check(all(b == want), 'imrecv')
  end subroutine

  subroutine derived ! a datatype with gaps, over a section: every third element of those that the section has
    type(MPI_Datatype) :: third, tail
    integer :: flat(49), got(49)
    call MPI_Type_vector(16, 1, 3, MPI_INTEGER, third)
    call MPI_Type_commit(third)
    call start
    call MPI_Isend(a(4, :, :), 1, third, right, 10, MPI_COMM_WORLD, r(1))
    call MPI_Recv(b(:, 4, :), 1, third, left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    flat = reshape(from(4, :, :), [49])
    got = -1
    got(1:46:3) = flat(1:46:3)
    want(:, 4, :) = reshape(got, [7, 7])
    call check(all(b == want), 'a vector over a section')
    call MPI_Type_indexed(3, [2, 5, 1], [30, 3, 20], MPI_INTEGER, tail)
    call MPI_Type_commit(tail)
    call start
    call MPI_Isend(a(4, :, :), 1, tail, right, 10, MPI_COMM_WORLD, r(1))
    call MPI_Recv(b(:, 2, 7:1:-2), 8, MPI_INTEGER, left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    want(:, 2, 7) = flat([31, 32, 4, 5, 6, 7, 8])
    want(1, 2, 5) = flat(21)
    call check(all(b == want), 'blocks over a section')
    call MPI_Type_free(third)
    call MPI_Type_free(tail)
  end subroutine

  subroutine structures ! elements of a derived type of Fortran
    type particle
      sequence
      real(8) :: x
      integer :: kind, charge
    end type
    type(particle), asynchronous :: mine(5, 5), theirs(5, 5)
    type(MPI_Datatype) :: t
    integer :: i, j
    call MPI_Type_create_struct(2, [1, 2], [0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND], [MPI_REAL8, MPI_INTEGER], t)
    call MPI_Type_commit(t)
    do j = 1, 5
      do i = 1, 5
        mine(i, j) = particle(0.5d0 * rank + i, j, i)
        theirs(i, j) = particle(-1, -1, -1)
      end do
    end do
    call MPI_Irecv(theirs(5:1:-2, 2), 3, t, left, 11, MPI_COMM_WORLD, r(2))
    call MPI_Isend(mine(3, 1:5:2), 3, t, right, 11, MPI_COMM_WORLD, r(1))
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    call check(all(theirs(5:1:-2, 2)%x == 0.5d0 * left + 3) .and. all(theirs(5:1:-2, 2)%kind == [1, 3, 5]) .and. &
      all(theirs(5:1:-2, 2)%charge == 3) .and. count_untouched(theirs%kind) == 22, 'structures')
    call MPI_Type_free(t)
  end subroutine

  integer function count_untouched(kinds)
    integer, intent(in) :: kinds(:, :)
    count_untouched = count_of(kinds == -1)
  end function

  integer function count_of(is)
    logical, intent(in) :: is(:, :)
    count_of = sum(merge(1, 0, is))
  end function

  subroutine packed
    integer :: position
    character :: room(800)
    call start
    position = 0
    call MPI_Pack(a(3, 2:6:2, :), 21, MPI_INTEGER, room, 800, position, MPI_COMM_WORLD)
    call check(position == 21 * bytes, 'packed bytes')
    call MPI_Pack(a(1, 1, 1), 1, MPI_INTEGER, room, 800, position, MPI_COMM_WORLD)
    position = 0
    call MPI_Unpack(room, 800, position, b(7:1:-3, 1, :), 21, MPI_INTEGER, MPI_COMM_WORLD)
    want(7:1:-3, 1, :) = a(3, 2:6:2, :)
    call check(all(b == want), 'packed and unpacked')
    call start
    position = 0
    call MPI_Pack(a(:, 2, 2), n, MPI_INTEGER, b(::2, 1, 1:7:6), 8 * bytes, position, MPI_COMM_WORLD)
    position = 0
    call MPI_Unpack(b(::2, 1, 1:7:6), 8 * bytes, position, want(3, 3, :), n, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(want(3, 3, :) == a(:, 2, 2)), 'packed into a section')
  end subroutine

  subroutine partitioned
    integer :: i
    call start
    call MPI_Psend_init(a(2, :, ::2), 7, 4_MPI_COUNT_KIND, MPI_INTEGER, right, 12, MPI_COMM_WORLD, MPI_INFO_NULL, r(1))
    call MPI_Precv_init(b(::2, :, 3), 4, 7_MPI_COUNT_KIND, MPI_INTEGER, left, 12, MPI_COMM_WORLD, MPI_INFO_NULL, r(2))
    call MPI_Startall(2, r)
    do i = 6, 0, -1
      call MPI_Pready(i, r(1))
    end do
    call MPI_Waitall(2, r, MPI_STATUSES_IGNORE)
    want(::2, :, 3) = reshape(from(2, :, ::2), [4, 7])
    call check(all(b == want), 'partitions')
    call MPI_Request_free(r(1))
    call MPI_Request_free(r(2))
  end subroutine

  subroutine sevenfold ! the most dimensions that mpi_f08 must take before Fortran 2008
    integer, asynchronous :: x(3, 2, 3, 2, 3, 2, 3), y(3, 2, 3, 2, 3, 2, 3)
    x = reshape([(rank * 1000 + count, count = 1, size(x))], shape(x))
    y = -1
    call MPI_Isend(x(::2, :, 3:1:-2, 2, :, 2:1:-1, ::2), 96, MPI_INTEGER, right, 13, MPI_COMM_WORLD, r(1))
    call MPI_Recv(y(::2, 2:1:-1, ::2, 2, :, :, ::2), 96, MPI_INTEGER, left, 13, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Wait(r(1), MPI_STATUS_IGNORE)
    x = reshape([(left * 1000 + count, count = 1, size(x))], shape(x))
    call check(all(y(::2, 2:1:-1, ::2, 2, :, :, ::2) == x(::2, :, 3:1:-2, 2, :, 2:1:-1, ::2)), 'seven dimensions')
    call check(sum(merge(1, 0, y == -1)) == size(y) - 96, 'nothing else of seven dimensions')
  end subroutine

  subroutine often ! more sections than are remembered, with datatypes that end meanwhile
    type(MPI_Datatype) :: t
    integer :: i, k
    do i = 1, 60
      k = 1 + mod(i, 7)
      call start
      call MPI_Type_contiguous(1 + mod(i, 3), MPI_INTEGER, t)
      call MPI_Type_commit(t)
      call MPI_Isend(a(k, ::1 + mod(i, 2), :), 3, t, right, 14, MPI_COMM_WORLD, r(1))
      call MPI_Type_free(t)
      call MPI_Recv(b(:, k, ::2), 9, MPI_INTEGER, left, 14, MPI_COMM_WORLD, status)
      call MPI_Wait(r(1), MPI_STATUS_IGNORE)
      call MPI_Get_count(status, MPI_INTEGER, count)
      call check(count == 3 * (1 + mod(i, 3)), 'one of many sections')
      call check(b(1, k, 1) == from(k, 1, 1) .and. b(3, k, 1) == from(k, 3 + 2 * mod(i, 2), 1), 'data of many')
    end do
  end subroutine

  subroutine refused ! elements that the section does not have, and basic elements that it has in pieces
    integer :: e, class
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send(a(1, :, 1), 8, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, e)
    call MPI_Error_class(e, class)
    call check(class == MPI_ERR_BUFFER, 'more elements than the section has')
    call MPI_Send(a(1, :, 1), 2, MPI_DOUBLE_COMPLEX, MPI_PROC_NULL, 1, MPI_COMM_WORLD, e)
    call MPI_Error_class(e, class)
    call check(class == MPI_ERR_BUFFER, 'elements in pieces')
    call MPI_Send(a(1, :, 1), 2, MPI_DATATYPE_NULL, MPI_PROC_NULL, 1, MPI_COMM_WORLD, e)
    call MPI_Error_class(e, class)
    call check(class == MPI_ERR_TYPE, 'no datatype')
    call MPI_Send(a(1, :, 1), -2, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, e)
    call MPI_Error_class(e, class)
    call check(class == MPI_ERR_COUNT, 'a negative count')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
  end subroutine
end module

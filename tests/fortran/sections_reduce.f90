! Reductions of vectors that are not contiguous, where they lie: either buffer or both, in place, of short vectors and of
! long ones, by operators of MPI and of the program.
module sections_reduce
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use checks, only: check, rank, ranks
  implicit none
  private
  public :: sections_reduce_tests

  integer :: sizes(3) = [5, 40, 300], which
contains
  subroutine sections_reduce_tests
    do which = 1, size(sizes)
      call sums(sizes(which))
      call scattered(sizes(which))
      call prefixes(sizes(which))
      call own(sizes(which))
      call mixed(sizes(which))
    end do
    call pairs
    call locally
  end subroutine

  ! Pairs (a, b) stand for maps t -> a t + b, of which this is the composition. It does not commute.
  subroutine composed(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:, :), y(:, :)
    if (datatype /= MPI_2INTEGER) call MPI_Abort(MPI_COMM_WORLD, 1)
    call c_f_pointer(invec, x, [2, len])
    call c_f_pointer(inoutvec, y, [2, len])
    y(2, :) = x(1, :) * y(2, :) + x(2, :)
    y(1, :) = x(1, :) * y(1, :)
  end subroutine

  ! What maps t -> 2 t + i + r of ranks r = 0 to last make of 0.
  integer function image(i, last)
    integer, intent(in) :: i, last
    integer :: r
    image = sum([(2**r * (i + r), r = 0, last)])
  end function

  subroutine sums(n) ! of every other row, columns backwards, to the interior of another matrix
    integer, intent(in) :: n
    integer, asynchronous :: a(2 * n, n), b(0:n + 1, 0:n + 1)
    integer :: want(0:n + 1, 0:n + 1), all_ranks, i, j, root
    type(MPI_Request) :: r
    all_ranks = ranks * (ranks - 1) / 2
    do j = 1, n
      do i = 1, 2 * n
        a(i, j) = rank + i + 7 * j
      end do
    end do
    want = -1
    do j = 1, n
      do i = 1, n
        want(i, j) = all_ranks + ranks * (2 * i - 1 + 7 * (n + 1 - j))
      end do
    end do
    b = -1
    call MPI_Allreduce(a(1::2, n:1:-1), b(1:n, 1:n), n * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b == want), 'allreduce')
    b = -1
    call MPI_Iallreduce(a(1::2, n:1:-1), b(1:n, 1:n), n * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'iallreduce')
    b = -1
    b(1:n, 1:n) = a(1::2, n:1:-1)
    call MPI_Allreduce(MPI_IN_PLACE, b(1:n, 1:n), n * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b == want), 'allreduce in place')
    do root = 0, ranks - 1
      b = -1
      call MPI_Reduce(a(1::2, n:1:-1), b(1:n, 1:n), n * n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
      if (rank == root) call check(all(b == want), 'reduce')
      if (rank /= root) call check(all(b == -1), 'reduce elsewhere')
      b(1:n, 1:n) = a(1::2, n:1:-1)
      if (rank == root) then
        call MPI_Ireduce(MPI_IN_PLACE, b(1:n, 1:n), n * n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, r)
      else
        call MPI_Ireduce(b(1:n, 1:n), b, n * n, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD, r)
      end if
      call MPI_Wait(r, MPI_STATUS_IGNORE)
      if (rank == root) call check(all(b == want), 'ireduce in place')
    end do
    call MPI_Allreduce_init(a(1::2, n:1:-1), b(1:n, 1:n), n * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r)
    do i = 1, 2
      b = -1
      call MPI_Start(r)
      call MPI_Wait(r, MPI_STATUS_IGNORE)
      call check(all(b == want), 'allreduce_init')
    end do
    call MPI_Request_free(r)
  end subroutine

  subroutine scattered(n) ! a block of the sum for each: rank i gets i + 1 columns, or as many as the others
    integer, intent(in) :: n
    double precision, asynchronous :: a(2, n, ranks * (ranks + 1) / 2), b(3, n, ranks)
    double precision :: want(3, n, ranks)
    integer :: counts(ranks), i, first
    type(MPI_Request) :: r
    counts = [(i * n, i = 1, ranks)]
    first = rank * (rank + 1) / 2
    do i = 1, size(a, 3)
      a(1, :, i) = i + rank * 0.5d0
      a(2, :, i) = -7
    end do
    want = -1
    do i = 1, rank + 1
      want(2, :, i) = ranks * (first + i) + ranks * (ranks - 1) * 0.25d0
    end do
    b = -1
    call MPI_Reduce_scatter(a(1, :, :), b(2, :, :), counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b == want), 'reduce_scatter')
    b = -1
    call MPI_Ireduce_scatter(a(1, :, :), b(2, :, :), counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'ireduce_scatter')
    want = -1
    want(2, :, 1) = ranks * (rank + 1) + ranks * (ranks - 1) * 0.25d0
    b = -1
    call MPI_Reduce_scatter_block(a(1, :, :), b(2, :, :), n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b == want), 'reduce_scatter_block')
    b = -1
    do i = 1, ranks
      b(2, :, i) = i + rank * 0.5d0
    end do
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, b(2, :, :), n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b(:, :, 1) == want(:, :, 1)) .and. all(b(1::2, :, :) == -1), 'reduce_scatter_block in place')
  end subroutine

  subroutine prefixes(n)
    integer, intent(in) :: n
    integer, asynchronous :: a(3, n), b(n, 2)
    integer :: i, upto
    type(MPI_Request) :: r
    a = -5
    a(2, :) = [(rank + i, i = 1, n)]
    upto = rank * (rank + 1) / 2
    b = -1
    call MPI_Scan(a(2, :), b(n:1:-1, 1), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b(n:1:-1, 1) == [(upto + (rank + 1) * i, i = 1, n)]) .and. all(b(:, 2) == -1), 'scan')
    b = -1
    call MPI_Iexscan(a(2, :), b(n:1:-1, 1), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    if (rank > 0) call check(all(b(n:1:-1, 1) == [(upto - rank + rank * i, i = 1, n)]), 'iexscan')
    b(n:1:-1, 1) = a(2, :)
    call MPI_Scan(MPI_IN_PLACE, b(n:1:-1, 1), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call check(all(b(n:1:-1, 1) == [(upto + (rank + 1) * i, i = 1, n)]), 'scan in place')
  end subroutine

  subroutine own(n) ! an operator of the program, which gets MPI_2INTEGER and pairs, wherever their halves lie
    integer, intent(in) :: n
    integer, asynchronous :: a(2, 2, n), b(4, n)
    integer :: i
    type(MPI_Op) :: op
    type(MPI_Request) :: r
    a = -1
    a(1, 1, :) = 2
    a(2, 1, :) = [(rank + i, i = 1, n)]
    call MPI_Op_create(composed, .false., op)
    b = -1
    call MPI_Allreduce(a(:, 1, :), b(4:2:-2, n:1:-1), n, MPI_2INTEGER, op, MPI_COMM_WORLD)
    call check(all(b(4, n:1:-1) == 2**ranks) .and. all(b(2, n:1:-1) == [(image(i, ranks - 1), i = 1, n)]) .and. &
      all(b(1::2, :) == -1), 'own operator')
    call MPI_Iscan(a(:, 1, :), b(4:2:-2, n:1:-1), n, MPI_2INTEGER, op, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b(2, n:1:-1) == [(image(i, rank), i = 1, n)]), 'iscan by an own operator')
    call MPI_Op_free(op)
  end subroutine

  subroutine mixed(n) ! only some have sections
    integer, intent(in) :: n
    integer, asynchronous :: a(2, n), flat(n)
    integer :: i
    type(MPI_Request) :: r
    a = -1
    a(1, :) = [(rank + i, i = 1, n)]
    flat = a(1, :)
    if (mod(rank, 2) == 0) then
      call MPI_Allreduce(flat, a(1, :), n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
      call check(all(a(1, :) == [(ranks - 1 + i, i = 1, n)]) .and. all(a(2, :) == -1), 'maximum in a section')
      call MPI_Iallreduce(flat, a(1, :), n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r)
      call MPI_Wait(r, MPI_STATUS_IGNORE)
      call check(all(a(1, :) == [(ranks * (ranks - 1) / 2 + i * ranks, i = 1, n)]), 'sum in a section')
    else
      call MPI_Allreduce(a(1, :), flat, n, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
      call check(all(flat == [(ranks - 1 + i, i = 1, n)]), 'maximum elsewhere')
      call MPI_Iallreduce(a(1, :), flat, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r)
      call MPI_Wait(r, MPI_STATUS_IGNORE)
      call check(all(flat == [(ranks * (ranks - 1) / 2 + i * ranks, i = 1, n)]), 'sum elsewhere')
    end if
  end subroutine

  subroutine pairs ! a value and an index: neighbors in a section of which each other element is left out
    integer :: a(3, 2, 5), b(4, 5), i
    a = 99
    do i = 1, 5
      a(2, :, i) = [mod(rank + i, ranks), rank]
    end do
    b = -1
    call MPI_Allreduce(a(2, :, :), b(1:3:2, :), 5, MPI_2INTEGER, MPI_MINLOC, MPI_COMM_WORLD)
    call check(all(b(1, :) == 0) .and. all(b(3, :) == [(modulo(-i, ranks), i = 1, 5)]) .and. all(b(2::2, :) == -1), &
      'minloc of pairs that are apart')
  end subroutine

  subroutine locally
    integer :: a(2, 9), b(9, 2), i
    a = 0
    b = -1
    a(2, :) = [(i, i = 1, 9)]
    b(:, 1) = 10
    call MPI_Reduce_local(a(2, :), b(9:1:-1, 1), 9, MPI_INTEGER, MPI_SUM)
    call check(all(b(9:1:-1, 1) == [(10 + i, i = 1, 9)]) .and. all(b(:, 2) == -1), 'reduce_local')
    call MPI_Reduce_local(a(2, :), b, 9, MPI_INTEGER, MPI_SUM)
    call check(all(b(:, 1) == [(20, i = 1, 9)]), 'reduce_local to contiguous memory')
  end subroutine
end module

! Collective communication: blocking, nonblocking and persistent, in place, with counts for each process, reductions with
! operators of the program.
#include "binding.h"
module coll
  USE_MPI
  use, intrinsic :: iso_c_binding, only: C_PTR, c_f_pointer
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: coll_tests
contains
  subroutine coll_tests
    call moves
    call moves_with_counts
    call moves_in_place
    call typed_exchanges
    call reductions
    call reductions_in_place
    call nonblocking
    call arrays_of_nonblocking_calls
    call persistent
    call own_operators
    call locally
  end subroutine

  ! 1, 1 + 2, 1 + 2 + 3, ... less one: where blocks of 1, 2, 3, ... elements begin.
  subroutine triangle(counts, displs, total)
    integer, intent(out) :: counts(:), displs(:), total
    integer :: i
    do i = 1, size(counts)
      counts(i) = i
      displs(i) = i * (i - 1) / 2
    end do
    total = displs(size(displs)) + counts(size(counts))
  end subroutine

  subroutine moves
    integer :: x(2), y(2), all(2, ranks), i, root, e
    root = ranks - 1
    x = -1
    if (rank == root) x = (/ 4, 5 /)
    call MPI_Bcast(x, 2, MPI_INTEGER, root, MPI_COMM_WORLD, e)
    CHECK(x(1) == 4 .and. x(2) == 5)
    x = (/ rank, -rank /)
    all = -9
    call MPI_Gather(x, 2, MPI_INTEGER, all, 2, MPI_INTEGER, root, MPI_COMM_WORLD, e)
    do i = 1, ranks
      if (rank == root) then
        CHECK(all(1, i) == i - 1 .and. all(2, i) == 1 - i)
      end if
    end do
    y = -1
    call MPI_Scatter(all, 2, MPI_INTEGER, y, 2, MPI_INTEGER, root, MPI_COMM_WORLD, e)
    CHECK(y(1) == rank .and. y(2) == -rank)
    all = -9
    call MPI_Allgather(x, 2, MPI_INTEGER, all, 2, MPI_INTEGER, MPI_COMM_WORLD, e)
    do i = 1, ranks
      CHECK(all(1, i) == i - 1 .and. all(2, i) == 1 - i)
      all(:, i) = (/ rank, i - 1 /)
    end do
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INTEGER, MPI_COMM_WORLD, e)
    do i = 1, ranks
      CHECK(all(1, i) == i - 1 .and. all(2, i) == rank)
    end do
  end subroutine

  subroutine moves_with_counts
    integer :: counts(ranks), displs(ranks), ones(ranks), mine(rank + 1), all(ranks * (ranks + 1) / 2), total, i, e
    integer :: out(ranks), in(ranks)
    call triangle(counts, displs, total)
    mine = rank + 1
    all = 0
    call MPI_Gatherv(mine, rank + 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    if (rank == 0) then
      CHECK(sum(all) == sum(counts**2) .and. all(total) == ranks)
    end if
    mine = 0
    call MPI_Scatterv(all, counts, displs, MPI_INTEGER, mine, rank + 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    CHECK(minval(mine) == rank + 1 .and. maxval(mine) == rank + 1)
    all = 0
    call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, e)
    CHECK(sum(all) == sum(counts**2) .and. all(total) == ranks .and. all(1) == 1)
    ones = 1
    displs = (/ (ranks - i, i = 1, ranks) /)  ! the blocks lie the other way round
    out = (/ (100 * rank + ranks - i, i = 1, ranks) /)
    call MPI_Alltoallv(out, ones, displs, MPI_INTEGER, in, ones, displs, MPI_INTEGER, MPI_COMM_WORLD, e)
    do i = 1, ranks
      CHECK(in(ranks + 1 - i) == 100 * (i - 1) + rank)
    end do
  end subroutine

  subroutine moves_in_place
    integer :: all(ranks), counts(ranks), displs(ranks), x, total, i, e
    all = -1
    all(rank + 1) = rank
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
      CHECK(sum(all) == ranks * (ranks - 1) / 2)
      call MPI_Scatter(all, 1, MPI_INTEGER, MPI_IN_PLACE, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
    else
      x = rank
      call MPI_Gather(x, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
      x = -1
      call MPI_Scatter(all, 1, MPI_INTEGER, x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, e)
      CHECK(x == rank)
    end if
    all = -1
    all(rank + 1) = rank
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INTEGER, MPI_COMM_WORLD, e)
    CHECK(sum(all) == ranks * (ranks - 1) / 2)
    all = -1
    all(rank + 1) = rank
    counts = 1
    displs = (/ (i, i = 0, ranks - 1) /)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, e)
    CHECK(sum(all) == ranks * (ranks - 1) / 2)
    total = 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(total == ranks)
  end subroutine

  subroutine typed_exchanges
    integer :: counts(ranks), displs(ranks), size, i, e
    double precision :: out(ranks), in(ranks)
    DATATYPE_T :: types(ranks)
    counts = 1
    types = MPI_DOUBLE_PRECISION
    call MPI_Type_size(MPI_DOUBLE_PRECISION, size, e)
    displs = (/ (size * i, i = 0, ranks - 1) /)
    out = (/ (rank + i / 8d0, i = 0, ranks - 1) /)
    call MPI_Alltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, e)
    do i = 0, ranks - 1
      CHECK(in(i + 1) == i + rank / 8d0)
    end do
  end subroutine

  subroutine reductions
    integer :: x(2), y(2), all(2 * ranks), counts(ranks), one, e
    x = (/ rank + 1, -rank /)
    y = 77
    call MPI_Reduce(x, y, 2, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, e)
    if (rank == 0) then
      CHECK(y(1) == ranks .and. y(2) == 0)
    end if
    call MPI_Allreduce(x, y, 2, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, e)
    CHECK(y(1) == 1 .and. y(2) == 1 - ranks)
    all = 1
    call MPI_Reduce_scatter_block(all, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(y(1) == ranks .and. y(2) == ranks)
    counts = 1
    one = 0
    all(1:ranks) = rank + 1
    call MPI_Reduce_scatter(all, one, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(one == ranks * (ranks + 1) / 2)
    call MPI_Scan(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(y(1) == (rank + 1) * (rank + 2) / 2)
    y = 0
    call MPI_Exscan(x, y, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(y(1) == rank * (rank + 1) / 2)
    call MPI_Barrier(MPI_COMM_WORLD, e)
  end subroutine

  subroutine reductions_in_place
    integer :: x, all(ranks), counts(ranks), e
    x = rank + 1
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, e)
      CHECK(x == ranks * (ranks + 1) / 2)
    else
      call MPI_Reduce(x, x, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, e)
    end if
    x = 1
    call MPI_Scan(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(x == rank + 1)
    all = rank
    counts = 1
    call MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, e)
    CHECK(all(1) == ranks - 1)
    all = rank
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, e)
    CHECK(all(1) == ranks - 1)
  end subroutine

  subroutine nonblocking
    integer ASYNC :: x, b, sum, all(ranks), part, before, none
    integer :: e
    REQUEST_T :: r(7)
    x = rank + 1
    b = -1
    if (rank == 0) b = 42
    before = 0
    call MPI_Ibcast(b, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, r(1), e)
    call MPI_Iallreduce(x, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(2), e)
    call MPI_Iallgather(x, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, r(3), e)
    call MPI_Ibarrier(MPI_COMM_WORLD, r(4), e)
    call MPI_Iscan(x, part, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(5), e)
    call MPI_Iexscan(x, before, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, r(6), e)
    call MPI_Ireduce(x, none, 0, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, r(7), e)
    call MPI_Waitall(7, r, MPI_STATUSES_IGNORE, e)
    CHECK(b == 42 .and. sum == ranks * (ranks + 1) / 2 .and. all(ranks) == ranks .and. all(1) == 1)
    CHECK(part == (rank + 1) * (rank + 2) / 2 .and. before == rank * (rank + 1) / 2)
  end subroutine

  ! The caller's arrays of counts, displacements and datatypes may not change before the end, copies of them must last.
  subroutine arrays_of_nonblocking_calls
    integer ASYNC :: out(ranks), in(ranks), counts(ranks), displs(ranks), inw(ranks), displw(ranks), all(ranks), one(1)
    DATATYPE_T ASYNC :: types(ranks)
    integer :: i, size, e
    REQUEST_T :: r(4)
    counts = 1
    displs = (/ (i, i = 0, ranks - 1) /)
    call MPI_Type_size(MPI_INTEGER, size, e)
    displw = size * displs
    types = MPI_INTEGER
    out = 10 * rank + displs
    in = -1
    inw = -1
    all = -1
    call MPI_Ialltoallv(out, counts, displs, MPI_INTEGER, in, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, r(1), e)
    call MPI_Ialltoallw(out, counts, displw, types, inw, counts, displw, types, MPI_COMM_WORLD, r(2), e)
    call MPI_Iallgatherv(rank, 1, MPI_INTEGER, all, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, r(3), e)
    call MPI_Igatherv(rank, 1, MPI_INTEGER, one, counts, displs, MPI_INTEGER, 0, MPI_COMM_SELF, r(4), e)
    call stir
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, e)
    do i = 1, ranks
      CHECK(in(i) == 10 * (i - 1) + rank .and. inw(i) == in(i) .and. all(i) == i - 1)
    end do
    CHECK(one(1) == rank)
  end subroutine

  ! Other things lie where the copies of a call that has returned might have been.
  recursive subroutine stir
    integer :: room(4000)
    room = -1
    if (sum(room) == 0) call stir
  end subroutine

  subroutine persistent
    integer ASYNC :: x, all(ranks), sum, counts(ranks), displs(ranks), inw(ranks)
    DATATYPE_T ASYNC :: types(ranks)
    integer :: i, k, size, e
    REQUEST_T :: r(3)
    call MPI_Type_size(MPI_INTEGER, size, e)
    counts = 1
    displs = (/ (size * i, i = 0, ranks - 1) /)
    types = MPI_INTEGER
    call MPI_Allgather_init(x, 1, MPI_INTEGER, all, 1, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, r(1), e)
    call MPI_Allreduce_init(x, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), e)
    call MPI_Alltoallw_init(MPI_IN_PLACE, counts, displs, types, inw, counts, displs, types, MPI_COMM_WORLD, &
      MPI_INFO_NULL, r(3), e)
    do k = 1, 2
      x = k + rank
      inw = (/ (10 * rank + i, i = 1, ranks) /)
      call MPI_Startall(3, r, e)
      call stir
      call MPI_Waitall(3, r, MPI_STATUSES_IGNORE, e)
      CHECK(all(ranks) == k + ranks - 1 .and. sum == ranks * k + ranks * (ranks - 1) / 2)
      do i = 1, ranks
        CHECK(inw(i) == 10 * (i - 1) + rank + 1)
      end do
    end do
    do k = 1, 3
      call MPI_Request_free(r(k), e)
    end do
  end subroutine

  ! Concatenates numbers of one digit: associative for what is tested, and not commutative.
#if BINDING == 3
  subroutine concatenate(invec, inoutvec, len, datatype)
    type(C_PTR), value :: invec, inoutvec
    integer :: len
    DATATYPE_T :: datatype
    integer, pointer :: a(:), b(:)
    integer :: i
    call c_f_pointer(invec, a, (/ len /))
    call c_f_pointer(inoutvec, b, (/ len /))
#else
  subroutine concatenate(a, b, len, datatype)
    integer :: len, a(len), b(len)
    DATATYPE_T :: datatype
    integer :: i
#endif
    if (datatype /= MPI_INTEGER) stop 3
    do i = 1, len
      b(i) = a(i) * 10**digits_of(b(i)) + b(i)
    end do
  end subroutine

  integer function digits_of(n)
    integer, intent(in) :: n
    integer :: rest
    digits_of = 0
    rest = n
    do while (rest > 0)
      digits_of = digits_of + 1
      rest = rest / 10
    end do
  end function

#if BINDING == 3
  subroutine largest(invec, inoutvec, len, datatype)
    type(C_PTR), value :: invec, inoutvec
    integer :: len
    DATATYPE_T :: datatype
    real, pointer :: a(:), b(:)
    call c_f_pointer(invec, a, (/ len /))
    call c_f_pointer(inoutvec, b, (/ len /))
#else
  subroutine largest(a, b, len, datatype)
    integer :: len
    real :: a(len), b(len)
    DATATYPE_T :: datatype
#endif
    if (datatype /= MPI_REAL) stop 4
    b = max(a, b)
  end subroutine

  subroutine own_operators
    integer :: x(3), y(3), want, i, e
    real :: p(700), q(700)
    logical :: commutes
    OP_T :: concatenation, maximum, again
    call MPI_Op_create(concatenate, .false., concatenation, e)
    call MPI_Op_create(largest, .true., maximum, e)
    call MPI_Op_commutative(concatenation, commutes, e)
    CHECK(.not. commutes)
    call MPI_Op_commutative(maximum, commutes, e)
    CHECK(commutes)
    x = rank + 1
    call MPI_Allreduce(x, y, 3, MPI_INTEGER, concatenation, MPI_COMM_WORLD, e)
    want = 0
    do i = 1, ranks
      want = 10 * want + i
    end do
    CHECK(all(y == want))
    call MPI_Scan(x, y, 3, MPI_INTEGER, concatenation, MPI_COMM_WORLD, e)
    want = 0
    do i = 1, rank + 1
      want = 10 * want + i
    end do
    CHECK(all(y == want))
    p = rank
    call MPI_Allreduce(p, q, 700, MPI_REAL, maximum, MPI_COMM_WORLD, e)
    CHECK(all(q == ranks - 1))
    do i = 1, 300  ! the same function again and again takes no more places
      call MPI_Op_create(largest, .true., again, e)
      CHECK(e == MPI_SUCCESS)
      call MPI_Op_free(again, e)
    end do
    call MPI_Op_free(concatenation, e)
    call MPI_Op_free(maximum, e)
    CHECK(maximum == MPI_OP_NULL)
  end subroutine

  subroutine locally
    integer :: x(3), y(3), e
    OP_T :: op
    logical :: commutes
    x = (/ 1, 2, 3 /)
    y = (/ 6, 5, 4 /)
    call MPI_Reduce_local(x, y, 3, MPI_INTEGER, MPI_PROD, e)
    CHECK(all(y == (/ 6, 10, 12 /)))
    op = MPI_REPLACE
    call MPI_Op_commutative(op, commutes, e)
    CHECK(e == MPI_SUCCESS)
  end subroutine
end module

! Buffers that are not contiguous in collective communication: blocks for each process are cut out of a section wherever
! they begin and end. What is expected is written out with reshape.
module sections_coll
  use mpi_f08
  use checks, only: check, rank, ranks
  implicit none
  private
  public :: sections_coll_tests

  integer, parameter :: rows = 6, columns = 40
  integer, parameter :: unit = storage_size(0) / 8 ! bytes of an INTEGER
  integer, parameter :: each = 10 ! elements of a block: these end within a column of three
  integer, asynchronous :: a(rows, columns), b(rows, columns)
  integer :: want(rows, columns), root, i
  type(MPI_Request) :: r
contains
  subroutine sections_coll_tests
    do root = 0, ranks - 1
      call bcasts
      call gathers
      call scatters
      call gathers_of_several
      call scatters_of_several
    end do
    call allgathers
    call alltoalls
    call alltoalls_in_place
    call alltoalls_of_several
    call alltoalls_of_datatypes
    call derived
    call persistent
    call neighbors
    call rows_of_a_matrix
    call insignificant
  end subroutine

  ! n numbers from the first on, of a rank.
  function numbers(of, first, n)
    integer, intent(in) :: of, first, n
    integer :: numbers(n), i
    numbers = [(of * 1000 + i, i = first, first + n - 1)]
  end function

  ! The section of all tests: every other row, columns from the last to the first. Sets elements of b, or of want.
  subroutine start
    a = -1
    b = -1
    want = -1
  end subroutine

  subroutine place(x, first, values)
    integer, intent(inout) :: x(:, :)
    integer, intent(in) :: first, values(:)
    integer :: i, k
    do k = 1, size(values)
      i = first + k - 2
      x(2 + 2 * mod(i, 3), columns - i / 3) = values(k)
    end do
  end subroutine

  subroutine bcasts
    call start
    if (rank == root) call place(b, 1, numbers(root, 1, 50))
    call MPI_Bcast(b(2::2, columns:1:-1), 50, MPI_INTEGER, root, MPI_COMM_WORLD)
    call place(want, 1, numbers(root, 1, 50))
    call check(all(b == want), 'bcast')
    call start
    if (rank == root) call place(b, 1, numbers(root, 1, 50))
    call MPI_Ibcast(b(2::2, columns:1:-1), 50, MPI_INTEGER, root, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call place(want, 1, numbers(root, 1, 50))
    call check(all(b == want), 'ibcast')
  end subroutine

  subroutine gathers
    call start
    call place(a, 1, numbers(rank, 1, each))
    call MPI_Gather(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, root, MPI_COMM_WORLD)
    if (rank == root) call gathered
    call check(all(b == want), 'gather')
    b = -1
    call MPI_Igather(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, root, &
      MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'igather')
    b = -1
    if (rank == root) then
      call place(b, rank * each + 1, numbers(rank, 1, each))
      call MPI_Gather(MPI_IN_PLACE, each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, root, MPI_COMM_WORLD)
    else
      call MPI_Gather(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, root, MPI_COMM_WORLD)
    end if
    call check(all(b == want), 'gather in place')
  end subroutine

  subroutine gathered
    do i = 0, ranks - 1
      call place(want, i * each + 1, numbers(i, 1, each))
    end do
  end subroutine

  subroutine scatters
    integer :: flat(each)
    call start
    if (rank == root) then
      do i = 0, ranks - 1
        call place(a, i * each + 1, numbers(i, 1, each))
      end do
    end if
    call MPI_Scatter(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, root, MPI_COMM_WORLD)
    call place(want, 1, numbers(rank, 1, each))
    call check(all(b == want), 'scatter')
    call MPI_Iscatter(a(2::2, columns:1:-1), each, MPI_INTEGER, flat, each, MPI_INTEGER, root, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(flat == numbers(rank, 1, each)), 'iscatter to contiguous memory')
    b = -1
    if (rank == root) then
      call MPI_Scatter(a(2::2, columns:1:-1), each, MPI_INTEGER, MPI_IN_PLACE, each, MPI_INTEGER, root, MPI_COMM_WORLD)
    else
      call MPI_Scatter(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, root, MPI_COMM_WORLD)
      call check(all(b == want), 'scatter in place elsewhere')
    end if
  end subroutine

  subroutine gathers_of_several ! rank i has i + 1 elements, the blocks are in the order of ranks backwards
    integer :: counts(ranks), displs(ranks)
    call layout(counts, displs)
    call start
    call place(a, 1, numbers(rank, 1, rank + 1))
    call MPI_Gatherv(a(2::2, columns:1:-1), rank + 1, MPI_INTEGER, b(2::2, columns:1:-1), counts, displs, MPI_INTEGER, root, &
      MPI_COMM_WORLD)
    if (rank == root) call gathered_of_several(displs)
    call check(all(b == want), 'gatherv')
    b = -1
    call MPI_Igatherv(a(2::2, columns:1:-1), rank + 1, MPI_INTEGER, b(2::2, columns:1:-1), counts, displs, MPI_INTEGER, root, &
      MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'igatherv')
  end subroutine

  subroutine layout(counts, displs)
    integer, intent(out) :: counts(:), displs(:)
    integer :: k
    do k = 1, ranks
      counts(k) = k
      displs(k) = 7 * (ranks - k)
    end do
  end subroutine

  subroutine gathered_of_several(displs)
    integer, intent(in) :: displs(:)
    do i = 0, ranks - 1
      call place(want, displs(i + 1) + 1, numbers(i, 1, i + 1))
    end do
  end subroutine

  subroutine scatters_of_several
    integer :: counts(ranks), displs(ranks)
    call layout(counts, displs)
    call start
    if (rank == root) then
      do i = 0, ranks - 1
        call place(a, displs(i + 1) + 1, numbers(i, 1, i + 1))
      end do
    end if
    call MPI_Scatterv(a(2::2, columns:1:-1), counts, displs, MPI_INTEGER, b(2::2, columns:1:-1), rank + 1, MPI_INTEGER, root, &
      MPI_COMM_WORLD)
    call place(want, 1, numbers(rank, 1, rank + 1))
    call check(all(b == want), 'scatterv')
    b = -1
    call MPI_Iscatterv(a(2::2, columns:1:-1), counts, displs, MPI_INTEGER, b(2::2, columns:1:-1), rank + 1, MPI_INTEGER, root, &
      MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'iscatterv')
  end subroutine

  subroutine allgathers
    integer :: counts(ranks), displs(ranks)
    call start
    call place(a, 1, numbers(rank, 1, each))
    call MPI_Allgather(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, MPI_COMM_WORLD)
    call gathered
    call check(all(b == want), 'allgather')
    b = -1
    call place(b, rank * each + 1, numbers(rank, 1, each))
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b == want), 'allgather in place')
    b = -1
    call MPI_Iallgather(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'iallgather')
    call layout(counts, displs)
    call start
    call place(a, 1, numbers(rank, 1, rank + 1))
    call MPI_Allgatherv(a(2::2, columns:1:-1), rank + 1, MPI_INTEGER, b(2::2, columns:1:-1), counts, displs, MPI_INTEGER, &
      MPI_COMM_WORLD)
    call gathered_of_several(displs)
    call check(all(b == want), 'allgatherv')
    b = -1
    call MPI_Iallgatherv(a(2::2, columns:1:-1), rank + 1, MPI_INTEGER, b(2::2, columns:1:-1), counts, displs, MPI_INTEGER, &
      MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'iallgatherv')
  end subroutine

  subroutine alltoalls
    call start
    do i = 0, ranks - 1
      call place(a, i * each + 1, numbers(rank, 100 * i, each))
      call place(want, i * each + 1, numbers(i, 100 * rank, each))
    end do
    call MPI_Alltoall(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b == want), 'alltoall')
    b = -1
    call MPI_Ialltoall(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'ialltoall')
  end subroutine

  subroutine alltoalls_in_place
    call start
    do i = 0, ranks - 1
      call place(b, i * each + 1, numbers(rank, 100 * i, each))
      call place(want, i * each + 1, numbers(i, 100 * rank, each))
    end do
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(b == want), 'alltoall in place')
  end subroutine

  subroutine alltoalls_of_several
    integer :: counts(ranks), displs(ranks), theirs(ranks)
    call layout(counts, displs)
    theirs = rank + 1
    call start
    do i = 0, ranks - 1
      call place(a, displs(i + 1) + 1, numbers(rank, 100 * i, i + 1))
      call place(want, displs(i + 1) + 1, numbers(i, 100 * rank, rank + 1))
    end do
    call MPI_Alltoallv(a(2::2, columns:1:-1), counts, displs, MPI_INTEGER, b(2::2, columns:1:-1), theirs, displs, MPI_INTEGER, &
      MPI_COMM_WORLD)
    call check(all(b == want), 'alltoallv')
    b = -1
    call MPI_Ialltoallv(a(2::2, columns:1:-1), counts, displs, MPI_INTEGER, b(2::2, columns:1:-1), theirs, displs, MPI_INTEGER, &
      MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'ialltoallv')
  end subroutine

  subroutine alltoalls_of_datatypes ! a datatype for each; displacements in bytes of elements one after the other
    integer :: counts(ranks), displs(ranks), theirs(ranks), bytes(ranks)
    type(MPI_Datatype) :: types(ranks), single(ranks)
    call layout(counts, displs)
    bytes = unit * displs
    do i = 1, ranks
      call MPI_Type_contiguous(counts(i), MPI_INTEGER, types(i))
      call MPI_Type_commit(types(i))
    end do
    single = MPI_INTEGER
    counts = 1
    theirs = rank + 1
    call start
    do i = 0, ranks - 1
      call place(a, displs(i + 1) + 1, numbers(rank, 100 * i, i + 1))
      call place(want, displs(i + 1) + 1, numbers(i, 100 * rank, rank + 1))
    end do
    call MPI_Alltoallw(a(2::2, columns:1:-1), counts, bytes, types, b(2::2, columns:1:-1), theirs, bytes, single, MPI_COMM_WORLD)
    call check(all(b == want), 'alltoallw')
    b = -1
    call MPI_Ialltoallw(a(2::2, columns:1:-1), counts, bytes, types, b(2::2, columns:1:-1), theirs, bytes, single, &
      MPI_COMM_WORLD, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    call check(all(b == want), 'ialltoallw')
    do i = 1, ranks
      call MPI_Type_free(types(i))
    end do
  end subroutine

  subroutine derived ! blocks of a datatype with gaps: elements 1 and 3 of four
    type(MPI_Datatype) :: t, two
    integer :: got(2 * ranks)
    call MPI_Type_vector(2, 1, 2, MPI_INTEGER, two)
    call MPI_Type_create_resized(two, 0_MPI_ADDRESS_KIND, 4_MPI_ADDRESS_KIND * unit, t)
    call MPI_Type_commit(t)
    call start
    do i = 0, ranks - 1
      call place(a, 4 * i + 1, [rank, -1, i, -1])
      call place(want, 4 * i + 1, [i, -1, rank, -1])
    end do
    call MPI_Alltoall(a(2::2, columns:1:-1), 1, t, b(2::2, columns:1:-1), 1, t, MPI_COMM_WORLD)
    call check(all(b == want), 'alltoall of a derived datatype')
    call MPI_Alltoall(a(2::2, columns:1:-1), 1, t, got, 2, MPI_INTEGER, MPI_COMM_WORLD)
    call check(all(got == [((/i, rank/), i = 0, ranks - 1)]), 'alltoall from a derived datatype')
    call MPI_Type_free(t)
    call MPI_Type_free(two)
  end subroutine

  subroutine persistent
    call MPI_Allgather_init(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, &
      MPI_COMM_WORLD, MPI_INFO_NULL, r)
    do i = 1, 3
      call once(i)
    end do
    call MPI_Request_free(r)
  end subroutine

  subroutine once(round)
    integer, intent(in) :: round
    integer :: k
    call start
    call place(a, 1, numbers(rank, round, each))
    call MPI_Start(r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    do k = 0, ranks - 1
      call place(want, k * each + 1, numbers(k, round, each))
    end do
    call check(all(b == want), 'allgather_init')
  end subroutine

  subroutine neighbors ! a ring
    type(MPI_Comm) :: ring
    type(MPI_Datatype) :: types(2)
    integer(MPI_ADDRESS_KIND) :: second(2) = [0, each * unit]
    integer :: left, right
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    types = MPI_INTEGER
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
    call start
    call place(a, 1, numbers(rank, 1, each))
    call place(a, each + 1, numbers(rank, 100, each))
    call MPI_Neighbor_alltoall(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, ring)
    call place(want, 1, numbers(left, 100, each))
    call place(want, each + 1, numbers(right, 1, each))
    if (ranks > 2) call check(all(b == want), 'neighbor_alltoall')
    b = -1
    call MPI_Ineighbor_alltoallw(a(2::2, columns:1:-1), [each, each], second, types, &
      b(2::2, columns:1:-1), [each, each], second, types, ring, r)
    call MPI_Wait(r, MPI_STATUS_IGNORE)
    if (ranks > 2) call check(all(b == want), 'ineighbor_alltoallw')
    call start
    call place(a, 1, numbers(rank, 1, each))
    call MPI_Neighbor_allgather(a(2::2, columns:1:-1), each, MPI_INTEGER, b(2::2, columns:1:-1), each, MPI_INTEGER, ring)
    call place(want, 1, numbers(left, 1, each))
    call place(want, each + 1, numbers(right, 1, each))
    call check(all(b == want), 'neighbor_allgather')
    call MPI_Comm_free(ring)
  end subroutine

  subroutine rows_of_a_matrix ! long: a matrix is handed out in planes of a block, and put together again in another one
    integer, parameter :: n = 60
    double precision, asynchronous :: whole(n, n, 0:2 * ranks), part(n, n), again(n, n, 0:ranks)
    integer :: k
    whole = 0
    if (rank == 0) then
      do k = 1, ranks
        whole(:, :, 2 * k) = k
        whole(1, :, 2 * k) = whole(1, :, 2 * k) + 0.5d0
      end do
    end if
    call MPI_Scatter(whole(:, :, 2::2), n * n, MPI_DOUBLE_PRECISION, part, n * n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
    call check(all(part(1, :) == rank + 1.5d0) .and. all(part(2:, :) == rank + 1), 'scatter of planes')
    again = -1
    call MPI_Allgather(part(2:n - 1, 2:n - 1), (n - 2)**2, MPI_DOUBLE_PRECISION, again(2:n - 1, 2:n - 1, ranks:1:-1), &
      (n - 2)**2, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    do k = 1, ranks
      call check(all(again(2:n - 1, 2:n - 1, ranks + 1 - k) == k), 'allgather of interiors')
    end do
    call check(sum(merge(1, 0, again == -1)) == size(again) - ranks * (n - 2)**2, 'nothing around interiors')
  end subroutine

  subroutine insignificant ! arguments that say nothing at this rank
    integer :: flat(ranks)
    call start
    if (rank == 0) then
      call MPI_Gather(rank, 1, MPI_INTEGER, flat, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
      call check(all(flat == [(i, i = 0, ranks - 1)]), 'gather where others say nothing')
    else
      call MPI_Gather(rank, 1, MPI_INTEGER, b(::2, :), -1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD)
    end if
  end subroutine
end module

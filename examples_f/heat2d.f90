! heat2d.f90 - heat in a square plate with one hot edge, on a grid of ranks. Each rank has a block of the plate with a
! border of its neighbors' values. Columns of the border lie one behind the other in memory; rows do not: mpi_f08 takes
! both as they are, with no datatype made for them.
!
!   mpifort -O2 -o heat2d heat2d.f90; mpiexec -n 4 ./heat2d [side [steps]]
program heat2d
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  integer, parameter :: up = 1, down = 2, left = 3, right = 4
  integer :: side = 240, steps = 500
  integer :: dims(2) = 0, at(2), neighbor(4), ranks, rank, rows, columns, first(2), step
  real(real64), allocatable :: t(:, :), new(:, :)
  real(real64) :: heat
  type(MPI_Comm) :: grid
  type(MPI_Request) :: request(8)

  call MPI_Init()
  call arguments(side, steps)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., grid)
  call MPI_Comm_rank(grid, rank)
  call MPI_Cart_coords(grid, rank, 2, at)
  call MPI_Cart_shift(grid, 0, 1, neighbor(up), neighbor(down))
  call MPI_Cart_shift(grid, 1, 1, neighbor(left), neighbor(right))

  first = at * side / dims
  rows = (at(1) + 1) * side / dims(1) - first(1)
  columns = (at(2) + 1) * side / dims(2) - first(2)
  allocate (t(0:rows + 1, 0:columns + 1), new(0:rows + 1, 0:columns + 1))
  t = 0
  if (neighbor(up) == MPI_PROC_NULL) t(0, :) = 100
  new = t

  do step = 1, steps
    call MPI_Irecv(t(0, 1:columns), columns, MPI_REAL8, neighbor(up), down, grid, request(1))
    call MPI_Irecv(t(rows + 1, 1:columns), columns, MPI_REAL8, neighbor(down), up, grid, request(2))
    call MPI_Irecv(t(1:rows, 0), rows, MPI_REAL8, neighbor(left), right, grid, request(3))
    call MPI_Irecv(t(1:rows, columns + 1), rows, MPI_REAL8, neighbor(right), left, grid, request(4))
    call MPI_Isend(t(1, 1:columns), columns, MPI_REAL8, neighbor(up), up, grid, request(5))
    call MPI_Isend(t(rows, 1:columns), columns, MPI_REAL8, neighbor(down), down, grid, request(6))
    call MPI_Isend(t(1:rows, 1), rows, MPI_REAL8, neighbor(left), left, grid, request(7))
    call MPI_Isend(t(1:rows, columns), rows, MPI_REAL8, neighbor(right), right, grid, request(8))
    call relax(2, rows - 1, 2, columns - 1) ! what needs nothing of the neighbors
    call MPI_Waitall(8, request, MPI_STATUSES_IGNORE)
    call relax(1, 1, 1, columns)
    call relax(rows, rows, 1, columns)
    call relax(1, rows, 1, 1)
    call relax(1, rows, columns, columns)
    t(1:rows, 1:columns) = new(1:rows, 1:columns)
  end do

  heat = sum(t(1:rows, 1:columns))
  call MPI_Allreduce(MPI_IN_PLACE, heat, 1, MPI_REAL8, MPI_SUM, grid)
  if (rank == 0) print '(a, i0, a, i0, a, f12.4)', 'heat in the plate of ', side, ' x ', side, ': ', heat
  call MPI_Finalize()

contains

  subroutine relax(i1, i2, j1, j2)
    integer, intent(in) :: i1, i2, j1, j2
    integer :: i, j
    do j = j1, j2
      do i = i1, i2
        new(i, j) = (t(i - 1, j) + t(i + 1, j) + t(i, j - 1) + t(i, j + 1)) / 4
      end do
    end do
  end subroutine

  subroutine arguments(side, steps)
    integer, intent(inout) :: side, steps
    character(20) :: word
    if (command_argument_count() > 0) then
      call get_command_argument(1, word)
      read (word, *) side
    end if
    if (command_argument_count() > 1) then
      call get_command_argument(2, word)
      read (word, *) steps
    end if
  end subroutine
end program

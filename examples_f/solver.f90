! solver.f90 - solves a symmetric, positive definite system by conjugate gradients. The matrix is that of Poisson's
! equation on a square of side x side points, dealt out by rows of the square; nothing but the two rows beside a rank's
! own travels, and two sums in each step.
!
!   mpifort -O2 -o solver solver.f90; mpiexec -n 4 ./solver [side]
program solver
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  integer :: side = 200
  integer :: rank, ranks, above, below, mine, step
  real(real64), allocatable :: x(:, :), r(:, :), p(:, :), q(:, :)
  real(real64) :: rr, before, alpha, start
  character(20) :: word

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) side
  end if
  above = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  below = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  mine = (rank + 1) * side / ranks - rank * side / ranks

  allocate (x(side, mine), r(side, mine), q(side, mine), p(0:side + 1, 0:mine + 1))
  x = 0
  r = 1
  p = 0
  p(1:side, 1:mine) = r
  rr = dot(r, r)
  start = rr
  do step = 1, 10 * side
    call multiply
    alpha = rr / dot(p(1:side, 1:mine), q)
    x = x + alpha * p(1:side, 1:mine)
    r = r - alpha * q
    before = rr
    rr = dot(r, r)
    if (rr <= 1e-20_real64 * start) exit
    p(1:side, 1:mine) = r + rr / before * p(1:side, 1:mine)
  end do
  before = dot(x, x)
  if (rank == 0) print '(a, i0, a, i0, a, es12.6)', 'solved ', side**2, ' equations in ', step, ' steps: |x| = ', sqrt(before)
  call MPI_Finalize()

contains

  ! q = A p, after the rows of the neighbors have come.
  subroutine multiply
    type(MPI_Request) :: request(4)
    call MPI_Irecv(p(1:side, 0), side, MPI_REAL8, above, 1, MPI_COMM_WORLD, request(1))
    call MPI_Irecv(p(1:side, mine + 1), side, MPI_REAL8, below, 2, MPI_COMM_WORLD, request(2))
    call MPI_Isend(p(1:side, mine), side, MPI_REAL8, below, 1, MPI_COMM_WORLD, request(3))
    call MPI_Isend(p(1:side, 1), side, MPI_REAL8, above, 2, MPI_COMM_WORLD, request(4))
    call MPI_Waitall(4, request, MPI_STATUSES_IGNORE)
    q = 4 * p(1:side, 1:mine) - p(0:side - 1, 1:mine) - p(2:side + 1, 1:mine) - p(1:side, 0:mine - 1) - &
        p(1:side, 2:mine + 1)
  end subroutine

  real(real64) function dot(a, b)
    real(real64), intent(in) :: a(:, :), b(:, :)
    dot = sum(a * b)
    call MPI_Allreduce(MPI_IN_PLACE, dot, 1, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD)
  end function
end program

! pi.f90 - the area under 4 / (1 + x^2) by the midpoint rule, intervals dealt out to the ranks.
!
!   mpifort -O2 -o pi pi.f90; mpiexec -n 4 ./pi [intervals]
program pi
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  implicit none
  integer :: rank, ranks, error
  integer(int64) :: i, intervals
  real(real64) :: width, x, part, area
  character(20) :: argument

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  intervals = 10000000
  if (rank == 0 .and. command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *, iostat=error) intervals
    if (error /= 0) intervals = 0
  end if
  call MPI_Bcast(intervals, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD)
  if (intervals < 1) then
    if (rank == 0) print '(a)', 'usage: pi [intervals]'
    call MPI_Finalize()
    stop 2
  end if

  width = 1 / real(intervals, real64)
  part = 0
  do i = rank, intervals - 1, ranks
    x = (i + 0.5_real64) * width
    part = part + 4 / (1 + x * x)
  end do
  part = part * width
  call MPI_Reduce(part, area, 1, MPI_REAL8, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a, f14.12, a, es7.1)', 'pi is about ', area, ', off by ', abs(area - acos(-1.0_real64))
  call MPI_Finalize()
end program

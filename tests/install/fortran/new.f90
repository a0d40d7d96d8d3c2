! Module mpi_f08: the ranks, the sum of their numbers as INTEGERs, REALs and DOUBLE PRECISIONs.
program new
  use mpi_f08
  implicit none
  integer :: rank, ranks, total
  real :: half, halves
  double precision :: third, thirds
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  half = rank * 0.5
  call MPI_Allreduce(half, halves, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
  third = rank / 3d0
  call MPI_Allreduce(third, thirds, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  ! flang has no functions of REALs of 16 bytes, which DOUBLE PRECISION is with some options.
  if (nint(2 * halves) /= total .or. 3 * thirds - total > 0.1 .or. total - 3 * thirds > 0.1) &
    call MPI_Abort(MPI_COMM_WORLD, 1)
  if (rank == 0) write (*, '(I0, A, I0)') ranks, ' ranks, sum ', total
  call MPI_Finalize()
end program

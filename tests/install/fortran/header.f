C     Fixed form, and mpif.h: the ranks, the sum of their numbers as INTEGERs and as REALs.
      program header
      implicit none
      include 'mpif.h'
      integer ierror, rank, ranks, total
      real half, halves
      call MPI_Init(ierror)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
      call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
      call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, ierror)
      half = rank * 0.5
      call MPI_Allreduce(half, halves, 1, MPI_REAL, MPI_SUM,
     &                   MPI_COMM_WORLD, ierror)
      if (nint(2 * halves) .ne. total)
     &  call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
      if (rank .eq. 0) write (*, '(I0, A, I0)') ranks, ' ranks, sum ',
     &  total
      call MPI_Finalize(ierror)
      end

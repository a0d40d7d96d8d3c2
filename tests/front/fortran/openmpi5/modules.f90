! The modules of Open MPI 5 for failures that a job survives, for the compilers of versions that have them without. The
! names of what they describe are those that its libraries export.
module mpi_ext
  implicit none
  include 'mpif-ext.h'
  interface
    subroutine MPIX_Comm_revoke(comm, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
    subroutine MPIX_Comm_is_revoked(comm, flag, ierror)
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine
    subroutine PMPIX_Comm_is_revoked(comm, flag, ierror)
      integer, intent(in) :: comm
      logical, intent(out) :: flag
      integer, intent(out) :: ierror
    end subroutine
    subroutine MPIX_Comm_shrink(comm, newcomm, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm, ierror
    end subroutine
    subroutine MPIX_Comm_ishrink(comm, newcomm, request, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: newcomm, request, ierror
    end subroutine
    subroutine MPIX_Comm_get_failed(comm, failedgrp, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp, ierror
    end subroutine
    subroutine MPIX_Comm_ack_failed(comm, num_to_ack, num_acked, ierror)
      integer, intent(in) :: comm, num_to_ack
      integer, intent(out) :: num_acked, ierror
    end subroutine
    subroutine MPIX_Comm_failure_ack(comm, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: ierror
    end subroutine
    subroutine MPIX_Comm_failure_get_acked(comm, failedgrp, ierror)
      integer, intent(in) :: comm
      integer, intent(out) :: failedgrp, ierror
    end subroutine
    subroutine PMPIX_Comm_agree(comm, flag, ierror)
      integer, intent(in) :: comm
      integer, intent(inout) :: flag
      integer, intent(out) :: ierror
    end subroutine
  end interface
end module

module mpi_f08_ext
  use mpi_f08, only: MPI_Comm, MPI_Group, MPI_Request
  implicit none
  private :: MPI_Comm, MPI_Group, MPI_Request
  include 'mpif-ext.h'
  interface MPIX_Comm_revoke
    subroutine MPIX_Comm_revoke_f08(comm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_is_revoked
    subroutine MPIX_Comm_is_revoked_f08(comm, flag, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_is_revoked
    subroutine PMPIX_Comm_is_revoked_f08(comm, flag, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      logical, intent(out) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_shrink
    subroutine MPIX_Comm_shrink_f08(comm, newcomm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out) :: newcomm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface PMPIX_Comm_ishrink
    subroutine PMPIX_Comm_ishrink_f08(comm, newcomm, request, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Comm), intent(out) :: newcomm
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_get_failed
    subroutine MPIX_Comm_get_failed_f08(comm, failedgrp, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_ack_failed
    subroutine MPIX_Comm_ack_failed_f08(comm, num_to_ack, num_acked, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(in) :: num_to_ack
      integer, intent(out) :: num_acked
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_failure_ack
    subroutine MPIX_Comm_failure_ack_f08(comm, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_failure_get_acked
    subroutine MPIX_Comm_failure_get_acked_f08(comm, failedgrp, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Group), intent(out) :: failedgrp
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_agree
    subroutine MPIX_Comm_agree_f08(comm, flag, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout) :: flag
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
  interface MPIX_Comm_iagree
    subroutine MPIX_Comm_iagree_f08(comm, flag, request, ierror)
      import
      type(MPI_Comm), intent(in) :: comm
      integer, intent(inout), asynchronous :: flag
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine
  end interface
end module

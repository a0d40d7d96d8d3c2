! Point-to-point communication: sends of all modes, statuses, probes, completion, persistent and partitioned requests.
#include "binding.h"
module pt2pt
  USE_MPI
  use, intrinsic :: iso_c_binding, only: C_PTR, c_associated, c_loc
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: pt2pt_tests
contains
  subroutine pt2pt_tests
    call modes
    call statuses
    call null_processes
    call probes
    call matched_probes
    call any_of_several
    call some_of_several
    call all_of_several
    call asking
    call persistent
    call partitioned
    call exchanges
    call buffers
    call cancelled
    call made_statuses
  end subroutine

  subroutine modes
    integer :: x(4), y(4), mode, e
    REQUEST_T :: r
    do mode = 1, 3
      x = 10 * mode + rank
      y = -1
      call MPI_Irecv(y, 4, MPI_INTEGER, left(), mode, MPI_COMM_WORLD, r, e)
      call MPI_Barrier(MPI_COMM_WORLD, e)
      if (mode == 1) call MPI_Send(x, 4, MPI_INTEGER, right(), mode, MPI_COMM_WORLD, e)
      if (mode == 2) call MPI_Ssend(x, 4, MPI_INTEGER, right(), mode, MPI_COMM_WORLD, e)
      if (mode == 3) call MPI_Rsend(x, 4, MPI_INTEGER, right(), mode, MPI_COMM_WORLD, e)
      CHECK(e == MPI_SUCCESS)
      call MPI_Wait(r, MPI_STATUS_IGNORE, e)
      CHECK(all(y == 10 * mode + left()))
      CHECK(r == MPI_REQUEST_NULL)
    end do
    do mode = 1, 3
      x = 10 * mode + rank
      y = -1
      call MPI_Irecv(y, 4, MPI_INTEGER, left(), mode, MPI_COMM_WORLD, r, e)
      call sent(x, mode)
      call MPI_Wait(r, MPI_STATUS_IGNORE, e)
      CHECK(all(y == 10 * mode + left()))
    end do
  end subroutine

  subroutine sent(x, mode)
    integer, intent(in) :: mode, x(4)
    REQUEST_T :: r
    logical :: done
    integer :: e
    if (mode == 1) call MPI_Isend(x, 4, MPI_INTEGER, right(), mode, MPI_COMM_WORLD, r, e)
    if (mode == 2) call MPI_Issend(x, 4, MPI_INTEGER, right(), mode, MPI_COMM_WORLD, r, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    if (mode == 3) call MPI_Irsend(x, 4, MPI_INTEGER, right(), mode, MPI_COMM_WORLD, r, e)
    done = .false.
    do while (.not. done)
      call MPI_Test(r, done, MPI_STATUS_IGNORE, e)
    end do
  end subroutine

  subroutine statuses
    real :: x(5), y(9)
    integer :: n, e
    integer(MPI_COUNT_KIND) :: big
    logical :: flag
    REQUEST_T :: r
    STATUS(st)
    x = (/ 1., 2., 3., 4., 5. /)
    call MPI_Isend(x, 5, MPI_REAL, right(), 77, MPI_COMM_WORLD, r, e)
    call MPI_Recv(y, 9, MPI_REAL, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st, e)
    CHECK(all(y(1:5) == x) .and. SOURCE_OF(st) == left() .and. TAG_OF(st) == 77)
    call MPI_Get_count(st, MPI_REAL, n, e)
    CHECK(n == 5)
    call MPI_Get_count(st, MPI_2REAL, n, e)
    CHECK(n == MPI_UNDEFINED)
    call MPI_Get_elements(st, MPI_2REAL, n, e)
    CHECK(n == 5 .or. .not. ours)
    call MPI_Get_elements_x(st, MPI_REAL, big, e)
    CHECK(big == 5)
    call MPI_Test_cancelled(st, flag, e)
    CHECK(.not. flag)
    call MPI_Wait(r, st, e)
    call MPI_Wait(r, st, e)  ! of a null request: an empty status
    CHECK(SOURCE_OF(st) == MPI_ANY_SOURCE .and. TAG_OF(st) == MPI_ANY_TAG)
    call MPI_Get_count(st, MPI_REAL, n, e)
    CHECK(n == 0)
  end subroutine

  subroutine null_processes
    integer :: x, n, e
    STATUS(st)
    x = 5
    call MPI_Send(x, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, e)
    call MPI_Recv(x, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, st, e)
    call MPI_Get_count(st, MPI_INTEGER, n, e)
    CHECK(x == 5 .and. n == 0 .and. SOURCE_OF(st) == MPI_PROC_NULL .and. TAG_OF(st) == MPI_ANY_TAG)
  end subroutine

  subroutine probes
    integer :: x(3), y(3), n, e
    logical :: there
    REQUEST_T :: r
    STATUS(st)
    call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, there, st, e)
    CHECK(.not. there)
    x = rank
    call MPI_Isend(x, 3, MPI_INTEGER, right(), 8, MPI_COMM_WORLD, r, e)
    call MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, st, e)
    call MPI_Get_count(st, MPI_INTEGER, n, e)
    CHECK(n == 3 .and. SOURCE_OF(st) == left())
    call MPI_Iprobe(left(), 8, MPI_COMM_WORLD, there, MPI_STATUS_IGNORE, e)
    CHECK(there)
    call MPI_Recv(y, 3, MPI_INTEGER, SOURCE_OF(st), 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    CHECK(all(y == left()))
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
  end subroutine

  subroutine matched_probes
    integer :: x, y, n, e
    logical :: there
    MESSAGE_T :: m
    REQUEST_T :: r, s
    STATUS(st)
    x = 100 + rank
    call MPI_Isend(x, 1, MPI_INTEGER, right(), 9, MPI_COMM_WORLD, r, e)
    call MPI_Mprobe(left(), 9, MPI_COMM_WORLD, m, st, e)
    CHECK(m /= MPI_MESSAGE_NULL .and. m /= MPI_MESSAGE_NO_PROC .and. TAG_OF(st) == 9)
    call MPI_Mrecv(y, 1, MPI_INTEGER, m, st, e)
    CHECK(y == 100 + left() .and. m == MPI_MESSAGE_NULL .and. SOURCE_OF(st) == left())
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)

    call MPI_Isend(x, 1, MPI_INTEGER, right(), 10, MPI_COMM_WORLD, r, e)
    there = .false.
    do while (.not. there)
      call MPI_Improbe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, there, m, st, e)
    end do
    y = 0
    call MPI_Imrecv(y, 1, MPI_INTEGER, m, s, e)
    CHECK(m == MPI_MESSAGE_NULL)
    call MPI_Wait(s, st, e)
    call MPI_Get_count(st, MPI_INTEGER, n, e)
    CHECK(y == 100 + left() .and. n == 1)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)

    call MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, m, MPI_STATUS_IGNORE, e)
    CHECK(m == MPI_MESSAGE_NO_PROC)
    call MPI_Mrecv(y, 1, MPI_INTEGER, m, MPI_STATUS_IGNORE, e)
    CHECK(m == MPI_MESSAGE_NULL)
  end subroutine

  ! Three messages to the neighbor with tags 1, 2 and 3, and receives for them in r(1) to r(3). r(4) is null.
  subroutine three(y, r, s)
    integer, intent(inout) :: y(3)
    REQUEST_T, intent(out) :: r(4), s(3)
    integer, save :: x(3)
    integer :: i, e
    do i = 1, 3
      x(i) = 10 * i + rank
      call MPI_Irecv(y(i), 1, MPI_INTEGER, left(), i, MPI_COMM_WORLD, r(i), e)
      call MPI_Isend(x(i), 1, MPI_INTEGER, right(), i, MPI_COMM_WORLD, s(i), e)
    end do
    r(4) = MPI_REQUEST_NULL
  end subroutine

  subroutine any_of_several
    integer ASYNC, save :: y(3)
    integer :: i, at, e
    logical :: done, seen(3)
    REQUEST_T :: r(4), s(3)
    STATUS(st)
    call three(y, r, s)
    seen = .false.
    do i = 1, 3
      if (i < 3) then
        call MPI_Waitany(4, r, at, st, e)
      else
        done = .false.
        do while (.not. done)
          call MPI_Testany(4, r, at, done, st, e)
        end do
      end if
      CHECK(at >= 1 .and. at <= 3)
      CHECK(.not. seen(at) .and. TAG_OF(st) == at .and. y(at) == 10 * at + left())
      CHECK(r(at) == MPI_REQUEST_NULL)
      seen(at) = .true.
    end do
    call MPI_Waitany(4, r, at, st, e)
    CHECK(at == MPI_UNDEFINED)
    call MPI_Testany(4, r, at, done, MPI_STATUS_IGNORE, e)
    CHECK(done .and. at == MPI_UNDEFINED)
    call MPI_Waitall(3, s, MPI_STATUSES_IGNORE, e)
  end subroutine

  subroutine some_of_several
    integer ASYNC, save :: y(3)
    integer :: indices(4), i, n, all, e
    REQUEST_T :: r(4), s(3)
    STATUSES(sts, 4)
    call three(y, r, s)
    all = 0
    do while (all < 3)
      indices = -1
      if (all == 0) then
        call MPI_Waitsome(4, r, n, indices, sts, e)
        CHECK(n >= 1)
      else
        call MPI_Testsome(4, r, n, indices, sts, e)
      end if
      do i = 1, n
        CHECK(indices(i) >= 1 .and. indices(i) <= 3)
        CHECK(TAG_AT(sts, i) == indices(i) .and. y(indices(i)) == 10 * indices(i) + left())
      end do
      all = all + n
    end do
    call MPI_Waitsome(4, r, n, indices, MPI_STATUSES_IGNORE, e)
    CHECK(n == MPI_UNDEFINED)
    call MPI_Waitall(3, s, MPI_STATUSES_IGNORE, e)
  end subroutine

  subroutine all_of_several
    integer ASYNC, save :: y(3)
    integer :: i, e
    logical :: done
    REQUEST_T :: r(4), s(3)
    STATUSES(sts, 4)
    call three(y, r, s)
    call MPI_Waitall(4, r, sts, e)
    do i = 1, 3
      CHECK(SOURCE_AT(sts, i) == left() .and. TAG_AT(sts, i) == i .and. y(i) == 10 * i + left())
      CHECK(r(i) == MPI_REQUEST_NULL)
    end do
    CHECK(TAG_AT(sts, 4) == MPI_ANY_TAG)
    done = .false.
    do while (.not. done)
      call MPI_Testall(3, s, done, MPI_STATUSES_IGNORE, e)
    end do
    CHECK(s(1) == MPI_REQUEST_NULL .and. s(3) == MPI_REQUEST_NULL)
  end subroutine

  subroutine asking
    integer ASYNC, save :: y(3)
    integer :: at, e
    logical :: done
    REQUEST_T :: r(4), s(3)
    STATUS(st)
    call three(y, r, s)
    call MPI_Request_get_status(r(4), done, st, e)
    CHECK(done .and. TAG_OF(st) == MPI_ANY_TAG)
    done = .false.
    do while (.not. done)
      call MPI_Request_get_status(r(2), done, st, e)
    end do
    CHECK(r(2) /= MPI_REQUEST_NULL .and. TAG_OF(st) == 2)
    if (ours) then  ! of MPI 4.1
      call MPI_Request_get_status_any(1, r(2:2), at, done, st, e)
      CHECK(done .and. at == 1 .and. TAG_OF(st) == 2)
    end if
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, e)
    call MPI_Waitall(3, s, MPI_STATUSES_IGNORE, e)
  end subroutine

  subroutine persistent
    integer ASYNC :: x(2), y(2)
    integer :: i, e
    REQUEST_T :: r(2)
    call MPI_Send_init(x, 2, MPI_INTEGER, right(), 4, MPI_COMM_WORLD, r(1), e)
    call MPI_Recv_init(y, 2, MPI_INTEGER, left(), 4, MPI_COMM_WORLD, r(2), e)
    do i = 1, 3
      x = 1000 * i + rank
      if (i == 1) then
        call MPI_Start(r(1), e)
        call MPI_Start(r(2), e)
      else
        call MPI_Startall(2, r, e)
      end if
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
      CHECK(all(y == 1000 * i + left()))
      CHECK(r(1) /= MPI_REQUEST_NULL .and. r(2) /= MPI_REQUEST_NULL)
    end do
    call MPI_Request_free(r(1), e)
    call MPI_Request_free(r(2), e)
    CHECK(r(1) == MPI_REQUEST_NULL .and. r(2) == MPI_REQUEST_NULL)
  end subroutine

  subroutine partitioned
    integer ASYNC :: x(6), y(6)
    integer(MPI_COUNT_KIND) :: each
    integer :: i, e
    logical :: there
    REQUEST_T :: r(2)
    each = 2
    call MPI_Psend_init(x, 3, each, MPI_INTEGER, right(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, r(1), e)
    call MPI_Precv_init(y, 3, each, MPI_INTEGER, left(), 5, MPI_COMM_WORLD, MPI_INFO_NULL, r(2), e)
    do i = 1, 2
      x = 100 * i + rank
      call MPI_Startall(2, r, e)
      if (i == 1) then
        call MPI_Pready(1, r(1), e)
        call MPI_Pready_list(2, (/ 2, 0 /), r(1), e)
      else
        call MPI_Pready_range(0, 2, r(1), e)
      end if
      there = .false.
      do while (.not. there)
        call MPI_Parrived(r(2), 1, there, e)
      end do
      CHECK(all(y(3:4) == 100 * i + left()))
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, e)
      CHECK(all(y == 100 * i + left()))
    end do
    call MPI_Request_free(r(1), e)
    call MPI_Request_free(r(2), e)
  end subroutine

  subroutine exchanges
    double precision :: x(2), y(2)
    integer :: e
    REQUEST_T :: r
    STATUS(st)
    x = rank
    call MPI_Sendrecv(x, 2, MPI_DOUBLE_PRECISION, right(), 6, y, 2, MPI_DOUBLE_PRECISION, left(), 6, MPI_COMM_WORLD, st, e)
    CHECK(all(y == left()) .and. SOURCE_OF(st) == left())
    call MPI_Sendrecv_replace(x, 2, MPI_DOUBLE_PRECISION, right(), 7, left(), 7, MPI_COMM_WORLD, st, e)
    CHECK(all(x == left()) .and. TAG_OF(st) == 7)
    y = 0
    call MPI_Isendrecv(x, 2, MPI_DOUBLE_PRECISION, left(), 8, y, 2, MPI_DOUBLE_PRECISION, right(), 8, MPI_COMM_WORLD, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    CHECK(all(y == rank))
    call MPI_Isendrecv_replace(y, 2, MPI_DOUBLE_PRECISION, right(), 8, left(), 8, MPI_COMM_WORLD, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    CHECK(all(y == left()))
  end subroutine

  subroutine buffers
    character ASYNC, save, target :: room(4096)
    integer :: x, y, n, e
#if BINDING == 3
    type(C_PTR) :: at
#else
    character :: at
#endif
    REQUEST_T :: r
    n = 1
    call MPI_Pack_size(1, MPI_INTEGER, MPI_COMM_WORLD, n, e)
    CHECK(n + MPI_BSEND_OVERHEAD <= 2048)
    call MPI_Buffer_attach(room, 4096, e)
    x = rank
    call MPI_Bsend(x, 1, MPI_INTEGER, right(), 11, MPI_COMM_WORLD, e)
    call MPI_Ibsend(x, 1, MPI_INTEGER, right(), 12, MPI_COMM_WORLD, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    x = -1
    call MPI_Recv(y, 1, MPI_INTEGER, left(), 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    CHECK(y == left())
    call MPI_Recv(y, 1, MPI_INTEGER, left(), 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE, e)
    CHECK(y == left())
    call MPI_Buffer_detach(at, n, e)
    CHECK(n == 4096)
#if BINDING == 3
    CHECK(c_associated(at, c_loc(room)))
#endif
    if (.not. ours) return  ! what follows is of MPI 4.1
    call MPI_Comm_attach_buffer(MPI_COMM_SELF, MPI_BUFFER_AUTOMATIC, 0, e)
    CHECK(e == MPI_SUCCESS)
    call MPI_Bsend(rank, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, e)
    call MPI_Recv(y, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
    CHECK(y == rank)
    call MPI_Comm_flush_buffer(MPI_COMM_SELF, e)
    call MPI_Comm_detach_buffer(MPI_COMM_SELF, at, n, e)
    CHECK(n == 0)
  end subroutine

  subroutine cancelled
    integer :: x, e
    logical :: flag
    REQUEST_T :: r
    STATUS(st)
    call MPI_Irecv(x, 1, MPI_INTEGER, MPI_ANY_SOURCE, 4711, MPI_COMM_WORLD, r, e)
    call MPI_Cancel(r, e)
    call MPI_Wait(r, st, e)
    call MPI_Test_cancelled(st, flag, e)
    CHECK(flag .and. r == MPI_REQUEST_NULL)
  end subroutine

  subroutine made_statuses
    integer :: n, e
    logical :: flag
    integer(MPI_COUNT_KIND) :: many
    STATUS(st)
    many = 24
    call MPI_Status_set_elements(st, MPI_BYTE, 12, e)
    call MPI_Get_elements(st, MPI_BYTE, n, e)
    CHECK(n == 12)
    call MPI_Status_set_elements_x(st, MPI_BYTE, many, e)
    call MPI_Get_count(st, MPI_DOUBLE_PRECISION, n, e)
    CHECK(n == 3)
    call MPI_Status_set_cancelled(st, .true., e)
    call MPI_Test_cancelled(st, flag, e)
    CHECK(flag)
    call MPI_Status_set_cancelled(st, .false., e)
    call MPI_Test_cancelled(st, flag, e)
    CHECK(.not. flag)
    if (.not. ours) return  ! what follows is of MPI 4.1
    call MPI_Status_set_source(st, 3, e)
    call MPI_Status_set_tag(st, 4, e)
    call MPI_Status_set_error(st, MPI_ERR_TAG, e)
    CHECK(SOURCE_OF(st) == 3 .and. TAG_OF(st) == 4 .and. ERROR_OF(st) == MPI_ERR_TAG)
    call MPI_Status_get_source(st, n, e)
    CHECK(n == 3)
    call MPI_Status_get_tag(st, n, e)
    CHECK(n == 4)
    call MPI_Status_get_error(st, n, e)
    CHECK(n == MPI_ERR_TAG)
  end subroutine
end module

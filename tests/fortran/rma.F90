! One-sided communication: windows of all kinds, their memory as TYPE(C_PTR) and as an address, and synchronization.
#include "binding.h"
module rma
  USE_MPI
  use, intrinsic :: iso_c_binding, only: C_PTR, C_NULL_PTR, c_f_pointer
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: rma_tests

  integer, save :: deletions = 0
contains
  subroutine rma_tests
    call fences
    call locks
    call atomics
    call groups_of_processes
    call allocated
    call shared
    call dynamic
    call requests
    call attributes
    call memory
  end subroutine

  integer(MPI_ADDRESS_KIND) function bytes(n)
    integer, intent(in) :: n
    bytes = n * (storage_size(n) / 8)
  end function

  ! A window of n integers.
  subroutine create(room, n, w)
    integer ASYNC :: room(*)
    integer, intent(in) :: n
    WIN_T, intent(out) :: w
    integer :: e
    call MPI_Win_create(room, bytes(n), storage_size(n) / 8, MPI_INFO_NULL, MPI_COMM_WORLD, w, e)
  end subroutine

  subroutine fences
    integer ASYNC, target, save :: room(3)
    integer :: x(2), e
    integer(MPI_ADDRESS_KIND) :: at
    WIN_T :: w
    room = -1
    call create(room, 3, w)
    x = (/ 10 + rank, 20 + rank /)
    at = 1
    call MPI_Win_fence(0, w, e)
    call MPI_Put(x, 2, MPI_INTEGER, right(), at, 2, MPI_INTEGER, w, e)
    call MPI_Win_fence(0, w, e)
    CHECK(room(1) == -1 .and. room(2) == 10 + left() .and. room(3) == 20 + left())
    x = 0
    call MPI_Get(x, 2, MPI_INTEGER, right(), at, 2, MPI_INTEGER, w, e)
    call MPI_Win_fence(0, w, e)
    CHECK(x(1) == 10 + rank .and. x(2) == 20 + rank)
    at = 0
    room = 0
    x = 1
    call MPI_Win_fence(0, w, e)
    call MPI_Accumulate(x, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, w, e)
    call MPI_Win_fence(MPI_MODE_NOSUCCEED, w, e)
    CHECK(room(1) == ranks .or. rank > 0)
    call MPI_Win_free(w, e)
    CHECK(w == MPI_WIN_NULL)
  end subroutine

  subroutine locks
    integer ASYNC, target, save :: room(1)
    integer :: x, e
    integer(MPI_ADDRESS_KIND) :: at
    WIN_T :: w
    room = 5
    call create(room, 1, w)
    at = 0
    x = 0
    call MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, w, e)
    call MPI_Get(x, 1, MPI_INTEGER, right(), at, 1, MPI_INTEGER, w, e)
    call MPI_Win_flush_local(right(), w, e)
    CHECK(x == 5)
    call MPI_Win_unlock(right(), w, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_Win_lock_all(0, w, e)
    x = 1
    call MPI_Accumulate(x, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, w, e)
    call MPI_Win_flush_all(w, e)
    call MPI_Win_unlock_all(w, e)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w, e)
    CHECK(room(1) == 5 + ranks .or. rank > 0)
    call MPI_Win_unlock(rank, w, e)
    call MPI_Win_free(w, e)
  end subroutine

  subroutine atomics
    integer ASYNC, target, save :: room(2)
    integer :: x, y, old, e
    integer(MPI_ADDRESS_KIND) :: at
    WIN_T :: w
    room = (/ 0, -1 /)
    call create(room, 2, w)
    call MPI_Win_lock_all(0, w, e)
    at = 0
    x = 1
    call MPI_Fetch_and_op(x, old, MPI_INTEGER, 0, at, MPI_SUM, w, e)
    call MPI_Win_flush(0, w, e)
    CHECK(old >= 0 .and. old < 2 * ranks)
    call MPI_Get_accumulate(x, 1, MPI_INTEGER, old, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, w, e)
    call MPI_Win_flush(0, w, e)
    CHECK(old >= 1 .and. old < 2 * ranks)
    at = 1
    x = rank
    y = -1
    call MPI_Compare_and_swap(x, y, old, MPI_INTEGER, 0, at, w, e)
    call MPI_Win_flush(0, w, e)
    CHECK(old >= -1 .and. old < ranks)
    call MPI_Win_unlock_all(w, e)
    call MPI_Win_fence(0, w, e)
    if (rank == 0) then
      CHECK(room(1) == 2 * ranks .and. room(2) >= 0 .and. room(2) < ranks)
    end if
    call MPI_Win_free(w, e)
  end subroutine

  ! Everyone exposes to the left neighbor, and writes to the right one.
  subroutine groups_of_processes
    integer ASYNC, target, save :: room(1)
    integer :: x, e
    integer(MPI_ADDRESS_KIND) :: at
    logical :: done
    WIN_T :: w
    GROUP_T :: world, before, after
    room = -1
    call create(room, 1, w)
    call MPI_Win_get_group(w, world, e)
    call MPI_Group_incl(world, 1, (/ left() /), before, e)
    call MPI_Group_incl(world, 1, (/ right() /), after, e)
    call MPI_Win_post(before, 0, w, e)
    call MPI_Win_start(after, 0, w, e)
    at = 0
    x = rank
    call MPI_Put(x, 1, MPI_INTEGER, right(), at, 1, MPI_INTEGER, w, e)
    call MPI_Win_complete(w, e)
    done = .false.
    do while (.not. done)
      call MPI_Win_test(w, done, e)
    end do
    CHECK(room(1) == left())
    call MPI_Win_post(before, 0, w, e)
    call MPI_Win_start(after, 0, w, e)
    call MPI_Win_complete(w, e)
    call MPI_Win_wait(w, e)
    call MPI_Group_free(world, e)
    call MPI_Group_free(before, e)
    call MPI_Group_free(after, e)
    call MPI_Win_free(w, e)
  end subroutine

  ! The address comes as a TYPE(C_PTR), or as an integer where there is no such interface.
  subroutine allocated
    WIN_T :: w
    integer :: x, e
    integer(MPI_ADDRESS_KIND) :: at, base, size
    logical :: flag
#if BINDING == 1
    integer(MPI_ADDRESS_KIND) :: p
#else
    type(C_PTR) :: p
    integer, pointer :: a(:)
#endif
    call MPI_Win_allocate(bytes(4), storage_size(x) / 8, MPI_INFO_NULL, MPI_COMM_WORLD, p, w, e)
    call MPI_Win_get_attr(w, MPI_WIN_BASE, base, flag, e)
#if BINDING == 1
    CHECK(flag .and. p == base)
#else
    CHECK(flag .and. transfer(p, base) == base)
    call c_f_pointer(p, a, (/ 4 /))
    a = 0
#endif
    call MPI_Win_get_attr(w, MPI_WIN_SIZE, size, flag, e)
    CHECK(flag .and. size == bytes(4))
    at = 3
    x = rank
    call MPI_Win_fence(0, w, e)
    call MPI_Put(x, 1, MPI_INTEGER, right(), at, 1, MPI_INTEGER, w, e)
    call MPI_Win_fence(0, w, e)
#if BINDING != 1
    CHECK(a(4) == left() .and. a(1) == 0)
#endif
    x = -1
    call MPI_Get(x, 1, MPI_INTEGER, rank, at, 1, MPI_INTEGER, w, e)
    call MPI_Win_fence(0, w, e)
    CHECK(x == left())
    call MPI_Win_free(w, e)
  end subroutine

  subroutine shared
    COMM_T :: near
    WIN_T :: w
    integer :: me, n, unit, e
    integer(MPI_ADDRESS_KIND) :: size
#if BINDING == 1
    integer(MPI_ADDRESS_KIND) :: p, q
#else
    type(C_PTR) :: p, q
    integer, pointer :: mine(:), next(:)
#endif
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, near, e)
    call MPI_Comm_rank(near, me, e)
    call MPI_Comm_size(near, n, e)
    call MPI_Win_allocate_shared(bytes(2), storage_size(me) / 8, MPI_INFO_NULL, near, p, w, e)
    call MPI_Win_shared_query(w, mod(me + 1, n), size, unit, q, e)
    CHECK(size == bytes(2) .and. unit == storage_size(me) / 8)
#if BINDING != 1
    call c_f_pointer(p, mine, (/ 2 /))
    call c_f_pointer(q, next, (/ 2 /))
    mine = -1
    call MPI_Win_fence(0, w, e)
    next(2) = me
    call MPI_Win_fence(0, w, e)
    CHECK(mine(2) == mod(me + n - 1, n) .and. mine(1) == -1)
#else
    CHECK(p /= 0 .and. q /= 0 .and. (p /= q .or. n == 1))
#endif
    call MPI_Win_free(w, e)
    call MPI_Comm_free(near, e)
  end subroutine

  subroutine dynamic
    integer ASYNC, target, save :: room(2)
    integer(MPI_ADDRESS_KIND) :: at, all(ranks)
    integer :: x, e
    WIN_T :: w
    room = -1
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, w, e)
    call MPI_Win_attach(w, room, bytes(2), e)
    call MPI_Get_address(room(2), at, e)
    call MPI_Allgather(at, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD, e)
    x = rank
    call MPI_Win_fence(0, w, e)
    call MPI_Put(x, 1, MPI_INTEGER, right(), all(right() + 1), 1, MPI_INTEGER, w, e)
    call MPI_Win_fence(0, w, e)
    CHECK(room(2) == left() .and. room(1) == -1)
    call MPI_Win_detach(w, room, e)
    call MPI_Win_free(w, e)
  end subroutine

  subroutine requests
    integer ASYNC, target, save :: room(2)
    integer ASYNC :: x, y, z
    integer :: e
    integer(MPI_ADDRESS_KIND) :: at
    REQUEST_T :: r
    WIN_T :: w
    room = 0
    call create(room, 2, w)
    call MPI_Win_lock_all(0, w, e)
    at = 0
    x = 1
    call MPI_Raccumulate(x, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, w, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call MPI_Rget_accumulate(x, 1, MPI_INTEGER, y, 1, MPI_INTEGER, 0, at, 1, MPI_INTEGER, MPI_SUM, w, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    CHECK(y >= 1 .and. y < 2 * ranks)
    at = 1
    call MPI_Rput(x, 1, MPI_INTEGER, rank, at, 1, MPI_INTEGER, w, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call MPI_Win_flush(rank, w, e)
    call MPI_Rget(z, 1, MPI_INTEGER, rank, at, 1, MPI_INTEGER, w, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    CHECK(z == 1)
    call MPI_Win_sync(w, e)
    call MPI_Win_unlock_all(w, e)
    call MPI_Win_free(w, e)
  end subroutine

  subroutine deleted(win, win_keyval, attribute_val, extra_state, ierror)
    WIN_T :: win
    integer :: win_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (win == MPI_WIN_NULL .or. win_keyval == MPI_KEYVAL_INVALID .or. attribute_val /= 9 .or. extra_state /= 4) stop 12
    deletions = deletions + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine attributes
    integer ASYNC, target, save :: room(2)
    integer(MPI_ADDRESS_KIND) :: v, extra
    integer :: k, n, e
    logical :: flag
    character(MPI_MAX_OBJECT_NAME) :: name
    WIN_T :: w
    INFO_T :: i
    call create(room, 2, w)
    call MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, v, flag, e)
    CHECK(flag .and. v == storage_size(k) / 8)
    call MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, v, flag, e)
    CHECK(flag .and. v == MPI_WIN_FLAVOR_CREATE)
    call MPI_Win_get_attr(w, MPI_WIN_MODEL, v, flag, e)
    CHECK(flag .and. (v == MPI_WIN_UNIFIED .or. v == MPI_WIN_SEPARATE))
    call MPI_Get_address(room, extra, e)
    call MPI_Win_get_attr(w, MPI_WIN_BASE, v, flag, e)
    CHECK(flag .and. v == extra)
    extra = 4
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, deleted, k, extra, e)
    v = 9
    call MPI_Win_set_attr(w, k, v, e)
    call MPI_Win_get_attr(w, k, v, flag, e)
    CHECK(flag .and. v == 9)
    call MPI_Win_set_name(w, 'a window  ', e)
    call MPI_Win_get_name(w, name, n, e)
    CHECK(name == 'a window' .and. n == 8)
    call MPI_Win_get_info(w, i, e)
    call MPI_Win_set_info(w, i, e)
    call MPI_Info_free(i, e)
    call MPI_Win_free(w, e)
    CHECK(deletions == 1)
    deletions = 0
    call MPI_Win_free_keyval(k, e)
  end subroutine

  subroutine memory
    integer :: e
#if BINDING == 1
    integer(MPI_ADDRESS_KIND) :: p
    call MPI_Alloc_mem(bytes(100), MPI_INFO_NULL, p, e)
    CHECK(p /= 0)
    call free(p)
    e = 0
#else
    type(C_PTR) :: p
    integer, pointer :: a(:)
    call MPI_Alloc_mem(bytes(100), MPI_INFO_NULL, p, e)
    call c_f_pointer(p, a, (/ 100 /))
    a = 1
    CHECK(sum(a) == 100)
    call MPI_Free_mem(a, e)
#endif
    CHECK(e == MPI_SUCCESS)
  end subroutine

#if BINDING == 1
  ! Without TYPE(C_PTR) programs had pointers of Cray's: what MPI_Free_mem gets is the memory, here by an address.
  subroutine free(p)
    integer(MPI_ADDRESS_KIND), intent(in) :: p
    integer, pointer :: a(:)
    integer :: e
    call c_f_pointer(transfer(p, C_NULL_PTR), a, (/ 100 /))
    a = 1
    call MPI_Free_mem(a, e)
  end subroutine
#endif
end module

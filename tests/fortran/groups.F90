! Groups, communicators and what is attached to them.
#include "binding.h"
module groups
  USE_MPI
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: groups_tests

  integer, save :: copies = 0, deletions = 0
  integer(MPI_ADDRESS_KIND), save :: seen = 0
contains
  subroutine groups_tests
    call sets
    call ranges
    call communicators
    call splits
    call between_groups
    call names
    call predefined_attributes
    call constant_functions
    call own_functions
    call refused_copies
    call on_datatypes
    call survivors
  end subroutine

  subroutine sets
    GROUP_T :: world, mine, rest, all
    integer :: n, r, result, list(ranks), others(ranks), i, e
    call MPI_Comm_group(MPI_COMM_WORLD, world, e)
    call MPI_Group_size(world, n, e)
    call MPI_Group_rank(world, r, e)
    CHECK(n == ranks .and. r == rank)
    call MPI_Group_incl(world, 1, (/ rank /), mine, e)
    call MPI_Group_excl(world, 1, (/ rank /), rest, e)
    call MPI_Group_rank(rest, r, e)
    CHECK(r == MPI_UNDEFINED)
    call MPI_Group_union(mine, rest, all, e)
    call MPI_Group_compare(all, world, result, e)
    CHECK(result == MPI_IDENT .or. rank > 0 .and. result == MPI_SIMILAR)
    list = (/ (i, i = 0, ranks - 1) /)
    call MPI_Group_translate_ranks(world, ranks, list, all, others, e)
    CHECK(others(rank + 1) == 0)
    call MPI_Group_free(all, e)
    call MPI_Group_intersection(mine, rest, all, e)
    CHECK(all == MPI_GROUP_EMPTY)
    call MPI_Group_difference(world, rest, all, e)
    call MPI_Group_compare(all, mine, result, e)
    CHECK(result == MPI_IDENT)
    call MPI_Group_free(all, e)
    call MPI_Group_free(mine, e)
    call MPI_Group_free(rest, e)
    call MPI_Group_free(world, e)
    CHECK(world == MPI_GROUP_NULL)
  end subroutine

  subroutine ranges
    GROUP_T :: world, even, odd
    integer :: range(3, 2), n, m, e
    call MPI_Comm_group(MPI_COMM_WORLD, world, e)
    range(:, 1) = (/ 0, ranks - 1, 2 /)
    call MPI_Group_range_incl(world, 1, range, even, e)
    call MPI_Group_range_excl(world, 1, range, odd, e)
    call MPI_Group_size(even, n, e)
    call MPI_Group_size(odd, m, e)
    CHECK(n == (ranks + 1) / 2 .and. n + m == ranks)
    call MPI_Group_free(even, e)
    if (odd /= MPI_GROUP_EMPTY) call MPI_Group_free(odd, e)
    if (ranks >= 3) then
      range(:, 1) = (/ 2, 1, -1 /)
      range(:, 2) = (/ 0, 0, 1 /)
      call MPI_Group_range_incl(world, 2, range, even, e)
      call MPI_Group_rank(even, n, e)
      CHECK(n == 2 - rank .or. rank > 2)
      call MPI_Group_free(even, e)
    end if
    call MPI_Group_free(world, e)
  end subroutine

  subroutine communicators
    COMM_T :: dup, later, made
    GROUP_T :: g
    REQUEST_T :: r
    INFO_T :: i
    integer :: result, n, e
    logical :: inter
    call MPI_Comm_dup(MPI_COMM_WORLD, dup, e)
    call MPI_Comm_compare(MPI_COMM_WORLD, dup, result, e)
    CHECK(result == MPI_CONGRUENT)
    call MPI_Comm_idup(dup, later, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call MPI_Comm_size(later, n, e)
    CHECK(n == ranks)
    call MPI_Comm_free(later, e)
    call MPI_Info_create(i, e)
    call MPI_Comm_dup_with_info(dup, i, later, e)
    call MPI_Info_free(i, e)
    call MPI_Comm_get_info(later, i, e)
    CHECK(i /= MPI_INFO_NULL)
    call MPI_Info_free(i, e)
    call MPI_Comm_free(later, e)
    call MPI_Comm_test_inter(dup, inter, e)
    CHECK(.not. inter)
    call MPI_Comm_group(dup, g, e)
    call MPI_Comm_create(dup, g, made, e)
    call MPI_Comm_compare(made, dup, result, e)
    CHECK(result == MPI_CONGRUENT)
    call MPI_Comm_free(made, e)
    call MPI_Comm_create_group(dup, g, 4, made, e)
    call MPI_Comm_rank(made, n, e)
    CHECK(n == rank)
    call MPI_Comm_free(made, e)
    call MPI_Comm_free(dup, e)
    CHECK(dup == MPI_COMM_NULL)
    call MPI_Group_free(g, e)
  end subroutine

  subroutine splits
    COMM_T :: half, shared, none
    integer :: n, r, color, e
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), -rank, half, e)
    call MPI_Comm_size(half, n, e)
    call MPI_Comm_rank(half, r, e)
    CHECK(n == (ranks + 1 - mod(rank, 2)) / 2 .and. r == n - 1 - rank / 2)
    call MPI_Comm_free(half, e)
    color = MPI_UNDEFINED
    call MPI_Comm_split(MPI_COMM_WORLD, color, 0, none, e)
    CHECK(none == MPI_COMM_NULL)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, shared, e)
    call MPI_Comm_size(shared, n, e)
    CHECK(n >= 1 .and. n <= ranks)
    call MPI_Comm_free(shared, e)
  end subroutine

  subroutine between_groups
    COMM_T :: half, inter, merged
    GROUP_T :: g
    integer :: n, x, y, m, e
    logical :: flag
    if (ranks < 2) return
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, e)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mod(rank, 2), 3, inter, e)
    call MPI_Comm_test_inter(inter, flag, e)
    CHECK(flag)
    call MPI_Comm_remote_size(inter, n, e)
    CHECK(n == (ranks + mod(rank, 2)) / 2)
    call MPI_Comm_remote_group(inter, g, e)
    call MPI_Group_size(g, m, e)
    CHECK(m == n)
    call MPI_Group_free(g, e)
    x = mod(rank, 2) + 1
    call MPI_Allreduce(x, y, 1, MPI_INTEGER, MPI_MAX, inter, e)
    CHECK(y == 2 - mod(rank, 2))
    call exchange(inter, n)
    flag = mod(rank, 2) == 1  ! flang 19 takes the comparison itself for a LOGICAL(4), whatever the default
    call MPI_Intercomm_merge(inter, flag, merged, e)
    call MPI_Comm_rank(merged, m, e)
    CHECK(mod(rank, 2) == 0 .and. m == rank / 2 .or. mod(rank, 2) == 1 .and. m == (ranks + 1) / 2 + rank / 2)
    call MPI_Comm_free(merged, e)
    call MPI_Comm_free(inter, e)
    call MPI_Comm_free(half, e)
  end subroutine

  ! Arrays are as long as the remote group.
  subroutine exchange(inter, n)
    COMM_T, intent(in) :: inter
    integer, intent(in) :: n
    integer :: out(n), in(n), counts(n), displs(n), i, e
    DATATYPE_T :: types(n)
    counts = 1
    displs = (/ (i * storage_size(i) / 8, i = 0, n - 1) /)
    types = MPI_INTEGER
    out = rank
    call MPI_Alltoallw(out, counts, displs, types, in, counts, displs, types, inter, e)
    CHECK(all(mod(in, 2) == 1 - mod(rank, 2)))
    displs = (/ (i, i = 0, n - 1) /)
    in = -1
    call MPI_Allgatherv(out, 1, MPI_INTEGER, in, counts, displs, MPI_INTEGER, inter, e)
    CHECK(all(mod(in, 2) == 1 - mod(rank, 2)))
  end subroutine

  subroutine names
    character(MPI_MAX_OBJECT_NAME) :: name
    integer :: n, e
    COMM_T :: c
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, n, e)
    CHECK(name == 'MPI_COMM_WORLD' .and. n == 14)
    call MPI_Comm_dup(MPI_COMM_SELF, c, e)
    call MPI_Comm_set_name(c, 'of one   ', e)
    name = repeat('x', len(name))
    call MPI_Comm_get_name(c, name, n, e)
    CHECK(name == 'of one' .and. n == 6)
    call MPI_Comm_free(c, e)
  end subroutine

  subroutine predefined_attributes
    integer(MPI_ADDRESS_KIND) :: v
    integer :: n, e
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, v, flag, e)
    CHECK(flag .and. v >= 32767)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, v, flag, e)
    CHECK(.not. flag .or. v == 0 .or. v == 1)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, v, flag, e)
    CHECK(flag .and. (v == MPI_ANY_SOURCE .or. v == rank .or. v >= 0))
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, v, flag, e)
    CHECK(.not. flag .or. v == 0)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, v, flag, e)
    CHECK(.not. flag .or. v >= ranks)
    call MPI_Comm_get_attr(MPI_COMM_SELF, MPI_LASTUSEDCODE, v, flag, e)
    CHECK(flag .and. v >= MPI_ERR_LASTCODE)
#if BINDING != 3
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, n, flag, e)
    CHECK(flag .and. n >= 32767)
#else
    n = 0
#endif
  end subroutine

  subroutine constant_functions
    integer(MPI_ADDRESS_KIND) :: v, extra, large
    integer :: dups, stays, e
    logical :: flag
    COMM_T :: c
    extra = 0
    large = -huge(large)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dups, extra, e)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, stays, extra, e)
    call MPI_Comm_get_attr(MPI_COMM_SELF, dups, v, flag, e)
    CHECK(.not. flag)
    call MPI_Comm_set_attr(MPI_COMM_SELF, dups, large, e)
    call MPI_Comm_set_attr(MPI_COMM_SELF, stays, large, e)
    call MPI_Comm_dup(MPI_COMM_SELF, c, e)
    call MPI_Comm_get_attr(c, stays, v, flag, e)
    CHECK(.not. flag)
    v = 0
    call MPI_Comm_get_attr(c, dups, v, flag, e)
    CHECK(flag .and. v == large)
    v = 5  ! each copy is a value of its own
    call MPI_Comm_set_attr(c, dups, v, e)
    call MPI_Comm_get_attr(MPI_COMM_SELF, dups, v, flag, e)
    CHECK(v == large)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, dups, e)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, stays, e)
    call MPI_Comm_get_attr(MPI_COMM_SELF, dups, v, flag, e)
    CHECK(.not. flag)
    call MPI_Comm_free_keyval(dups, e)
    call MPI_Comm_free_keyval(stays, e)
    CHECK(dups == MPI_KEYVAL_INVALID)
    call MPI_Comm_free(c, e)
  end subroutine

  subroutine doubled(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    COMM_T :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    if (oldcomm == MPI_COMM_NULL) stop 5
    copies = copies + 1
    attribute_val_out = 2 * attribute_val_in + extra_state
    flag = comm_keyval /= MPI_KEYVAL_INVALID
    ierror = MPI_SUCCESS
  end subroutine

  subroutine counted(comm, comm_keyval, attribute_val, extra_state, ierror)
    COMM_T :: comm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (comm == MPI_COMM_NULL .or. extra_state /= 1000) stop 6
    if (comm_keyval == MPI_KEYVAL_INVALID) stop 7
    deletions = deletions + 1
    seen = attribute_val
    ierror = MPI_SUCCESS
  end subroutine

  subroutine refused(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    COMM_T :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    if (oldcomm == MPI_COMM_NULL .or. comm_keyval == MPI_KEYVAL_INVALID) stop 8
    attribute_val_out = attribute_val_in
    flag = .false.
    ierror = int(extra_state)
  end subroutine

  subroutine own_functions
    integer(MPI_ADDRESS_KIND) :: v, extra
    integer :: k, e
    logical :: flag
    COMM_T :: first, second
    extra = 1000
    copies = 0
    deletions = 0
    call MPI_Comm_create_keyval(doubled, counted, k, extra, e)
    call MPI_Comm_dup(MPI_COMM_SELF, first, e)
    v = 2_MPI_ADDRESS_KIND**40
    call MPI_Comm_set_attr(first, k, v, e)
    call MPI_Comm_dup(first, second, e)
    CHECK(copies == 1)
    call MPI_Comm_get_attr(second, k, v, flag, e)
    CHECK(flag .and. v == 2_MPI_ADDRESS_KIND**41 + 1000)
    v = 77
    call MPI_Comm_set_attr(first, k, v, e)
    CHECK(deletions == 1 .and. seen == 2_MPI_ADDRESS_KIND**40)
    call MPI_Comm_delete_attr(first, k, e)
    CHECK(deletions == 2 .and. seen == 77)
    call MPI_Comm_free_keyval(k, e)
    call MPI_Comm_free(second, e)
    CHECK(deletions == 3 .and. seen == 2_MPI_ADDRESS_KIND**41 + 1000)
    call MPI_Comm_free(first, e)
    CHECK(deletions == 3 .and. copies == 1)
  end subroutine

  subroutine refused_copies
    integer(MPI_ADDRESS_KIND) :: v, extra
    integer :: k, e
    logical :: flag
    COMM_T :: c
    extra = MPI_SUCCESS
    call MPI_Comm_create_keyval(refused, MPI_COMM_NULL_DELETE_FN, k, extra, e)
    v = 5
    call MPI_Comm_set_attr(MPI_COMM_SELF, k, v, e)
    call MPI_Comm_dup(MPI_COMM_SELF, c, e)
    call MPI_Comm_get_attr(c, k, v, flag, e)
    CHECK(.not. flag)
    call MPI_Comm_free(c, e)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, k, e)
    call MPI_Comm_free_keyval(k, e)
  end subroutine

  subroutine on_datatypes
    integer(MPI_ADDRESS_KIND) :: v, extra
    integer :: k, e
    logical :: flag
    DATATYPE_T :: t, u
    extra = 0
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, k, extra, e)
    call MPI_Type_contiguous(2, MPI_REAL, t, e)
    v = -3
    call MPI_Type_set_attr(t, k, v, e)
    call MPI_Type_dup(t, u, e)
    v = 0
    call MPI_Type_get_attr(u, k, v, flag, e)
    CHECK(flag .and. v == -3)
    call MPI_Type_delete_attr(u, k, e)
    call MPI_Type_get_attr(u, k, v, flag, e)
    CHECK(.not. flag)
    call MPI_Type_free_keyval(k, e)
    call MPI_Type_free(t, e)
    call MPI_Type_free(u, e)
  end subroutine

  ! What a program does about losses (mpix.h), when there are none. Other libraries may not have it.
  subroutine survivors
    COMM_T :: c, shrunk, made
    GROUP_T :: failed
    REQUEST_T :: r
    integer ASYNC :: flag
    integer :: n, class, e
    logical :: revoked
    if (.not. ours) return
    call MPI_Comm_dup(MPI_COMM_WORLD, c, e)
    call MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN, e)
    flag = 7
    if (rank == 0) flag = 5
    call MPIX_Comm_agree(c, flag, e)
    CHECK(e == MPI_SUCCESS .and. flag == 5)
    flag = 3
    call MPIX_Comm_iagree(c, flag, r, e)
    if (kind(flag) == 4) then ! as C has it
      call MPI_Wait(r, MPI_STATUS_IGNORE, e)
      CHECK(flag == 3)
    end if
    CHECK(e == MPI_SUCCESS .or. kind(flag) == 8)
    call MPIX_Comm_get_failed(c, failed, e)
    CHECK(failed == MPI_GROUP_EMPTY)
    call MPIX_Comm_failure_ack(c, e)
    call MPIX_Comm_failure_get_acked(c, failed, e)
    CHECK(failed == MPI_GROUP_EMPTY)
    call MPIX_Comm_ack_failed(c, 1, n, e)
    CHECK(n == 0)
    call MPIX_Comm_is_revoked(c, revoked, e)
    CHECK(.not. revoked)
    call MPI_Barrier(MPI_COMM_WORLD, e)
    call MPIX_Comm_revoke(c, e)
    call MPIX_Comm_is_revoked(c, revoked, e)
    CHECK(revoked)
    call MPI_Barrier(c, e)
    call MPI_Error_class(e, class, n)
    CHECK(class == MPIX_ERR_REVOKED)
    call MPIX_Comm_shrink(c, shrunk, e)
    call MPI_Barrier(shrunk, e)
    call MPIX_Comm_ishrink(c, made, r, e)
    call MPI_Wait(r, MPI_STATUS_IGNORE, e)
    call MPI_Comm_size(made, n, e)
    CHECK(e == MPI_SUCCESS .and. n == ranks)
    call MPI_Comm_free(made, e)
    call MPI_Comm_free(shrunk, e)
    call MPI_Comm_free(c, e)
  end subroutine
end module

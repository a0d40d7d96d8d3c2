! Datatypes: constructors and what they say of themselves, absolute addresses, packing, types by digits and by size.
#include "binding.h"
module datatypes
  USE_MPI
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: datatypes_tests
contains
  subroutine datatypes_tests
    call vectors
    call structures
    call absolute
    call arrays
    call contents
    call bounds
    call packing
    call digits_and_sizes
    call names
    call addresses
    call pair_of
  end subroutine

  ! Sends to itself, and receives as so many elements of another type.
  subroutine transfer_(from, n, type, to, m, as)
    integer, intent(in) :: from(*), n, m
    integer, intent(inout) :: to(*)
    DATATYPE_T, intent(in) :: type, as
    integer :: e
    call MPI_Sendrecv(from, n, type, 0, 1, to, m, as, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
  end subroutine

  subroutine vectors
    integer :: a(6, 5), b(6), lengths(2), displs(2), size, e, i
    DATATYPE_T :: row, blocks, twice
    a = reshape((/ (i, i = 1, 30) /), (/ 6, 5 /))
    call MPI_Type_vector(5, 1, 6, MPI_INTEGER, row, e)
    call MPI_Type_commit(row, e)
    b = 0
    call transfer_(a, 1, row, b, 5, MPI_INTEGER)
    CHECK(all(b == (/ 1, 7, 13, 19, 25, 0 /)))
    lengths = (/ 1, 2 /)
    displs = (/ 3, 8 /)
    call MPI_Type_indexed(2, lengths, displs, MPI_INTEGER, blocks, e)
    call MPI_Type_commit(blocks, e)
    b = 0
    call transfer_(a, 1, blocks, b, 3, MPI_INTEGER)
    CHECK(all(b == (/ 4, 9, 10, 0, 0, 0 /)))
    call MPI_Type_size(blocks, size, e)
    call MPI_Type_contiguous(2, blocks, twice, e)
    call MPI_Type_free(blocks, e)
    CHECK(blocks == MPI_DATATYPE_NULL)
    call MPI_Type_size(twice, i, e)
    CHECK(i == 2 * size)
    call MPI_Type_free(twice, e)
    call MPI_Type_create_indexed_block(2, 2, displs, MPI_INTEGER, blocks, e)
    call MPI_Type_commit(blocks, e)
    b = 0
    call transfer_(a, 1, blocks, b, 4, MPI_INTEGER)
    CHECK(all(b == (/ 4, 5, 9, 10, 0, 0 /)))
    call MPI_Type_free(blocks, e)
    call MPI_Type_free(row, e)
  end subroutine

  subroutine structures
    type :: particle
      sequence
      double precision :: at(3)
      integer :: id
      character(4) :: kind
    end type
    type(particle) :: p(2), q(2)
    integer(MPI_ADDRESS_KIND) :: displs(3), lb, extent, next
    integer :: e
    DATATYPE_T :: types(3), packed, spaced
    call MPI_Get_address(p(1)%at, displs(1), e)
    call MPI_Get_address(p(1)%id, displs(2), e)
    call MPI_Get_address(p(1)%kind, displs(3), e)
    call MPI_Get_address(p(2)%at, next, e)
    next = MPI_Aint_diff(next, displs(1))
    displs(3) = MPI_Aint_diff(displs(3), displs(1))
    displs(2) = MPI_Aint_diff(displs(2), displs(1))
    displs(1) = 0
    types(1) = MPI_DOUBLE_PRECISION
    types(2) = MPI_INTEGER
    types(3) = MPI_CHARACTER
    call MPI_Type_create_struct(3, (/ 3, 1, 4 /), displs, types, packed, e)
    lb = 0
    call MPI_Type_create_resized(packed, lb, next, spaced, e)
    call MPI_Type_commit(spaced, e)
    call MPI_Type_get_extent(spaced, lb, extent, e)
    CHECK(lb == 0 .and. extent == next)
    p(1) = particle((/ 1d0, 2d0, 3d0 /), 4, 'five')
    p(2) = particle((/ 6d0, 7d0, 8d0 /), 9, 'ten ')
    call MPI_Sendrecv(p, 2, spaced, 0, 1, q, 2, spaced, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
    CHECK(all(q(1)%at == p(1)%at) .and. q(2)%at(3) == 8 .and. q(1)%id == 4 .and. q(2)%id == 9)
    CHECK(q(1)%kind == 'five' .and. q(2)%kind == 'ten ')
    call MPI_Type_free(packed, e)
    call MPI_Type_free(spaced, e)
  end subroutine

  ! Two variables that have nothing to do with each other, by their addresses from MPI_BOTTOM.
  subroutine absolute
    integer ASYNC, target, save :: x, y
    integer :: out(2), e
    integer(MPI_ADDRESS_KIND) :: at(2)
    DATATYPE_T :: both
    call MPI_Get_address(x, at(1), e)
    call MPI_Get_address(y, at(2), e)
    call MPI_Type_create_hindexed(2, (/ 1, 1 /), at, MPI_INTEGER, both, e)
    call MPI_Type_commit(both, e)
    x = 3
    y = 5
    call MPI_F_sync_reg(x)
    call MPI_F_sync_reg(y)
    call MPI_Sendrecv(MPI_BOTTOM, 1, both, 0, 1, out, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
    CHECK(out(1) == 3 .and. out(2) == 5)
    out = (/ 7, 8 /)
    call MPI_Sendrecv(out, 2, MPI_INTEGER, 0, 1, MPI_BOTTOM, 1, both, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE, e)
    call MPI_F_sync_reg(x)
    call MPI_F_sync_reg(y)
    CHECK(x == 7 .and. y == 8)
    x = 0
    if (rank == 0) x = 11
    call MPI_F_sync_reg(x)
    call MPI_Bcast(MPI_BOTTOM, 1, both, 0, MPI_COMM_WORLD, e)
    call MPI_F_sync_reg(x)
    CHECK(x == 11)
    call MPI_Type_free(both, e)
  end subroutine

  subroutine arrays
    integer :: a(4, 5), b(6), i, e, size
    DATATYPE_T :: inner, mine
    a = reshape((/ (i, i = 1, 20) /), (/ 4, 5 /))
    call MPI_Type_create_subarray(2, (/ 4, 5 /), (/ 2, 3 /), (/ 1, 2 /), MPI_ORDER_FORTRAN, MPI_INTEGER, inner, e)
    call MPI_Type_commit(inner, e)
    b = 0
    call transfer_(a, 1, inner, b, 6, MPI_INTEGER)
    CHECK(all(b == (/ 10, 11, 14, 15, 18, 19 /)))
    call MPI_Type_create_darray(2, 1, 2, (/ 4, 5 /), (/ MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE /), &
      (/ MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG /), (/ 2, 1 /), MPI_ORDER_FORTRAN, MPI_INTEGER, mine, e)
    call MPI_Type_size(mine, size, e)
    call MPI_Type_size(MPI_INTEGER, i, e)
    CHECK(size == 10 * i)
    call MPI_Type_free(inner, e)
    call MPI_Type_free(mine, e)
  end subroutine

  subroutine contents
    integer :: ni, na, nd, combiner, integers(8), e
    integer(MPI_ADDRESS_KIND) :: stride, addresses(2)
    DATATYPE_T :: v, types(2)
    stride = 40
    call MPI_Type_create_hvector(3, 2, stride, MPI_REAL, v, e)
    call MPI_Type_get_envelope(v, ni, na, nd, combiner, e)
    CHECK(ni == 2 .and. na == 1 .and. nd == 1 .and. combiner == MPI_COMBINER_HVECTOR)
    call MPI_Type_get_contents(v, ni, na, nd, integers, addresses, types, e)
    CHECK(integers(1) == 3 .and. integers(2) == 2 .and. addresses(1) == 40)
    CHECK(types(1) == MPI_REAL)
    call MPI_Type_dup(v, types(1), e)
    call MPI_Type_get_envelope(types(1), ni, na, nd, combiner, e)
    CHECK(combiner == MPI_COMBINER_DUP .and. nd == 1)
    call MPI_Type_get_contents(types(1), ni, na, nd, integers, addresses, types(2:2), e)
    call MPI_Type_free(types(2), e)
    call MPI_Type_free(types(1), e)
    call MPI_Type_free(v, e)
    call MPI_Type_get_envelope(MPI_COMPLEX, ni, na, nd, combiner, e)
    CHECK(combiner == MPI_COMBINER_NAMED)
  end subroutine

  subroutine bounds
    integer(MPI_ADDRESS_KIND) :: lb, extent, from, long
    integer(MPI_COUNT_KIND) :: big, size_x
    integer :: e
    DATATYPE_T :: t
    from = -8
    long = 64
    call MPI_Type_create_resized(MPI_DOUBLE_PRECISION, from, long, t, e)
    call MPI_Type_get_extent(t, lb, extent, e)
    CHECK(lb == -8 .and. extent == 64)
    call MPI_Type_get_true_extent(t, lb, extent, e)
    CHECK(lb == 0 .and. extent > 0 .and. extent < 64)
    call MPI_Type_get_extent_x(t, big, size_x, e)
    CHECK(big == -8 .and. size_x == 64)
    call MPI_Type_size_x(t, size_x, e)
    CHECK(size_x == extent)
    call MPI_Type_free(t, e)
  end subroutine

  subroutine packing
    character :: room(100)
    integer :: x(3), y(3), position, e
    integer(MPI_ADDRESS_KIND) :: at, whole
    double precision :: d, back
    x = (/ 1, 2, 3 /)
    d = 0.5d0
    position = 0
    call MPI_Pack(x, 3, MPI_INTEGER, room, 100, position, MPI_COMM_WORLD, e)
    call MPI_Pack(d, 1, MPI_DOUBLE_PRECISION, room, 100, position, MPI_COMM_WORLD, e)
    CHECK(position > 0)
    y = 0
    position = 0
    call MPI_Unpack(room, 100, position, y, 3, MPI_INTEGER, MPI_COMM_WORLD, e)
    call MPI_Unpack(room, 100, position, back, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, e)
    CHECK(all(y == x) .and. back == 0.5d0)
    call MPI_Pack_external_size('external32', 3, MPI_INTEGER, whole, e)
    at = 0
    call MPI_Pack_external('external32', x, 3, MPI_INTEGER, room, whole, at, e)
    CHECK(at == whole .and. iachar(room(whole / 3)) == 1)  ! the last byte of the first
    y = 0
    at = 0
    call MPI_Unpack_external('external32  ', room, whole, at, y, 3, MPI_INTEGER, e)
    CHECK(all(y == x))
  end subroutine

  subroutine digits_and_sizes
    integer, parameter :: long = selected_real_kind(15, 300), short = selected_int_kind(4)
    real(long) :: x, y
    complex(long) :: z, w
    integer(short) :: i, j
    integer :: size, ni, na, nd, combiner, integers(2), e
    integer(MPI_ADDRESS_KIND) :: none(1)
    DATATYPE_T :: t, again, inner(1)
    call MPI_Type_create_f90_real(15, 300, t, e)
    call MPI_Type_create_f90_real(15, 300, again, e)
    CHECK(t == again)
    size = storage_size(x) / 8
    call MPI_Type_size(t, ni, e)
    CHECK(ni == size)
    x = rank + 0.25_long
    call MPI_Allreduce(x, y, 1, t, MPI_MAX, MPI_COMM_WORLD, e)
    CHECK(y == ranks - 1 + 0.25_long)
    call MPI_Type_create_f90_complex(15, MPI_UNDEFINED, t, e)
    z = cmplx(1, rank, long)
    call MPI_Allreduce(z, w, 1, t, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(w == cmplx(ranks, ranks * (ranks - 1) / 2, long))
    call MPI_Type_create_f90_integer(4, t, e)
    i = int(rank, short)
    call MPI_Allreduce(i, j, 1, t, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(j == ranks * (ranks - 1) / 2)
    call MPI_Type_get_envelope(t, ni, na, nd, combiner, e)
    CHECK(combiner == MPI_COMBINER_F90_INTEGER .and. ni == 1)
    call MPI_Type_get_contents(t, ni, 0, 0, integers, none, inner, e)
    CHECK(integers(1) == 4)
    size = storage_size(z) / 8
    call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, size, t, e)
    call MPI_Allreduce(z, w, 1, t, MPI_SUM, MPI_COMM_WORLD, e)
    CHECK(w == cmplx(ranks, ranks * (ranks - 1) / 2, long))
    call MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 8, t, e)
    CHECK(t == MPI_INTEGER8)
  end subroutine

  subroutine names
    character(MPI_MAX_OBJECT_NAME) :: name
    character(10) :: short
    integer :: n, e
    DATATYPE_T :: t
    call MPI_Type_contiguous(2, MPI_REAL, t, e)
    name = 'x'
    call MPI_Type_get_name(t, name, n, e)
    CHECK(name == ' ' .and. n == 0)
    call MPI_Type_set_name(t, ' two of them   ', e)
    call MPI_Type_get_name(t, name, n, e)
    CHECK(name == ' two of them' .and. n == 12)
    call MPI_Type_get_name(t, short, n, e)
    CHECK(short == ' two of th')
    call MPI_Type_free(t, e)
    call MPI_Type_get_name(MPI_CHARACTER, name, n, e)
    CHECK(name == 'MPI_CHARACTER' .and. n == 13)
  end subroutine

  subroutine addresses
    integer(MPI_ADDRESS_KIND) :: a, b, c
    integer :: x(4), e
    call MPI_Get_address(x(1), a, e)
    call MPI_Get_address(x(4), b, e)
    c = MPI_Aint_diff(b, a)
    CHECK(c == 3 * storage_size(x) / 8)
    CHECK(MPI_Aint_add(a, c) == b)
  end subroutine

  subroutine pair_of
    integer :: e
    DATATYPE_T :: pair, value, index
    if (.not. ours) return  ! of MPI 4.1
    call MPI_Type_get_value_index(MPI_INTEGER, MPI_INTEGER, pair, e)
    CHECK(pair == MPI_2INTEGER)
    value = MPI_REAL
    index = MPI_LOGICAL
    call MPI_Type_get_value_index(value, index, pair, e)
    CHECK(pair == MPI_DATATYPE_NULL)
  end subroutine
end module

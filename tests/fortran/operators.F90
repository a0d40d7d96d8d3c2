! Predefined operators on all of Fortran's datatypes: those of the program's kinds, and those that have a size in their name.
#include "binding.h"
module operators
  USE_MPI
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64, real128
  use checks
  implicit none
  INCLUDE_MPI
  private
  public :: operators_tests

! Sums, the greatest, products and the least of numbers of a type.
#define NUMBERS(name, KIND, datatype) \
subroutine name; KIND :: x(2), y(2); integer :: e; \
x(1) = rank + 1; x(2) = 2; \
call MPI_Allreduce(x, y, 2, datatype, MPI_SUM, MPI_COMM_WORLD, e); \
CHECK(y(1) == ranks * (ranks + 1) / 2 .and. y(2) == 2 * ranks); \
call MPI_Allreduce(x, y, 2, datatype, MPI_PROD, MPI_COMM_WORLD, e); \
CHECK(y(2) == 2**ranks); \
end subroutine
#define ORDERED(name, KIND, datatype) \
subroutine name; KIND :: x(2), y(2); integer :: e; \
x(1) = rank; x(2) = -rank; \
call MPI_Allreduce(x, y, 2, datatype, MPI_MAX, MPI_COMM_WORLD, e); \
CHECK(y(1) == ranks - 1 .and. y(2) == 0); \
call MPI_Allreduce(x, y, 2, datatype, MPI_MIN, MPI_COMM_WORLD, e); \
CHECK(y(1) == 0 .and. y(2) == 1 - ranks); \
end subroutine
#define BITS(name, KIND, datatype) \
subroutine name; KIND :: x, y; integer :: e; \
x = int(2**rank + 16, kind(x)); \
call MPI_Allreduce(x, y, 1, datatype, MPI_BOR, MPI_COMM_WORLD, e); \
CHECK(y == 2**ranks - 1 + 16); \
call MPI_Allreduce(x, y, 1, datatype, MPI_BAND, MPI_COMM_WORLD, e); \
CHECK(y == 16 .or. ranks == 1); \
call MPI_Allreduce(x, y, 1, datatype, MPI_BXOR, MPI_COMM_WORLD, e); \
CHECK(y == 2**ranks - 1 + 16 * mod(ranks, 2)); \
end subroutine
#define LOGICALS(name, KIND, datatype) \
subroutine name; KIND :: x(4), y(4); integer :: e; \
x(1) = .true.; x(2) = .false.; x(3) = rank == 0; x(4) = rank /= 0; \
call MPI_Allreduce(x, y, 4, datatype, MPI_LAND, MPI_COMM_WORLD, e); \
CHECK(y(1) .and. .not. y(2) .and. (y(3) .eqv. ranks == 1) .and. .not. y(4)); \
call MPI_Allreduce(x, y, 4, datatype, MPI_LOR, MPI_COMM_WORLD, e); \
CHECK(y(1) .and. .not. y(2) .and. y(3) .and. (y(4) .eqv. ranks > 1)); \
call MPI_Allreduce(x, y, 4, datatype, MPI_LXOR, MPI_COMM_WORLD, e); \
CHECK((y(1) .eqv. mod(ranks, 2) == 1) .and. .not. y(2) .and. y(3) .and. (y(4) .eqv. mod(ranks, 2) == 0)); \
CHECK((y(3) .eqv. .true.) .and. (y(2) .eqv. .false.)); \
end subroutine
! Where the greatest and the least are; equal ones are at the first.
#define PLACES(name, KIND, datatype) \
subroutine name; KIND :: x(2, 2), y(2, 2); integer :: e; \
x(1, 1) = rank; x(2, 1) = 100 + rank; x(1, 2) = 7; x(2, 2) = 200 + rank; \
call MPI_Allreduce(x, y, 2, datatype, MPI_MAXLOC, MPI_COMM_WORLD, e); \
CHECK(y(1, 1) == ranks - 1 .and. y(2, 1) == 99 + ranks .and. y(1, 2) == 7 .and. y(2, 2) == 200); \
call MPI_Allreduce(x, y, 2, datatype, MPI_MINLOC, MPI_COMM_WORLD, e); \
CHECK(y(1, 1) == 0 .and. y(2, 1) == 100 .and. y(1, 2) == 7 .and. y(2, 2) == 200); \
end subroutine
contains
  subroutine operators_tests
    call numbers_integer
    call numbers_aint
    call numbers_count
    call numbers_offset
    call ordered_integer
    call ordered_aint
    call ordered_count
    call ordered_offset
    call bits_integer
    call bits_aint
    call bits_count
    call bits_offset
    call numbers_real
    call numbers_double
    call ordered_real
    call ordered_double
    call bits_byte
    call numbers_complex
    call numbers_double_complex
    call logicals_logical
#ifdef IMPI_INTEGER8
    if (ours) call places_integer  ! the datatype is not of the ABI
#else
    call places_integer
#endif
    call places_real
    call places_double
    ! The same functions of C serve all bindings.
#if BINDING == 3
    call numbers_integer1
    call numbers_integer2
    call numbers_integer4
    call numbers_integer8
    call ordered_integer1
    call ordered_integer2
    call ordered_integer4
    call ordered_integer8
    call bits_integer1
    call bits_integer2
    call bits_integer4
    call bits_integer8
    call numbers_real4
    call numbers_real8
    call ordered_real4
    call ordered_real8
    call numbers_complex8
    call numbers_complex16
    call logicals_logical1
    call logicals_logical2
    call logicals_logical4
    call logicals_logical8
#endif
#if BINDING == 3 && defined __GFORTRAN__
    call numbers_real16
    call ordered_real16
    call numbers_complex32
#endif
    call characters
  end subroutine

  NUMBERS(numbers_integer, integer, MPI_INTEGER)
  NUMBERS(numbers_aint, integer(MPI_ADDRESS_KIND), MPI_AINT)
  NUMBERS(numbers_count, integer(MPI_COUNT_KIND), MPI_COUNT)
  NUMBERS(numbers_offset, integer(MPI_OFFSET_KIND), MPI_OFFSET)
  ORDERED(ordered_integer, integer, MPI_INTEGER)
  ORDERED(ordered_aint, integer(MPI_ADDRESS_KIND), MPI_AINT)
  ORDERED(ordered_count, integer(MPI_COUNT_KIND), MPI_COUNT)
  ORDERED(ordered_offset, integer(MPI_OFFSET_KIND), MPI_OFFSET)
  BITS(bits_integer, integer, MPI_INTEGER)
  BITS(bits_aint, integer(MPI_ADDRESS_KIND), MPI_AINT)
  BITS(bits_count, integer(MPI_COUNT_KIND), MPI_COUNT)
  BITS(bits_offset, integer(MPI_OFFSET_KIND), MPI_OFFSET)
  NUMBERS(numbers_real, real, MPI_REAL)
  NUMBERS(numbers_double, double precision, MPI_DOUBLE_PRECISION)
  ORDERED(ordered_real, real, MPI_REAL)
  ORDERED(ordered_double, double precision, MPI_DOUBLE_PRECISION)
  BITS(bits_byte, integer(int8), MPI_BYTE)
  NUMBERS(numbers_complex, complex, MPI_COMPLEX)
  NUMBERS(numbers_double_complex, complex(kind(0d0)), MPI_DOUBLE_COMPLEX)
  LOGICALS(logicals_logical, logical, MPI_LOGICAL)
  PLACES(places_integer, integer, MPI_2INTEGER)
  PLACES(places_real, real, MPI_2REAL)
  PLACES(places_double, double precision, MPI_2DOUBLE_PRECISION)
#if BINDING == 3
  NUMBERS(numbers_integer1, integer(int8), MPI_INTEGER1)
  NUMBERS(numbers_integer2, integer(int16), MPI_INTEGER2)
  NUMBERS(numbers_integer4, integer(int32), MPI_INTEGER4)
  NUMBERS(numbers_integer8, integer(int64), MPI_INTEGER8)
  ORDERED(ordered_integer1, integer(int8), MPI_INTEGER1)
  ORDERED(ordered_integer2, integer(int16), MPI_INTEGER2)
  ORDERED(ordered_integer4, integer(int32), MPI_INTEGER4)
  ORDERED(ordered_integer8, integer(int64), MPI_INTEGER8)
  BITS(bits_integer1, integer(int8), MPI_INTEGER1)
  BITS(bits_integer2, integer(int16), MPI_INTEGER2)
  BITS(bits_integer4, integer(int32), MPI_INTEGER4)
  BITS(bits_integer8, integer(int64), MPI_INTEGER8)
  NUMBERS(numbers_real4, real(real32), MPI_REAL4)
  NUMBERS(numbers_real8, real(real64), MPI_REAL8)
  ORDERED(ordered_real4, real(real32), MPI_REAL4)
  ORDERED(ordered_real8, real(real64), MPI_REAL8)
  NUMBERS(numbers_complex8, complex(real32), MPI_COMPLEX8)
  NUMBERS(numbers_complex16, complex(real64), MPI_COMPLEX16)
  LOGICALS(logicals_logical1, logical(int8), MPI_LOGICAL1)
  LOGICALS(logicals_logical2, logical(int16), MPI_LOGICAL2)
  LOGICALS(logicals_logical4, logical(int32), MPI_LOGICAL4)
  LOGICALS(logicals_logical8, logical(int64), MPI_LOGICAL8)
#endif
#if BINDING == 3 && defined __GFORTRAN__
  NUMBERS(numbers_real16, real(real128), MPI_REAL16)
  ORDERED(ordered_real16, real(real128), MPI_REAL16)
  NUMBERS(numbers_complex32, complex(real128), MPI_COMPLEX32)
#endif

  subroutine characters
    character(5) :: x, all(ranks)
    integer :: e
    x = 'abcd' // achar(48 + rank)
    call MPI_Allgather(x, 5, MPI_CHARACTER, all, 5, MPI_CHARACTER, MPI_COMM_WORLD, e)
    CHECK(all(1) == 'abcd0' .and. all(ranks)(5:5) == achar(47 + ranks))
  end subroutine
end module

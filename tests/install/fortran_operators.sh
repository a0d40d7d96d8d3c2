#!/bin/sh
# A program may have any number of operators and error handlers of its own, each of which knows what it is: no pool of
# functions in C stands behind them.
set -eu
stage=$1 work=$2
compiler=
for name in gfortran flang-new-19 flang-new flang; do
    command -v $name >/dev/null && compiler=$name && break
done
[ -n "$compiler" ] || { echo "skipped: there is no Fortran compiler"; exit 0; }
rm -rf "$work" && mkdir -p "$work" && cd "$work"
most=300
{
    echo "module functions; use mpi_f08; implicit none; integer :: failed = 0; contains"
    for i in $(seq $most); do
        echo "subroutine op$i(invec, inoutvec, len, datatype)
  use, intrinsic :: iso_c_binding
  type(C_PTR), value :: invec, inoutvec
  integer :: len
  type(MPI_Datatype) :: datatype
  integer, pointer :: a(:), b(:)
  call c_f_pointer(invec, a, [len]); call c_f_pointer(inoutvec, b, [len])
  if (datatype /= MPI_INTEGER) failed = -1
  b = a + b + $i
end subroutine
subroutine handler$i(comm, error_code)
  type(MPI_Comm) :: comm
  integer :: error_code
  failed = $i
end subroutine"
    done
    echo "end module
program many
  use functions
  implicit none
  type(MPI_Op) :: ops($most)
  type(MPI_Errhandler) :: handlers($most)
  type(MPI_Comm) :: comm
  integer :: i, ranks, x(3), y(3), again
  call MPI_Init
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  do again = 1, 2"
    for i in $(seq $most); do
        echo "    call MPI_Op_create(op$i, .true., ops($i)); call MPI_Comm_create_errhandler(handler$i, handlers($i))"
    done
    echo "    do i = 1, $most
      if (mod(i, 37) == 0 .or. i > $most - 3) then
        x = [i, 2, 3]
        call MPI_Allreduce(x, y, 3, MPI_INTEGER, ops(i), comm)
        if (any(y /= ranks * x + (ranks - 1) * i) .or. failed /= 0) error stop 1
        call MPI_Comm_set_errhandler(comm, handlers(i))
        call MPI_Send(x, 1, MPI_INTEGER, ranks, 0, comm)
        if (failed /= i) error stop 2
        failed = 0
        call MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL)
      end if
      call MPI_Op_free(ops(i)); call MPI_Errhandler_free(handlers(i))
    end do
  end do
  call MPI_Comm_free(comm)
  call MPI_Finalize
end program"
} >many.f90
for options in "" -fdefault-integer-8; do
    # shellcheck disable=SC2086 # words
    XDG_CACHE_HOME=$work "$stage/bin/mpifort" -fc="$compiler" -O0 -w $options many.f90 -o many 2>said || { cat said; exit 1; }
    timeout -k 5 100 "$stage/bin/mpirun" -n 2 ./many </dev/null || { echo "it fails with '$options'"; exit 1; }
done

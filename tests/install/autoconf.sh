#!/bin/sh
# What configure scripts do: autoconf's AX_MPI in Fortran, with the wrapper as MPIFC and as FC.
set -eu
stage=$1 work=$2 source=$3
command -v autoreconf >/dev/null || { echo "skipped: there is no autoconf"; exit 0; }
[ -e /usr/share/aclocal/ax_mpi.m4 ] || { echo "skipped: there is no ax_mpi.m4 (autoconf-archive)"; exit 0; }
command -v gfortran >/dev/null || { echo "skipped: there is no gfortran"; exit 0; }
rm -rf "$work" && mkdir -p "$work/user/m4" && cd "$work/user"
cp "$source"/tests/install/fortran/* . && cp /usr/share/aclocal/ax_mpi.m4 m4
export XDG_CACHE_HOME="$work/cache"
unset IMPI_FC MPICH_FC OMPI_FC I_MPI_FC MPIFC FC F77 FFLAGS FCFLAGS 2>/dev/null || true
cat >configure.ac <<'AC'
AC_INIT([user], [1])
AC_CONFIG_MACRO_DIRS([m4])
AC_PROG_FC
AC_LANG([Fortran])
AX_MPI([], [AC_MSG_ERROR([there is no MPI])])
AC_FC_SRCEXT([f90])
save=$FC
FC=$MPIFC
for module in mpi mpi_f08; do
    AC_MSG_CHECKING([for module $module])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [      use $module])], [AC_MSG_RESULT([yes])], [AC_MSG_ERROR([no])])
done
FC=$save
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
AC
cat >Makefile.in <<'MAKE'
all: header old new
header: header.f
	@MPIFC@ @FCFLAGS@ $< -o $@ @MPILIBS@
old: old.f90
	@MPIFC@ @FCFLAGS@ $< -o $@ @MPILIBS@
new: new.f90
	@MPIFC@ @FCFLAGS@ $< -o $@ @MPILIBS@
MAKE
autoreconf -i >log 2>&1 || { cat log; exit 1; }
for how in path MPIFC FC long; do
    mkdir -p ../$how && cd ../$how
    ln -sf ../user/*.f ../user/*.f90 .
    case $how in
    path) set -- ;;
    MPIFC) set -- MPIFC="$stage/bin/mpifort" ;;
    FC) set -- FC="$stage/bin/mpifort" MPIFC="$stage/bin/mpifort" ;;
    long) set -- FCFLAGS=-fdefault-integer-8 MPIFC="$stage/bin/mpifort" ;;
    esac
    (PATH=$stage/bin:$PATH && ../user/configure "$@" && make) >log 2>&1 || { cat log; exit 1; }
    for program in header old new; do
        [ "$("$stage/bin/mpiexec" -n 2 ./$program)" = "2 ranks, sum 1" ] || { echo "$how: $program"; exit 1; }
        readelf -d $program | grep -q "libmpifort_abi.*so.1" || { echo "$how: another MPI"; exit 1; }
    done
done

#!/bin/sh
# mpifort compiles fixed and free form with all three bindings, by each compiler that is here, and in every variant of
# INTEGER and REAL; modules are made once, for one compiler, and where they can be.
set -eu
stage=$1 work=$2 source=$3/tests/install/fortran
compilers=
for name in gfortran flang flang-new flang-new-19 ifx nvfortran; do
    command -v $name >/dev/null && compilers="$compilers $name"
done
[ -n "$compilers" ] || { echo "skipped: there is no Fortran compiler"; exit 0; }
rm -rf "$work" && mkdir -p "$work/tmp" && cd "$work"
unset IMPI_FC MPICH_FC OMPI_FC I_MPI_FC MPICH_F77 MPICH_F90
export HOME="$work/home" TMPDIR="$work/tmp"
unset XDG_CACHE_HOME
mkdir home
mpifort=$stage/bin/mpifort
cache=$HOME/.cache/libimpi/fortran
runs() {
    said=$("$stage/bin/mpiexec" -n 2 "./$1") || { echo "$1 fails"; exit 1; }
    [ "$said" = "2 ranks, sum 1" ] || { echo "$1 says: $said"; exit 1; }
}

# Questions are answered without a word beside, and what they say is there.
"$mpifort" -showme:compile >flags 2>said
[ ! -s said ] || { cat said; exit 1; }
for word in $(tr ' ' '\n' <flags | sed -n 's/^-I//p'); do [ -d "$word" ] || { echo "-showme:compile names $word"; exit 1; }; done
rm -rf "$HOME/.cache"

all=1 # options; those of the second compiler on are the lengths of INTEGER, of which each has a library
for fc in $compilers; do
    export IMPI_FC=$fc
    for options in "" -fdefault-integer-8 -fdefault-real-8 "-fdefault-integer-8 -fdefault-real-8 -fdefault-double-8"; do
        case $all$options in 0*real*) continue ;; esac
        case $fc in ifx | nvfortran) options=$(echo "$options" | sed 's/-fdefault-double-8//; s/-fdefault-integer/-i/; s/-fdefault-real-/-r/; s/i-8/i8/') ;; esac
        for file in header.f old.f90 new.f90; do
            # shellcheck disable=SC2086 # words
            "$mpifort" -w $options "$source/$file" -o "$fc-program" 2>>said || { cat said; exit 1; }
            runs "$fc-program"
            # Linking in a step of its own, as few repeat the options there.
            [ $file = new.f90 ] || continue
            # shellcheck disable=SC2086 # words
            "$mpifort" -w $options -c "$source/$file" -o object.o
            "$mpifort" object.o -o "$fc-program"
            runs "$fc-program"
        done
    done
    all=0
    # The user's folders are looked into last, so that what another compiler left in one of them is not read.
    "$mpifort" -show -c "$source/new.f90" -I/elsewhere | grep -q "^$fc .*-I$cache/.*/include -c"
done
# It was said once for each folder, in one line.
[ "$(wc -l <said)" = "$(find "$cache" -mindepth 1 -maxdepth 1 -type d | wc -l)" ] || { cat said; exit 1; }
if grep -v "^mpifort: built MPI's modules for [a-z]* [0-9.-]*\( ([a-z0-9]*)\)\{0,1\} in $cache/" said; then exit 1; fi
unset IMPI_FC
fc=${compilers# } fc=${fc%% *}
"$stage/bin/mpif90" "$source/new.f90" -o program && runs program
"$stage/bin/mpif77" -w "$source/header.f" -o program && runs program

# Objects of both lengths are no program.
"$mpifort" -w -c "$source/header.f" -o short.o
case $fc in ifx | nvfortran) long=-i8 ;; *) long=-fdefault-integer-8 ;; esac
"$mpifort" -w $long -c "$source/header.f" -o long.o
if "$mpifort" short.o long.o -o program 2>said; then exit 1; fi
grep -q "compiled for INTEGERs of 4 bytes, long.o for those of 8" said && [ "$(wc -l <said)" = 1 ]

# A home that cannot be written leaves the folder for temporary files; without that, mpif.h works alone.
export XDG_CACHE_HOME=/dev/null/cache
"$mpifort" "$source/new.f90" -o program 2>said && runs program
grep -q "^mpifort: built .* in $TMPDIR/libimpi-fortran-" said
chmod 777 "$TMPDIR"/libimpi-fortran-*
"$mpifort" -w "$source/header.f" -o program 2>said && runs program && [ ! -s said ]
if "$mpifort" "$source/new.f90" -o program 2>said; then exit 1; fi
tail -1 said | grep -q "^mpifort: no folder for MPI's modules of .* set XDG_CACHE_HOME" || { cat said; exit 1; }

# A compiler that cannot have mpi_f08 has the others.
printf '#!/bin/sh\n[ "$1" = --version ] && { echo "GNU Fortran (GCC) 8.5.0"; exit; }\nexec %s "$@"\n' "$fc" >old
chmod 755 old && rm -rf "$TMPDIR"/libimpi-fortran-*
"$mpifort" -fc=./old "$source/old.f90" -o program 2>said && runs program
if "$mpifort" -fc=./old "$source/new.f90" -o program 2>said; then exit 1; fi
tail -1 said | grep -q "^mpifort: gfortran 8.5.0 is too old for module mpi_f08" || { cat said; exit 1; }

# make install makes modules, and an installation that has them needs no other place for them, wherever it is moved.
DESTDIR=$work/first IMPI_FC=$fc cmake --install "$stage/.." --prefix /opt/x >folders 2>&1
grep -q "^-- Modules: [a-z]*-[0-9]" folders || { cat folders; exit 1; }
mv first/opt/x "moved here"
"moved here/bin/mpifort" "$source/new.f90" -o program 2>said && runs program && [ ! -s said ]
case $("moved here/bin/mpifort" -show) in *"-I\"$work/moved here/lib/fortran/"*) ;; *) exit 1 ;; esac
if grep -rlF "$stage" "moved here"; then echo "these files name the folder they were built in"; exit 1; fi

#!/bin/sh
# Debian's MPICH and Open MPI and our packages on one system: each has its wrappers, launcher, headers, library and
# pkg-config files where it expects them, under names of its own and, when it is chosen, under the usual ones; what is
# compiled with one runs on that one. When ours are removed, everything is as it was. The system stays as it is: all
# of this happens in a mount namespace, with overlays on /usr, /etc and /var.
set -eu
stage=$1 work=$2 source=$3
skip() { echo "skipped: $1"; exit 0; }
triplet=$(cc -print-multiarch 2>/dev/null) && [ -n "$triplet" ] || skip "the compiler knows no folders of Debian's"
for name in dpkg update-alternatives unshare mpicc.mpich mpicc.openmpi mpirun.mpich mpirun.openmpi; do
    command -v $name >/dev/null || skip "there is no $name (Debian: mpich libmpich-dev openmpi-bin libopenmpi-dev)"
done
[ "$(id -u)" = 0 ] || skip "dpkg installs as root only"
if dpkg-query -W libimpi1 >/dev/null 2>&1; then skip "libimpi1 is installed"; fi

if [ -z "${BESIDE_INSIDE:-}" ]; then
    rm -rf "$work" && mkdir -p "$work/overlay"
    export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
    "$source/packaging/debian/build" "$stage" "$work/packages" >"$work/made"
    BESIDE_INSIDE=1 exec unshare --mount --propagation private sh "$0" "$@"
fi

# From here on in a mount namespace of its own, which goes with this process. Overlays do not stand on overlays.
mount -t tmpfs none "$work/overlay" 2>/dev/null || skip "nothing can be mounted here"
cd "$work/overlay"
for folder in usr etc var; do
    mkdir -p was/$folder new/$folder used/$folder
    mount --bind /$folder was/$folder
    mount -t overlay none -o "lowerdir=/$folder,upperdir=$PWD/new/$folder,workdir=$PWD/used/$folder" /$folder 2>/dev/null ||
        skip "there are no overlays here"
done
mkdir build && cd build

# Launchers of all three, as root, for more ranks than cores, and without looking for other machines.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_plm_rsh_agent=false OMPI_MCA_btl=self,vader
unset LD_LIBRARY_PATH PKG_CONFIG_PATH MPI_HOME
PATH=/usr/sbin:/usr/bin:/sbin:/bin

cat >who.c <<'C'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, size, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_library_version(version, &n);
    if (rank == 0) printf("%d ranks on %.8s\n", size, version);
    return MPI_Finalize();
}
C
cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(who C)
find_package(MPI REQUIRED COMPONENTS C)
add_executable(cmade who.c)
target_link_libraries(cmade MPI::MPI_C)
CMAKE
called() { case $1 in libimpi) echo "libimpi" ;; mpich) echo "MPICH Ve" ;; openmpi) echo "Open MPI" ;; esac; }
# runs MPI LAUNCHER PROGRAM: two ranks of the program are one job of this MPI.
runs() {
    said=$($2 -n 2 "$3" 2>err) || { echo "$1: $2 $3:"; cat err; exit 1; }
    case $said in "2 ranks on $(called "$1")"*) ;; *) echo "$1: $2 $3 says: $said"; exit 1 ;; esac
}
groups="mpi mpirun mpi-$triplet"
state() { for group in $groups; do update-alternatives --query "$group"; done; }
state >before

# shellcheck disable=SC2046 # a list of packages
dpkg --install $(cat "$work/made") >log 2>&1 || { cat log; exit 1; }
# Nobody has chosen us: the usual names are those of who had them.
[ "$(readlink -f /usr/bin/mpicc)" != "$(readlink -f /usr/bin/mpicc.libimpi)" ]
for mpi in mpich openmpi libimpi; do
    mpicc.$mpi who.c -o named
    runs $mpi mpirun.$mpi ./named
done

for mpi in libimpi mpich openmpi; do
    update-alternatives --set mpi /usr/bin/mpicc.$mpi >log
    update-alternatives --set mpirun /usr/bin/mpirun.$mpi >log
    case $mpi in
    libimpi) headers=/usr/lib/$triplet/libimpi/include ;;
    mpich) headers=/usr/include/$triplet/mpich ;;
    openmpi) headers=/usr/lib/$triplet/openmpi/include ;;
    esac
    update-alternatives --set "mpi-$triplet" "$headers" >log
    # The wrapper for Fortran is that of the same MPI; there is none if the chosen MPI has none here.
    [ $mpi != libimpi ] || [ "$(readlink -f /usr/bin/mpifort)" = "$(readlink -f /usr/bin/mpicc.libimpi)" ]
    mpicc who.c -o wrapped
    runs $mpi mpiexec ./wrapped
    if [ $mpi = libimpi ] && command -v gfortran >/dev/null; then
        for wrapper in mpifort mpif77 mpif90; do
            XDG_CACHE_HOME=$PWD/cache $wrapper "$source/tests/install/fortran/new.f90" -o fortran 2>err
            [ "$(mpirun -n 2 ./fortran)" = "2 ranks, sum 1" ]
        done
    fi
    cc -I"/usr/include/$triplet/mpi" who.c -o plain -lmpi -Wl,-rpath,"$(dirname "$(readlink -f "/usr/lib/$triplet/libmpi.so")")"
    runs $mpi mpirun ./plain
    if command -v pkg-config >/dev/null; then
        for module in mpi mpi-c; do
            pkg-config --exists $module || { [ $mpi = mpich ] && continue; } # whose packages have only the first
            # shellcheck disable=SC2046 # flags are words
            cc $(pkg-config --cflags $module) who.c -o flags $(pkg-config --libs $module)
            runs $mpi mpirun ./flags
        done
    fi
    if command -v cmake >/dev/null; then
        rm -rf cmake
        { cmake -S . -B cmake && cmake --build cmake; } >log 2>&1 || { cat log; exit 1; }
        runs $mpi mpirun cmake/cmade
    fi
done
# Ours runs what the others have compiled; left to its own MPI it is refused, with the command that starts it. And the
# launchers of the others start ours.
mpicc.libimpi who.c -o ours
for other in mpich openmpi; do
    mpicc.$other who.c -o named
    runs libimpi mpirun.libimpi ./named
    if mpirun.libimpi -abi native -n 2 ./named 2>err || ! grep -q "or start it with /usr/bin/mpirun.$other\$" err; then
        echo "mpirun.libimpi says:"; cat err; exit 1
    fi
    runs libimpi mpirun.$other ./ours
    command -v mpifort.$other >/dev/null || continue
    printf 'program p\nuse mpi\ninteger e\ncall mpi_init(e)\ncall mpi_finalize(e)\nend\n' >p.f90
    mpifort.$other p.f90 -o fortran
    if ! mpirun.libimpi -n 2 ./fortran 2>err || [ -s err ]; then
        echo "mpirun.libimpi says:"; cat err; exit 1
    fi
done

# A folder somewhere is found by nobody who is not told of it.
for group in $groups; do update-alternatives --auto "$group" >log; done
cp -a "$stage" tree
mpicc who.c -o wrapped && runs openmpi mpirun ./wrapped
case $(ldconfig -p) in *"$PWD"*) echo "ldconfig knows of $PWD"; exit 1 ;; esac
(PATH=$PWD/tree/bin:$PATH && mpicc who.c -o wrapped && runs libimpi mpirun ./wrapped)
runs libimpi tree/bin/mpirun ./wrapped

# Removed, everything is as it was. An overlay has what has been written: nothing, or the same again.
dpkg --purge impi-bin libimpi-dev libimpi1 >log 2>&1 || { cat log; exit 1; }
state >after
diff before after
cd ..
find new/usr new/etc ! -type d | while read -r file; do
    was=was/${file#new/}
    if [ -L "$file" ]; then [ "$(readlink "$file")" = "$(readlink "$was")" ]; else cmp -s "$file" "$was"; fi ||
        echo "/${file#new/} is not as it was"
done >left
[ ! -s left ] || { cat left; exit 1; }

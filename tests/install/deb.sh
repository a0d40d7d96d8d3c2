#!/bin/sh
# The Debian packages are made, install beside an MPI library that is there already, compile and run a program, and
# leave nothing behind when they are removed. All of it happens below a root of its own.
set -eu
stage=$1 work=$2 source=$3
for tool in dpkg dpkg-deb update-alternatives; do
    command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: dpkg installs as root only"; exit 0; }
rm -rf "$work" && mkdir -p "$work"
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
"$source/packaging/debian/build" "$stage" "$work/packages" >"$work/made"
[ "$(wc -l <"$work/made")" = 3 ]

root=$work/root
admin=$root/var/lib/dpkg
mkdir -p "$admin/info" "$admin/updates" "$admin/alternatives" "$root/var/log" "$root/etc/alternatives" "$root/usr/bin"
touch "$admin/status" "$admin/available"
alternatives() { DPKG_ROOT=$root update-alternatives --quiet "$@"; }
choice() { readlink "$root/etc/alternatives/$1"; }
manage() { dpkg --root="$root" --log=/dev/null --force-script-chrootless --force-depends --force-not-root "$@" >>"$work/log" 2>&1; }

# Another library has the usual names, and keeps them.
: >"$root/usr/bin/mpicc.other" && : >"$root/usr/bin/mpirun.other"
alternatives --install /usr/bin/mpicc mpi /usr/bin/mpicc.other 40
alternatives --install /usr/bin/mpirun mpirun /usr/bin/mpirun.other 40
(cd "$root" && find . ! -type d ! -path './var/lib/dpkg/*' | sort) >"$work/before"
# shellcheck disable=SC2046 # a list of packages
manage --install $(cat "$work/made") || { cat "$work/log"; exit 1; }
[ "$(choice mpi)" = /usr/bin/mpicc.other ]
alternatives --set mpi /usr/bin/mpicc.libimpi
alternatives --set mpirun /usr/bin/mpirun.libimpi
[ "$(choice mpicxx)" = /usr/bin/mpicxx.libimpi ]
for name in mpifort mpif77 mpif90; do [ "$(choice $name)" = /usr/bin/mpifort.libimpi ]; done
[ "$(choice mpiexec)" = /usr/bin/mpiexec.libimpi ]
triplet=$(basename "$(dirname "$(echo "$root"/usr/lib/*/libimpi)")")
home=/usr/lib/$triplet/libimpi
[ "$(choice "mpi-$triplet")" = "$home/include" ]
[ "$(choice "libmpi.so-$triplet")" = "$home/lib/libmpi.so" ]
[ "$(choice "mpi.pc-$triplet")" = "/usr/lib/$triplet/pkgconfig/libimpi.pc" ]
[ "$(choice "mpi-fort.pc-$triplet")" = "/usr/lib/$triplet/pkgconfig/libimpi-fort.pc" ]
[ "$(choice "libmpi_abi.so.1-$triplet")" = "$home/lib/libmpi_abi.so.1" ]
# What each link names is there.
for link in "$root"/etc/alternatives/*; do
    [ -e "$root$(readlink "$link")" ] || { echo "$link leads nowhere"; exit 1; }
done
find "$root/usr" -type l ! -exec test -e {} \; -print | while read -r link; do
    case $(readlink "$link") in /etc/alternatives/*) ;; *) echo "$link leads nowhere" ;; esac
done >"$work/nowhere"
[ ! -s "$work/nowhere" ] || { cat "$work/nowhere"; exit 1; }

"$root/usr/bin/mpicc.libimpi" "$source/tests/install/program.c" -o "$work/program"
[ "$("$root/usr/bin/mpirun.libimpi" -n 2 "$work/program")" = "2 ranks, sum 1" ]
if command -v c++ >/dev/null; then
    [ "$("$root/usr/bin/mpicxx.libimpi" -showme:command)" = c++ ]
fi
if command -v gfortran >/dev/null; then
    XDG_CACHE_HOME=$work/cache "$root/usr/bin/mpifort.libimpi" -fc=gfortran "$source/tests/install/fortran/new.f90" \
        -o "$work/program" 2>"$work/said"
    grep -q "^mpifort.libimpi: built MPI's modules for gfortran" "$work/said"
    [ "$("$root/usr/bin/mpirun.libimpi" -n 2 "$work/program")" = "2 ranks, sum 1" ]
    "$root/usr/bin/mpifort.libimpi" -fc=gfortran -install-modules >"$work/folders" # removed with the package
    [ "$(wc -l <"$work/folders")" = 6 ]
fi
"$root/usr/bin/impi-info" --check >"$work/check" || { cat "$work/check"; exit 1; }
# shellcheck disable=SC2046 # flags are words
cc "$source/tests/install/program.c" -o "$work/flags" $(PKG_CONFIG_SYSROOT_DIR=$root \
    PKG_CONFIG_PATH=$root/usr/lib/$triplet/pkgconfig pkg-config --cflags --libs libimpi | sed "s|rpath,/usr|rpath,$root/usr|")
[ "$("$root/usr/bin/mpiexec.libimpi" -n 2 "$work/flags")" = "2 ranks, sum 1" ]
if command -v man >/dev/null; then
    MANPATH=$root/usr/share/man man -w MPI_Send_c mpirun.libimpi mpifort.libimpi >/dev/null
fi

manage --purge impi-bin libimpi-dev libimpi1 || { cat "$work/log"; exit 1; }
(cd "$root" && find . ! -type d ! -path './var/lib/dpkg/*' | sort) >"$work/after"
diff "$work/before" "$work/after"
[ "$(choice mpi)" = /usr/bin/mpicc.other ]
[ -z "$(find "$root/usr" -path '*libimpi*')" ]

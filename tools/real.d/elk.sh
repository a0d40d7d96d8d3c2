# Elk, in Fortran, compiled with Open MPI: the energy of aluminium is the same however many ranks there are.
if ! debian elk-lapw; then
    skip "elk-lapw: there is no such Debian package here"
else
    mkdir -p elk && cat >elk/elk.in <<END
tasks
  0

avec
  1.0 1.0 0.0
  1.0 0.0 1.0
  0.0 1.0 1.0

scale
  3.8267

sppath
  '$PWD/elk-lapw/usr/share/elk-lapw/species/'

atoms
  1
  'Al.in'
  1
  0.0 0.0 0.0

ngridk
  2 2 2

rgkmax
  5.0

maxscl
  5
END
    for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
        rm -f elk/*.OUT
        # shellcheck disable=SC2086 # words
        passes "elk $how" env -C elk OMP_NUM_THREADS=1 $run $how "$PWD/elk-lapw/usr/bin/elk-lapw" || continue
        awk '{ print $1 }' elk/TOTENERGY.OUT >elk/energies
        [ "$how" = "-n 1" ] && cp elk/energies elk/first
        near 1e-6 elk/energies elk/first || no "elk $how: other energies"
    done
fi

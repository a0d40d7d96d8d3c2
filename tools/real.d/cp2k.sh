# CP2K, in Fortran, compiled with Open MPI: the energy of a molecule of hydrogen is the same however many ranks there are.
if ! debian cp2k; then
    skip "cp2k: there is no such Debian package here"
else
    cat >hydrogen.inp <<'END'
&GLOBAL
  PROJECT hydrogen
  RUN_TYPE ENERGY_FORCE
  PRINT_LEVEL LOW
&END GLOBAL
&FORCE_EVAL
  METHOD QS
  &DFT
    BASIS_SET_FILE_NAME BASIS_SET
    POTENTIAL_FILE_NAME GTH_POTENTIALS
    &MGRID
      CUTOFF 100
    &END MGRID
    &SCF
      SCF_GUESS ATOMIC
      EPS_SCF 1.0E-6
      MAX_SCF 30
    &END SCF
    &XC
      &XC_FUNCTIONAL PADE
      &END XC_FUNCTIONAL
    &END XC
  &END DFT
  &SUBSYS
    &CELL
      ABC 4.0 4.0 4.0
    &END CELL
    &COORD
      H 0.0 0.0 0.0
      H 0.0 0.0 0.74
    &END COORD
    &KIND H
      BASIS_SET DZV-GTH-PADE
      POTENTIAL GTH-PADE-q1
    &END KIND
  &END SUBSYS
&END FORCE_EVAL
END
    rm -f hydrogen.first
    for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
        # shellcheck disable=SC2086 # words
        passes "cp2k $how" env OMP_NUM_THREADS=1 CP2K_DATA_DIR="$PWD/cp2k/usr/share/cp2k" $run $how \
            cp2k/usr/bin/cp2k.psmp hydrogen.inp || continue
        sed -n 's/^ *ENERGY| Total FORCE_EVAL .* //p' log >hydrogen
        [ -f hydrogen.first ] || cp hydrogen hydrogen.first
        near 1e-9 hydrogen hydrogen.first || no "cp2k $how: another energy: $(cat hydrogen)"
    done
fi

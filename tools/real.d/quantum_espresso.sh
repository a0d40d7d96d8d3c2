# Quantum ESPRESSO, in Fortran, compiled with Open MPI: it makes a pseudopotential of hydrogen, and the energy of a
# molecule is the same however many ranks there are.
if ! debian quantum-espresso; then
    skip "quantum-espresso: there is no such Debian package here"
else
    mkdir -p espresso && cat >espresso/atom.in <<'END'
 &input
   title='H', zed=1.0, rel=0, config='1s1 2p-1', iswitch=3, dft='PZ'
 /
 &inputp
   lloc=0, pseudotype=1, tm=.true., file_pseudopw='H.UPF'
 /
1
1S 1 0 1.00 0.00 1.10 1.10 0.0
END
    cat >espresso/molecule.in <<'END'
 &control
   calculation='scf', prefix='h2', pseudo_dir='.', outdir='out'
 /
 &system
   ibrav=1, celldm(1)=8.0, nat=2, ntyp=1, nbnd=8, ecutwfc=12.0
 /
 &electrons
   conv_thr=1.0d-8
 /
ATOMIC_SPECIES
 H 1.0 H.UPF
ATOMIC_POSITIONS bohr
 H 0.0 0.0 0.0
 H 0.0 0.0 1.4
K_POINTS automatic
 2 1 1 0 0 0
END
    espresso=$PWD/quantum-espresso/usr/bin
    passes "ld1.x" env -C espresso OMP_NUM_THREADS=1 $run -n 1 "$espresso/ld1.x" -in atom.in
    for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
        rm -rf espresso/out
        # shellcheck disable=SC2086 # words
        passes "pw.x $how" env -C espresso OMP_NUM_THREADS=1 $run $how "$espresso/pw.x" -in molecule.in || continue
        sed -n 's/^! *total energy *= *\([-0-9.]*\) Ry/\1/p' log >espresso/energy
        [ "$how" = "-n 1" ] && cp espresso/energy espresso/first
        near 1e-6 espresso/energy espresso/first || no "pw.x $how: another energy: $(cat espresso/energy)"
    done
fi

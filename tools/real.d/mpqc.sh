# MPQC, compiled with Open MPI and its C++ bindings: quantum chemistry whose ranks have memory in common, which a thread
# of each serves with messages while others compute. The energies are those of its own MPI on one rank where that is
# installed, up to the 1e-8 that it iterates to.
if ! debian mpqc; then
    skip "mpqc: there is no such Debian package here"
else
    SCLIBDIR=$PWD/mpqc/usr/share/mpqc
    export SCLIBDIR
    for input in mp2h2o ksh2o; do
        mpqc="mpqc/usr/bin/mpqc mpqc/usr/share/doc/mpqc/examples/$input.in"
        values='/(total scf|MP2|MolecularEnergy).*: |total scf energy/{ print $NF }'
        # shellcheck disable=SC2086 # words
        if command -v mpiexec.openmpi >/dev/null; then
            passes "mpqc $input, its own MPI" $mpqc
        else
            passes "mpqc $input, alone" $run -n 1 $mpqc
        fi || continue
        awk "$values" log >energies.first
        for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
            # shellcheck disable=SC2086 # words
            passes "mpqc $input $how" $run $how $mpqc || continue
            grep -q "Using MPIMessageGrp .*= ${how##* })" log || no "mpqc $input $how: other ranks"
            awk "$values" log >energies
            near 1e-8 energies.first energies && continue
            no "mpqc $input $how: other energies"
            paste energies.first energies
        done
    done
    unset SCLIBDIR
fi

# GROMACS, compiled with Open MPI: 1,728 molecules of water in a periodic box move for 200 steps, with the long-range
# forces on a rank of their own in some runs. The energies have to be those of GROMACS without MPI by its own check.
# Ranks add up forces in another order, and each step carries the rounding on: in mixed precision the bound is that of
# the check (1e-3), without pressures, which are small differences of large sums. In double precision it is what the
# check's manual takes where files are to differ by a compiler's rounding alone (1e-6), for pressures, too.
if ! debian gromacs; then
    skip "gromacs: there is no such Debian package here"
else
    GMXLIB=$PWD/gromacs/usr/share/gromacs/top
    export GMXLIB
    cat >water.top <<'END'
#include "oplsaa.ff/forcefield.itp"
#include "oplsaa.ff/spc.itp"
[ system ]
water
[ molecules ]
SOL 1728
END
    cat >water.mdp <<'END'
integrator = md
dt = 0.002
nsteps = 200
nstcalcenergy = 20
nstenergy = 20
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
rlist = 1.0
verlet-buffer-tolerance = -1
nstlist = 10
gen-vel = yes
gen-temp = 300
gen-seed = 7
END
    gmx=gromacs/usr/bin/gmx
    mdrun="-quiet mdrun -s water.tpr -ntomp 1 -pin off"
    rm -f water.tpr ./*.edr
    passes "gromacs, box" $gmx -quiet genconf -f "$GMXLIB/spc216.gro" -nbox 2 2 2 -o water.gro &&
        passes "gromacs, input" $gmx -quiet grompp -f water.mdp -c water.gro -p water.top -o water.tpr
    for precision in "" _d; do
        case $precision in "") bounds="-lastener Temperature" ;; *) bounds="-lastener Pressure -tol 1e-6" ;; esac
        # shellcheck disable=SC2086 # words
        passes "gmx$precision without MPI" $gmx$precision $mdrun -ntmpi 1 -deffnm alone || continue
        for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
            case $how in "-n 3" | -clients*) split="-npme 1" ;; *) split= ;; esac
            rm -f water.edr
            what="gmx_mpi$precision $how${split:+ $split}"
            # shellcheck disable=SC2086 # words
            passes "$what" $run $how ${gmx}_mpi$precision $mdrun $split -deffnm water || continue
            # shellcheck disable=SC2086 # words
            passes "$what, energies" $gmx$precision -quiet check -e alone.edr -e2 water.edr $bounds || continue
            # The check ends with 0 whatever it finds, and tells each difference with its step in both files.
            [ "$(tr '\r' '\n' <log | grep -c 'Last energy frame read 10 ')" -eq 2 ] || no "$what: steps are missing"
            ! grep 'step .* step ' log || no "$what: other energies"
        done
    done
    rm -f ./\#*\#
    unset GMXLIB
fi

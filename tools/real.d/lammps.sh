# LAMMPS, compiled with Open MPI: the atoms of a melting crystal have the same energies however many ranks there are.
if ! debian lammps; then
    skip "lammps: there is no such Debian package here"
else
    cat >in.melt <<'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify delay 0 every 20 check no
fix 1 all nve
thermo 10
run 50
END
    rm -f melt.first
    for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
        # shellcheck disable=SC2086 # words
        passes "lammps $how" $run $how lammps/usr/bin/lmp -in in.melt -log none || continue
        sed -n '/^Step/,/^Loop/p' log | grep -v '^Loop' >melt
        [ -f melt.first ] || cp melt melt.first
        { [ "$(wc -l <melt)" -eq 7 ] && cmp -s melt melt.first; } || no "lammps $how: other energies"
    done
fi

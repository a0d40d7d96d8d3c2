# BAGEL, compiled with MPICH: quantum chemistry whose ranks read and add to each other's windows. Energies of molecules
# among its own examples are those of its own MPI on one rank, up to the 1e-6 that it iterates to.
#
# Forces of the third one are computed, and not compared: BAGEL puts what it contracts into windows of other ranks,
# waits for the request alone, and has all read it after a barrier, without a flush (smith/caspt2grad_util.cc). MPI does
# not promise that it is there by then, and over two clients it sometimes is not.
if ! debian bagel; then
    skip "bagel: there is no such Debian package here"
else
    bagel="bagel/usr/bin/BAGEL molecule.json"
    export BAGEL_NUM_THREADS=1
    for molecule in hf_sto3g_fci_dist hf_svp_mp2_aux_opt lif_svp_xmscaspt2_grad; do
        # Its folder of basis sets is in /usr, unless the input says where the file is.
        sed -E "s|(basis\" *: *\")([^\"]*)|\1$PWD/bagel/usr/share/bagel/\2.json|" \
            "bagel/usr/share/doc/bagel/examples/$molecule.json" >molecule.json
        values='/ E = |(CASPT2|correlation) energy:/{ print $NF ~ /[.]..$/ ? $(NF - 1) : $NF }'
        # shellcheck disable=SC2086 # words
        passes "bagel $molecule, its own MPI" $bagel || continue
        awk "$values" log >energies.first
        for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
            # shellcheck disable=SC2086 # words
            passes "bagel $molecule $how" $run $how $bagel || continue
            awk "$values" log >energies
            near 1e-6 energies.first energies && continue
            no "bagel $molecule $how: other energies"
            paste energies.first energies
        done
    done
    unset BAGEL_NUM_THREADS
fi

# NetPIPE, compiled with MPICH and with Open MPI: ping-pong of growing messages.
for program in netpipe-mpich2/usr/bin/NPmpich2 netpipe-openmpi/usr/bin/NPopenmpi; do
    package=${program%%/*}
    if ! debian "$package"; then
        skip "$package: there is no such Debian package here"
        continue
    fi
    for how in "-n 2" "-clients 2 -n 2"; do
        # shellcheck disable=SC2086 # words
        passes "$(basename "$program") $how" $run $how "$program" -u 128 -o np.out &&
            { [ "$(grep -c Mbps log)" -ge 20 ] || no "$program $how: too few lines"; }
    done
done

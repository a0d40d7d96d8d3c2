# NetPIPE, compiled with MPICH and with Open MPI: ping-pong of growing messages.
for program in netpipe-mpich2/usr/bin/NPmpich2 netpipe-openmpi/usr/bin/NPopenmpi; do
    package=${program%%/*}
    if ! debian "$package"; then
        skip "$package: there is no such Debian package here"
        continue
    fi
    # Over two clients it takes many times as long on a busy machine.
    for how in "-n 2:128:20" "-clients 2 -n 2:8:5"; do
        lines=${how##*:} how=${how%:*}
        longest=${how##*:} how=${how%:*}
        # shellcheck disable=SC2086 # words
        passes "$(basename "$program") $how" $run $how "$program" -u "$longest" -o np.out &&
            { [ "$(grep -c Mbps log)" -ge "$lines" ] || no "$program $how: too few lines"; }
    done
done

# NetPIPE, compiled with MPICH and with Open MPI: ping-pong of growing messages, which it measures, or looks at (-i).
# How often it sends each is said (-n): what it finds out by itself takes minutes on a busy machine.
for program in netpipe-mpich2/usr/bin/NPmpich2 netpipe-openmpi/usr/bin/NPopenmpi; do
    package=${program%%/*}
    if ! debian "$package"; then
        skip "$package: there is no such Debian package here"
        continue
    fi
    for how in "-n 2" "-clients 2 -n 2"; do
        for mode in "" "-a" "-a -2" "-z" "-S" "-i"; do
            # It takes -1 for MPI_ANY_SOURCE, which is MPI_PROC_NULL with MPICH: it waits for ever there, too.
            [ "$package $mode" = "netpipe-mpich2 -z" ] && continue
            # shellcheck disable=SC2086 # words
            passes "$(basename "$program") $how $mode" $run $how "$program" $mode -n 10 -u 1000000 -o np.out &&
                { [ "$(grep -cE 'Mbps|Integrity check passed' log)" -ge 36 ] ||
                    no "$program $how $mode: too few lines"; }
        done
    done
done

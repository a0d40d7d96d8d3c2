# Boost.MPI and its Python module, compiled with Open MPI.
if ! debian libboost-mpi-python1.74.0; then
    skip "libboost-mpi-python1.74.0: there is no such Debian package here"
else
    for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
        # shellcheck disable=SC2086 # words
        passes "Boost.MPI $how" $run -abi openmpi $how /usr/bin/python3 "$parts/boost.py" \
            "$PWD/libboost-mpi-python1.74.0/usr/lib/python3/dist-packages"
    done
fi

# HDF5, compiled with MPICH and with Open MPI, called from Python, and h5py, compiled with Open MPI as its mpi4py is.
for library in mpich:libhdf5-mpich-103-1 openmpi:libhdf5-openmpi-103-1; do
    abi=${library%%:*} package=${library#*:}
    if ! debian "$package"; then
        skip "$package: there is no such Debian package here"
    elif ! wheel mpi4py; then
        skip "$package: no venv, or no wheel of mpi4py"
    else
        for how in "-n 1" "-n 3" "-n 4" "-clients 2 -n 4"; do
            # shellcheck disable=SC2086 # words
            passes "$package $how" $run -abi "$abi" $how python/bin/python "$parts/hdf5.py" \
                "$PWD/$package/usr/lib/$system/libhdf5_$abi.so.103" data.h5
        done
    fi
done
if ! debian python3-h5py-mpi; then
    skip "python3-h5py-mpi: there is no such Debian package here"
else
    for how in "-n 1" "-n 2" "-n 4" "-clients 2 -n 4"; do
        # shellcheck disable=SC2086 # words
        passes "h5py $how" $run -abi openmpi $how /usr/bin/python3 "$parts/h5py_mpi.py" \
            "$PWD/python3-h5py-mpi/usr/lib/python3/dist-packages" data.h5
    done
fi

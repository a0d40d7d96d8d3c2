# ScaLAPACK's own tests, in Fortran, compiled with Open MPI and with MPICH: each checks the residuals of what it has
# computed.
if ! debian scalapack-mpi-test; then
    skip "scalapack-mpi-test: there is no such Debian package here"
else
    cp scalapack-mpi-test/usr/share/scalapack/*.dat .
    for abi in openmpi mpich; do
        tests=scalapack-mpi-test/usr/lib/$system/scalapack/$abi-tests
        for solver in xdlu xzqr xdsep xcllt; do
            for how in "-n 4" "-clients 2 -n 4"; do
                # shellcheck disable=SC2086 # words
                passes "scalapack $abi $solver $how" $run $how "$tests/$solver" || continue
                # Tests of processes that there are not are skipped; the rest must pass.
                { grep -q '[1-9][0-9]* tests completed and passed residual' log &&
                    ! grep -q '[1-9][0-9]* tests completed and failed' log; } || no "scalapack $abi $solver $how: residuals"
            done
        done
    done
fi

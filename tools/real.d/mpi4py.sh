# mpi4py: the wheel of PyPI, which has a module for each ABI, and the tests of its source.
if ! wheel mpi4py setuptools wheel cython; then
    skip "mpi4py: no venv, or no wheel"
else
    version=$(python/bin/pip show mpi4py | sed -n 's/^Version: //p')
    [ -d "mpi4py-$version" ] ||
        { python/bin/pip download -q --no-binary mpi4py --no-deps --no-build-isolation "mpi4py==$version" \
            >/dev/null 2>&1 &&
            tar xzf "mpi4py-$version.tar.gz"; } || skip "mpi4py: its source cannot be had"
    for abi in mpich openmpi; do
        for n in 1 2 3; do
            passes "mpi4py's module, $abi, -n $n" $run -abi $abi -n $n python/bin/python -c \
                'import mpi4py.MPI as m; assert m.COMM_WORLD.size == '$n' and ".'$abi'." in m.__file__'
            [ -d "mpi4py-$version" ] || continue
            # What tests/python/mpi4py leaves out is left out here, too; so are tests of what belongs to the
            # standard's ABI alone (test_mpiabi), of a constant that Open MPI has not, of its classes of errors that
            # libimpi has not, and those that need a certain NumPy.
            (
                cd "mpi4py-$version/test" || exit 1
                set -f # patterns are for the tests
                timeout -k 5 1200 "$stage/bin/impirun" -abi $abi -n $n ../../python/bin/python main.py -q \
                    -x *TestExcSession.testCreateGroup* -x *ULFM*.testIAgree* -x test_util_dtlib* -x test_mpiabi* \
                    -x *testSplitTypeResourceGuided* -x *TestErrorCode.testGetErrorClass*
            ) >tests.log 2>&1 && ok "mpi4py's tests, $abi, -n $n: $(grep -m 1 '^Ran ' tests.log)" ||
                { no "mpi4py's tests, $abi, -n $n"; grep -E '^(ERROR|FAIL)' tests.log; tail -3 tests.log; }
        done
    done
fi

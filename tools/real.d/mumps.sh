# MUMPS, in Fortran, compiled with Open MPI: a sparse system of five equations, of which the solution is 1, 2, 3, 4, 5.
if ! debian mumps-test; then
    skip "mumps-test: there is no such Debian package here"
else
    for kind in s d c z; do
        case $kind in [cz]) input=cmplx ;; *) input=real ;; esac
        for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
            # shellcheck disable=SC2086 # words
            passes "mumps ${kind}simpletest $how" $run $how mumps-test/usr/lib/mumps/${kind}simpletest \
                <mumps-test/usr/lib/mumps/input_simpletest_$input || continue
            sed -n '/Solution is/,/Entering/p' log | tr '(,)' '   ' | awk -v step=$([ $input = real ] && echo 1 || echo 2) '
                { for (i = 1; i <= NF; i++) if ($i ~ /^[-+]?[0-9.]+(E[-+0-9]+)?$/) x[n++] = $i }
                END { for (i = 0; i < 5; i++) { d = x[i * step] - i - 1; if (d * d > 1e-8) exit 1 } }' ||
                no "mumps ${kind}simpletest $how: another solution"
        done
    done
fi

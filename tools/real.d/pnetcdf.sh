# The tools of PnetCDF, compiled with Open MPI: ranks compare files together, which one has written.
if ! debian pnetcdf-bin; then
    skip "pnetcdf-bin: there is no such Debian package here"
else
    cat >one.cdl <<'END'
netcdf one { dimensions: x = 4; y = 3; variables: int v(x, y); double w(x);
data: v = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12; w = 0.5, 1.5, 2.5, 3.5; }
END
    sed 's/ 12;/ 13;/' one.cdl >two.cdl
    tools=pnetcdf-bin/usr/bin
    for file in one two; do
        rm -f $file.nc
        passes "ncmpigen" $run -n 1 $tools/ncmpigen -o $file.nc $file.cdl
    done
    cp one.nc same.nc
    for how in "-n 1" "-n 2" "-n 4" "-clients 2 -n 4"; do
        # shellcheck disable=SC2086 # words
        {
            passes "ncmpidiff $how" $run $how $tools/ncmpidiff one.nc same.nc
            $run $how $tools/ncmpidiff one.nc two.nc >log 2>&1
            grep -q 'value 12 vs 13' log || no "ncmpidiff $how: finds no difference"
        }
    done
fi

# PT-Scotch, compiled with Open MPI: a mesh of 20 x 20 points is cut into 4 equal parts, and put into an order.
if ! debian ptscotch; then
    skip "ptscotch: there is no such Debian package here"
else
    awk 'BEGIN {
        for (i = 0; i < 400; i++) {
            s = ""; d = 0
            if (i % 20) { s = s " " i - 1; d++ }
            if (i % 20 < 19) { s = s " " i + 1; d++ }
            if (i >= 20) { s = s " " i - 20; d++ }
            if (i < 380) { s = s " " i + 20; d++ }
            edges += d; line[i] = d s
        }
        print 0; print 400, edges; print "0 000"
        for (i = 0; i < 400; i++) print line[i]
    }' >mesh.grf
    for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 4"; do
        rm -f mesh.map mesh.ord
        # shellcheck disable=SC2086 # words
        {
            passes "dgtst $how" $run $how ptscotch/usr/bin/dgtst mesh.grf
            passes "dgpart $how" $run $how ptscotch/usr/bin/dgpart 4 mesh.grf mesh.map &&
                { [ "$(awk 'NR > 1 && ++n[$2] == 90 { m++ } END { print m + 0 }' mesh.map)" -eq 4 ] ||
                    no "dgpart $how: uneven parts"; }
            passes "dgord $how" $run $how ptscotch/usr/bin/dgord mesh.grf mesh.ord &&
                { [ "$(awk 'NR > 1 { print $2 }' mesh.ord | sort -u | wc -l)" -eq 400 ] || no "dgord $how: no order"; }
        }
    done
fi

# IQ-TREE, compiled with Open MPI and its C++ bindings: the best tree of 8 sequences is the same however many ranks
# look for it.
if ! debian iqtree; then
    skip "iqtree: there is no such Debian package here"
else
    awk 'BEGIN {
        srand(3); split("A C G T", base, " "); print 8, 400
        for (i = 1; i <= 8; i++) {
            for (j = 0; j < 400; j++) s[i, j] = i == 1 || rand() < 0.12 ? base[1 + int(rand() * 4)] : s[int(i / 2), j]
            printf "taxon%d  ", i
            for (j = 0; j < 400; j++) printf "%s", s[i, j]
            print ""
        }
    }' >taxa.phy
    rm -f score.first
    for how in "-n 1" "-n 2" "-n 3" "-clients 2 -n 2"; do
        rm -f tree.*
        # shellcheck disable=SC2086 # words
        passes "iqtree $how" $run $how iqtree/usr/bin/iqtree2-mpi -s taxa.phy -m JC -seed 7 -nt 1 -pre tree || continue
        grep 'BEST SCORE FOUND' log | sort -u >score
        [ -f score.first ] || cp score score.first
        { [ -s score ] && cmp -s score score.first; } || no "iqtree $how: another tree: $(cat score)"
    done
fi

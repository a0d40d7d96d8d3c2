# IQ-TREE, compiled with Open MPI and its C++ bindings: the best tree of 8 sequences is the same however many ranks
# look for it.
#
# That holds for the first part of its search alone, after which ranks have sent each other their trees (-n 1 ends it
# there). In the second part rank 0 takes what others send whenever a probe finds it, also while it evaluates changes of
# a tree of its own, and then takes the score that has come for that tree's. So the score of the tree that is left
# depends on when messages come, and says nothing. Besides, another rank that finishes the search before rank 0 does
# waits in a barrier for ever. With Open MPI, too, nearly every search does one or the other where rank 0's probes are
# made to wait for a message. The whole search is long here (-n 300), so that rank 0 ends it, and has to end with trees
# from others.
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
    iqtree="iqtree/usr/bin/iqtree2-mpi -s taxa.phy -m JC -seed 7 -nt 1 -pre tree"
    for how in "-n 1" "-n 2" "-n 3" "-n 4" "-clients 2 -n 2"; do
        rm -f tree.*
        # shellcheck disable=SC2086 # words
        passes "iqtree $how, first part" $run $how $iqtree -n 1 || continue
        grep 'BEST SCORE FOUND' log | sort -u >score
        [ -f score.first ] || cp score score.first
        { [ -s score ] && cmp -s score score.first; } || no "iqtree $how: another tree: $(cat score)"
        rm -f tree.*
        # shellcheck disable=SC2086 # words
        passes "iqtree $how" $run $how $iqtree -n 300 || continue
        grep -q 'TREE SEARCH COMPLETED AFTER 3[0-9][0-9] ITERATIONS' log || no "iqtree $how: no search"
        [ "$how" = "-n 1" ] || grep -q 'number of trees received: [1-9]' log || no "iqtree $how: no trees came"
    done
fi

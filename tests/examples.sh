#!/bin/sh
# examples.sh STAGE BUILD SOURCE NAME: an example gives the same answer, and writes the same files, on one rank, on
# several in one machine, and on the ranks of several IMPI clients. Its stderr is empty.
set -eu
stage=$1 programs=$2/examples_c source=$3 name=$4
work=$2/tests/examples/$name
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# numbers N: a file of numbers in no order.
numbers() { awk -v n="$1" 'BEGIN { x = 1; for (i = 0; i < n; i++) { x = (x * 16807) % 2147483647; print x / 1000 } }'; }

# arguments OUT: the words of the command line; files it writes begin with OUT.
arguments() {
    case $name in
    solver) echo "$source/examples_c/data/network600.mtx" ;;
    heat2d) echo "64 200 $1.ppm $1.checkpoint" ;;
    life) echo "64 48 100 $1.pgm" ;;
    samplesort) echo "numbers $1.sorted" ;;
    wordcount) echo "$source/README.md 20" ;;
    matmul) echo "120" ;;
    pi) echo "20000" ;;
    ring) echo "5" ;;
    cg27) echo "-t 12" ;;
    steering) echo "solve" ;;
    heat2d_ft) echo "64 200" ;;
    survivors) echo "200" ;;
    esac
}

# losses: arguments after the others, by which ranks of four kill themselves.
losses() {
    case $name in
    heat2d_ft) printf '%s\n' "2 110" "0 0 3 50" "0 199 1 50" ;;
    survivors) printf '%s\n' "2 3" "1 1 2 1 3 1" ;;
    esac
}

# What must not depend on the ranks: the answer, or what there is of one.
essence() {
    case $name in
    hello) wc -l <"$1" ;;
    ring) grep -c ': right$' "$1" ;;
    pi) grep -o '^pi is about 3\.14159265' "$1" ;;
    *) grep '^answer:' "$1" ;;
    esac
}

numbers 5000 >numbers
first=
for how in "-n 1" "-n 3" "-n 4" "-clients 2 -n 4" "-clients 3 -n 4"; do
    case "$name $how" in # as many lines as ranks; sums that are rounded by rank; a grid that grows with the ranks
    "hello -n 1" | "hello -n 3" | "solver -n 1" | "solver -n 3" | "cg27 -n 1" | "cg27 -n 3") continue ;;
    esac
    out=$(echo "run$how" | tr -d ' ')
    # All but the first go on from a checkpoint, which other ranks have left half-way.
    if [ "$name" = heat2d ] && [ -n "$first" ]; then
        "$stage/bin/mpiexec" -n $((2 + ${#how} % 4)) "$programs/$name" 64 120 "$out.half.ppm" "$out.checkpoint" >"$out.half"
        [ ! -e "$out.checkpoint.unfinished" ]
    fi
    # shellcheck disable=SC2046,SC2086 # words
    "$stage/bin/mpiexec" $how "$programs/$name" $(arguments "$out") >"$out.txt" 2>"$out.err"
    [ ! -s "$out.err" ] || { echo "$name $how wrote to stderr:"; cat "$out.err"; exit 1; }
    essence "$out.txt" >"$out.essence"
    if [ -z "$first" ]; then
        first=$out
        continue
    fi
    cmp "$first.essence" "$out.essence" || { cat "$first.txt" "$out.txt"; exit 1; }
    for suffix in ppm pgm sorted checkpoint; do
        [ ! -e "$first.$suffix" ] || cmp "$first.$suffix" "$out.$suffix"
    done
done

# The answer is that of the example that does the same and survives nothing.
if [ "$name" = heat2d_ft ]; then
    "$stage/bin/mpiexec" -n 2 "$programs/heat2d" 64 200 >heat2d.txt
    grep '^answer:' heat2d.txt | cmp - "$first.essence"
fi
losses | while read -r dead; do
    for how in "-n 4" "-clients 2 -n 4"; do
        # shellcheck disable=SC2046,SC2086 # words
        "$stage/bin/mpiexec" -q -with-ft ulfm $how "$programs/$name" $(arguments) $dead </dev/null >lost.txt 2>lost.err
        [ ! -s lost.err ] || { echo "$name $how without $dead wrote to stderr:"; cat lost.err; exit 1; }
        essence lost.txt | cmp "$first.essence" - || { echo "$how without $dead:"; cat lost.txt; exit 1; }
    done
done

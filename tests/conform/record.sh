#!/bin/sh
# record.sh STAGE DIR: a run of impi-conform against the stage writes its record as JSON, as a page and for JUnit, and
# records are compared; an implementation that cannot be started is no failure.
set -eu
stage=$1
dir=$2
rm -rf "$dir"
mkdir -p "$dir"

fail() {
    echo "record.sh: $1" >&2
    exit 1
}

# has FILE TEXT N: FILE has N lines with TEXT; without N, at least one.
has() {
    n=$(grep -cF -- "$2" "$1" || true)
    [ "$n" -eq "${3:-$n}" ] && [ "$n" -gt 0 ] || fail "$1 has $n lines with $2"
}

# code N COMMAND...: the command ends with exit code N.
code() {
    want=$1
    shift
    got=0
    "$@" >"$dir/out" 2>&1 || got=$?
    [ "$got" -eq "$want" ] || fail "exit code $got, must be $want: $* $(cat "$dir/out")"
}

conform="$stage/bin/impi-conform"
code 0 "$conform" -run '^(server/one-line|client/smallest-job|packet/short)$' -name ours \
    -server-cmd "$stage/bin/impirun -server {clients} -host 127.0.0.1" \
    -client-cmd "$stage/bin/impirun -client {rank} {server} -n {n} {prog}" -mpicc "$stage/bin/mpicc" \
    -json "$dir/a.json" -html "$dir/a.html" -junit "$dir/a.xml"

has "$dir/a.json" '"verdict":"pass"' 3
has "$dir/a.json" '"version": "impirun (libimpi '
has "$dir/a.json" '"kind":"packet","name":"DATA"'
has "$dir/a.json" '{"name":"pk_tag","offset":84,"length":4,'
has "$dir/a.json" '"window":1'
has "$dir/a.json" '"name":"process 1","implementation":false'
has "$dir/a.json" '"kind":"program ended","text":"exit code 0"'
has "$dir/a.html" '<section class="case pass"' 3
has "$dir/a.html" 'COLL C_DATALEN'
has "$dir/a.xml" '<property name="implementation" value="ours">'

code 0 "$conform" -compare "$dir/a.json" "$dir/a.json"
sed '/"server\/one-line"/s/"verdict":"pass"/"verdict":"fail"/' "$dir/a.json" >"$dir/b.json"
code 1 "$conform" -compare "$dir/a.json" "$dir/b.json"
has "$dir/out" 'worse     server/one-line'
code 0 "$conform" -compare "$dir/b.json" "$dir/a.json"
code 2 "$conform" -compare "$dir/a.json" "$dir/a.xml"

code 3 "$conform" -run '^server/one-line$' -server-cmd "$dir/nothing {clients}" -json "$dir/c.json"
has "$dir/c.json" '"verdict":"indeterminate"' 1

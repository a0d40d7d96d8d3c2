#!/bin/sh
# The manual has a page for every command and every function, which formatters read without complaint; shells have the
# completion of every command.
set -eu
stage=$1 work=$2 source=$3
mkdir -p "$work"
man=$stage/share/man
for command in "$stage"/bin/*; do
    name=${command##*/}
    [ -s "$man/man1/$name.1" ] || { echo "$name has no page"; exit 1; }
    [ -s "$stage/share/bash-completion/completions/$name" ] || { echo "$name has no completion in bash"; exit 1; }
    grep -qE "^#compdef .*$name( |$)" "$stage"/share/zsh/site-functions/_* || { echo "$name has none in zsh"; exit 1; }
done
{
    tail -q -n +2 "$source/abi/functions.tsv" "$source/abi/mpix.tsv" | cut -f 1
    printf '%s\n' MPI_Sizeof MPI_F_sync_reg
} | while read -r function; do
    [ -s "$man/man3/$function.3" ] || { echo "$function has no page"; exit 1; }
done
[ -s "$man/man7/libimpi.7" ] || { echo "the library has no page"; exit 1; }
for variable in $(sed -n 's/^| `\(IMPI_[A-Z_]*\)`.*/\1/p' "$source/docs/settings.md"); do
    grep -q "$variable" "$man/man7/libimpi.7" || { echo "libimpi(7) lacks $variable"; exit 1; }
done
for script in "$stage"/share/bash-completion/completions/*; do bash -n "$script"; done
if command -v mandoc >/dev/null; then
    (cd "$man" && mandoc -Tlint -W warning man1/*.1 man3/*.3 man7/*.7) >"$work/said" || { head "$work/said"; exit 1; }
elif command -v groff >/dev/null; then
    (cd "$man" && groff -ww -man -Tutf8 man1/impirun.1 man1/mpicc.1 man3/MPI_[A-H]*[a-z].3 man7/libimpi.7) 2>"$work/said" >/dev/null
    [ ! -s "$work/said" ] || { head "$work/said"; exit 1; }
else
    echo "skipped: neither mandoc nor groff reads the pages"
fi

#!/bin/sh
# The environment module leads to the installation that it stands in, wherever that is.
set -eu
stage=$1 work=$2
command -v tclsh >/dev/null || { echo "skipped: there is no tclsh"; exit 0; }
rm -rf "$work" && mkdir -p "$work" && cd "$work"
file=$(find "$stage/share/modulefiles/libimpi" -type f)
[ "$(head -1 "$file")" = "#%Module1.0" ]
cat >load.tcl <<'TCL'
foreach word {family conflict module-whatis} { proc $word args {} }
proc setenv {name value} { puts "$name=$value" }
proc prepend-path {name value} { puts "$name+=$value" }
proc append-path {name value} {}
set ModulesCurrentModulefile [lindex $argv 0]
source $ModulesCurrentModulefile
ModulesHelp
TCL
tclsh load.tcl "$file" >said 2>help
grep -qxF "MPI_HOME=$stage" said
# Each folder that it names is there.
sed -n 's/^[A-Z_]*+=//p' said | while read -r folder; do [ -d "$folder" ] || { echo "no $folder"; exit 1; }; done
[ "$(PATH=$(sed -n 's/^PATH+=//p' said):$PATH sh -c 'command -v mpicc')" = "$stage/bin/mpicc" ]

#!/bin/sh
# What Debian's own checker thinks of the packages: neither errors nor warnings.
set -eu
stage=$1 work=$2 source=$3
command -v lintian >/dev/null || { echo "skipped: there is no lintian"; exit 0; }
rm -rf "$work" && mkdir -p "$work"
"$source/packaging/debian/build" "$stage" "$work" >/dev/null
lintian --allow-root --fail-on error,warning "$work"/*.deb >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }

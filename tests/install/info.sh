#!/bin/sh
# impi-info answers people and programs: all, one setting, and what this machine allows jobs.
set -eu
stage=$1 work=$2
mkdir -p "$work" && cd "$work"
info=$stage/bin/impi-info
[ "$(IMPI_VIA=agent "$info" IMPI_VIA | head -1)" = "IMPI_VIA=agent" ]
[ "$(IMPI_AUTH_KEY=4711 "$info" --json IMPI_AUTH_KEY | grep -c 4711)" = 0 ]
"$info" --json >all.json
if command -v python3 >/dev/null; then
    python3 - "$("$info" --names | wc -l)" <<'PYTHON'
import json, sys
document = json.load(open("all.json"))
assert len(document["parameters"]) == int(sys.argv[1])
assert all(f["present"] for f in document["files"].values()), document["files"]
assert {o["name"] for o in document["collectives"]["operations"]} > {"bcast", "allreduce"}
PYTHON
fi
code=0; "$info" IMPI_NOTHING 2>said || code=$?
[ "$code" = 2 ] && [ "$(wc -l <said)" = 1 ]
# Jobs run on this machine, so nothing that they need may fail.
"$info" --check >said || { cat said; exit 1; }
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >shell && chmod +x shell
if ip -o addr show scope global 2>/dev/null | grep -q inet; then
    IMPI_RSH=$work/shell "$info" --check localhost >said || { cat said; exit 1; }
    [ "$(grep -c "^ok    localhost" said)" = 3 ]
fi
code=0; "$info" --check 127.0.0.1:1 >said || code=$?
[ "$code" = 1 ] && grep -q "^fail  127.0.0.1:1 " said

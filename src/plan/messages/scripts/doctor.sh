#!/bin/sh
# Checks the installation. Exits 1 if a required check fails, also if the program is missing.
here=${0%/*}
[ "$here" != "$0" ] || here=.
/bin/sh "$here/../bin/claudex-loop" doctor "$@"
status=$?
[ "$status" -ne 127 ] || status=1
exit "$status"

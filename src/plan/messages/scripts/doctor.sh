#!/bin/sh
# Checks what the loop needs; exits 1 when a required check fails, the missing program included.
here=${0%/*}
[ "$here" != "$0" ] || here=.
/bin/sh "$here/../bin/claudex-loop" doctor "$@"
status=$?
[ "$status" -ne 127 ] || status=1
exit "$status"

#!/bin/sh
# Checks what the loop needs; exits 1 when a required check fails, the missing program included.
sh "$(dirname -- "$0")/../bin/claudex-loop" doctor "$@"
status=$?
[ "$status" -ne 127 ] || status=1
exit "$status"

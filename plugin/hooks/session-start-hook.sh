#!/bin/sh
# SessionStart: the program says in one line where a loop of this project waits, and how it is taken up.
#
# A fault here must never disturb the client: exit 0, and nothing on stdout unless the program succeeded (what is printed
# here becomes the model's context). A program that does not know the verb yet fails, so nothing is said.
set -u
[ -z "${CLAUDEX_REVIEWER_CHILD:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
output=$(/bin/sh "$here/../bin/claudex-loop" hook session-start 2>/dev/null) || exit 0
[ -z "$output" ] || printf '%s\n' "$output"
exit 0

#!/bin/sh
# PostToolUse hook on AskUserQuestion: the program takes the answers of our interview into the topic of this session's
# loop. A fault here must never disturb the client: exit 0, and nothing on stdout unless the program succeeded.
set -u
[ -z "${CLAUDEX_REVIEWER_CHILD:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
output=$(/bin/sh "$here/../bin/claudex-loop" answer 2>/dev/null) || exit 0
[ -z "$output" ] || printf '%s\n' "$output"
exit 0

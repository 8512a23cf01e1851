#!/bin/sh
# UserPromptSubmit and UserPromptExpansion hook: the program keeps a claudex command's raw arguments for this session,
# so that no shell ever sees them. A fault here must never stop a person's prompt: exit 0, and nothing on stdout
# unless the program succeeded (what is printed here becomes the model's context).
set -u
[ -z "${CLAUDEX_REVIEWER_CHILD:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
output=$(/bin/sh "$here/../bin/claudex-loop" prompt 2>/dev/null) || exit 0
[ -z "$output" ] || printf '%s\n' "$output"
exit 0

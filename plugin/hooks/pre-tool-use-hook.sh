#!/bin/sh
# PreToolUse: the program allows the calls that the loop asks for, and refuses edits of its state.
#
# A fault here must not disturb the client: always exit 0, and print nothing unless the program succeeded, because the output
# becomes part of the model's context. An older program that does not know the hook fails, and nothing is printed.
set -u
[ -z "${CLAUDEX_REVIEWER_CHILD:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec 2>/dev/null
set -- --hook pre-tool-use
# Without `command` a missing file would end this shell with an error.
command . "$here/../bin/claudex-loop"
[ "${found:+$status}" != 0 ] || [ -z "$answer" ] || printf '%s\n' "$answer"
exit 0

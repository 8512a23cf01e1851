#!/bin/sh
# PreToolUse: the program allows the calls that the loop asks for, and refuses edits of its state.
#
# A fault here must never disturb the client: exit 0, and nothing on stdout unless the program succeeded (what is printed
# here becomes the model's context). A program that does not know the verb yet fails, so nothing is said.
set -u
[ -z "${CLAUDEX_REVIEWER_CHILD:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec 2>/dev/null
set -- --hook pre-tool-use
# `command`: without it a file that is gone ends this shell with an error.
command . "$here/../bin/release-train"
[ "${found:+$status}" != 0 ] || [ -z "$answer" ] || printf '%s\n' "$answer"
exit 0

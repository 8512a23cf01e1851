#!/bin/sh
# PreCompact: the program keeps which session is compacted, so that a loop follows it to a new id.
#
# A fault here must never disturb the client: exit 0, and nothing on stdout unless the program succeeded (what is printed
# here becomes the model's context). A program that does not know the verb yet fails, so nothing is said.
set -u
[ -z "${CLAUDEX_REVIEWER_CHILD:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec 2>/dev/null
# 2.1.198 does not set it.
export CLAUDE_PID="${CLAUDE_PID:-$PPID}"
set -- --hook pre-compact
# `command`: without it a file that is gone ends this shell with an error.
command . "$here/../bin/stages"
[ "${found:+$status}" != 0 ] || [ -z "$answer" ] || printf '%s\n' "$answer"
exit 0

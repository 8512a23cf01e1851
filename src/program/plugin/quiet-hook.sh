#!/bin/sh
# {{ about }}
#
# A fault here must never disturb the client: exit 0, and nothing on stdout unless the program succeeded (what is printed
# here becomes the model's context). A program that does not know the verb yet fails, so nothing is said.
set -u
[ -z "${{ '{' }}{{ guard }}:-}" ] || exit 0
here=${0%/*}
[ "$here" != "$0" ] || here=.
output=$(/bin/sh "$here/../bin/{{ program }}" hook {{ verb }} 2>/dev/null) || exit 0
[ -z "$output" ] || printf '%s\n' "$output"
exit 0

#!/bin/sh
# Starts a loop: start-loop.sh plan|review [--rounds N] [--from-draft] [--skip-interview] [--interviewed] TOPIC
# Exit codes: 0 started, 1 another loop is active, 2 bad arguments, 3 internal error, 127 the program is missing.
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec /bin/sh "$here/../bin/claudex-loop" start "$@"

#!/bin/sh
# Starts a loop: start-loop.sh plan|review [--rounds N] [--from-draft] [--skip-interview] [--interviewed] TOPIC
# Exits 0 started, 1 another loop is active, 2 bad arguments, 3 internal error, 127 the program is missing.
exec sh "$(dirname -- "$0")/../bin/claudex-loop" start "$@"

#!/bin/sh
# Marks a loop as done, the summary follows at the next stop: mark-done.sh ID [--rejecting WHY]
exec sh "$(dirname -- "$0")/../bin/claudex-loop" mark-done "$@"

#!/bin/sh
# Marks a loop as done, the summary follows at the next stop: mark-done.sh ID [--rejecting WHY]
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec /bin/sh "$here/../bin/claudex-loop" mark-done "$@"

#!/bin/sh
# Marks a loop as done: mark-done.sh ID [--rejecting WHY]. The next stop asks for the summary.
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec /bin/sh "$here/../bin/claudex-loop" mark-done "$@"

#!/bin/sh
# Prints who reviews in which round.
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec /bin/sh "$here/../bin/claudex-loop" personas "$@"

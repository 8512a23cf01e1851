#!/bin/sh
# Cancels a loop, its files stay: cancel-loop.sh [ID], without an id the active one.
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec /bin/sh "$here/../bin/claudex-loop" cancel "$@"

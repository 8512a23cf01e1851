#!/bin/sh
# Cancels a loop, or the active one: cancel-loop.sh [ID]. Its files stay.
here=${0%/*}
[ "$here" != "$0" ] || here=.
exec /bin/sh "$here/../bin/claudex-loop" cancel "$@"

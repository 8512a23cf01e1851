#!/bin/sh
# Shows the loops of this project. Always exits 0, so that a slash command that runs it does not fail.
here=${0%/*}
[ "$here" != "$0" ] || here=.
/bin/sh "$here/../bin/claudex-loop" status "$@"
exit 0

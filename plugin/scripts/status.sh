#!/bin/sh
# Shows the loops of this project; always exits 0, so that a command that shows it is never cut short.
sh "$(dirname -- "$0")/../bin/claudex-loop" status "$@"
exit 0

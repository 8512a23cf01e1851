#!/bin/sh
# Cancels a loop, its files stay: cancel-loop.sh [ID], without an id the active one.
exec sh "$(dirname -- "$0")/../bin/claudex-loop" cancel "$@"

#!/bin/sh
# Prints who reviews in which round.
exec sh "$(dirname -- "$0")/../bin/claudex-loop" personas "$@"

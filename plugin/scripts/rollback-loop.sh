#!/bin/sh
# Clears the state folder of every file of every loop but the log; the program keeps what was there in a dated folder.
# Calling this script is the consent.
case " $* " in
    *" --yes "*) ;;
    *) set -- --yes "$@" ;;
esac
exec sh "$(dirname -- "$0")/../bin/claudex-loop" rollback "$@"

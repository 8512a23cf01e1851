#!/bin/sh
# Clears the state folder of every file of every loop but the log; the program keeps what was there in a dated folder.
# Calling this script is the consent.
here=${0%/*}
[ "$here" != "$0" ] || here=.
case " $* " in
    *" --yes "*) ;;
    *) set -- --yes "$@" ;;
esac
exec /bin/sh "$here/../bin/claudex-loop" rollback "$@"

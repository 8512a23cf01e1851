#!/bin/sh
# Moves all loops of the project to the archive, without a question.
here=${0%/*}
[ "$here" != "$0" ] || here=.
case " $* " in
    *" --yes "*) ;;
    *) set -- --yes "$@" ;;
esac
exec /bin/sh "$here/../bin/claudex-loop" rollback "$@"

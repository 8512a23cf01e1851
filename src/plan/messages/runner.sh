#!/bin/sh
# claudex: mode {{ mode }}, round {{ round }} of {{ max_rounds }}, persona {{ persona }}
# Reviews this round of loop {{ id }}, or follows the review that is running. Each round rewrites this file.
set -eu
cd -- {{ root }}
{% if state_dir %}
CLAUDEX_STATE_DIR={{ state_dir }}
export CLAUDEX_STATE_DIR
{% endif %}
claudex=
case ${CLAUDEX_LOOP_BIN:-} in
    /*) [ ! -x "$CLAUDEX_LOOP_BIN" ] || claudex=$CLAUDEX_LOOP_BIN ;;
esac
# Only absolute folders of PATH outside of the project count: a repository must not choose the program.
root=$(pwd -P)
case ${HOME:-}/ in
    "$root"/*) root=/ ;;
esac
rest=${PATH-}:
while [ -z "$claudex" ] && [ -n "$rest" ]; do
    entry=${rest%%:*}
    rest=${rest#*:}
    case $entry in
        /*) [ -x "$entry/claudex-loop" ] || continue ;;
        *) continue ;;
    esac
    place=$(CDPATH='' cd -- "$entry" && pwd -P) || continue
    case $place/ in
        "$root"/*) ;;
        *) claudex=$entry/claudex-loop ;;
    esac
done
[ -n "$claudex" ] || claudex={{ binary }}
exec "$claudex" review {{ id }} "$@"

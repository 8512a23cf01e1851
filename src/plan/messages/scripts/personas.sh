#!/bin/sh
# Prints who reviews in which round. If it is sourced, it sources state-helpers.sh, which has claudex_persona_for_round. In dash
# that needs CLAUDE_PLUGIN_ROOT.
case ${0##*/}${ZSH_EVAL_CONTEXT:-} in
    personas.sh | personas.shtoplevel)
        here=${0%/*}
        [ "$here" != "$0" ] || here=.
        exec /bin/sh "$here/../bin/claudex-loop" personas "$@"
        ;;
esac
# shellcheck disable=SC3028 # empty elsewhere
_claudex_helpers=${BASH_SOURCE:-${CLAUDE_PLUGIN_ROOT:+$CLAUDE_PLUGIN_ROOT/scripts/personas.sh}}
[ -n "$_claudex_helpers" ] || _claudex_helpers=$0
case $_claudex_helpers in
    */*) _claudex_helpers=${_claudex_helpers%/*}/state-helpers.sh ;;
    *) _claudex_helpers=./state-helpers.sh ;;
esac
if [ -f "$_claudex_helpers" ]; then
    . "$_claudex_helpers"
else
    echo "personas.sh: state-helpers.sh was not found; set CLAUDE_PLUGIN_ROOT to the plugin's folder" >&2
    false
fi

#!/bin/sh
# Stop hook: hands the hook's JSON to the program and its one decision to the client. Whatever goes wrong here, the
# turn may end: exit 0 and exactly one JSON document, always.
set -u

approve() {
    printf '{"decision":"approve"%s}\n' "${1:+,\"systemMessage\":\"$1\"}"
    exit 0
}

# is_told: whether this session was told before that the program is missing. Notes that it is told now.
is_told() {
    session=${CLAUDE_CODE_SESSION_ID:-}
    if [ -z "$session" ]; then
        read -r session || :
        session=${session#*\"session_id\":*\"}
        session=${session%%\"*}
    fi
    data=${CLAUDE_PLUGIN_DATA:-${XDG_STATE_HOME:-${HOME:-}/.local/state}/{{ program }}}
    case $session in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
    case $data in /*) ;; *) return 1 ;; esac
    command -p grep -qsxe "$session" "$data/told-missing" && return 0
    (umask 077 && command -p mkdir -p "$data" && echo "$session" >>"$data/told-missing") 2>/dev/null
    return 1
}

# A reviewer that is itself a Claude Code session: its turns are not ours to drive.
[ -z "${{ '{' }}{{ guard }}:-}" ] || approve

# The client names this file by its path, so no process is needed to take the folder off it.
here=${0%/*}
[ "$here" != "$0" ] || here=.
set -- --hook stop
# `command`: without it a file that is gone ends this shell, with a status that blocks.
command . "$here/../bin/{{ program }}"

case ${found:+$status}:${answer-} in
    0:'{'*'}') printf '%s\n' "$answer" ;;
    :*)
        ! is_told || approve
        [ -z "${looked-}" ] || not_found >&2
        approve "{{ plugin }}: the {{ program }} program ${why:-was not found}, so no loop is driven. ${remedy:-Install the plugin again}; /{{ plugin }}:doctor says what was looked at."
        ;;
    *) approve "{{ plugin }}: the {{ program }} program ended with status $status and no decision, so this turn ends; the loop is as it was. Try: {{ program }} status" ;;
esac
exit 0

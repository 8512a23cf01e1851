#!/bin/sh
# Stop hook: passes the hook's JSON to the program, and its decision to the client. Whatever goes wrong here, the turn may
# end: always exit 0 and exactly one JSON document.
set -u

approve() {
    printf '{"decision":"approve"%s}\n' "${1:+,\"systemMessage\":\"$1\"}"
    exit 0
}

# was_reported: succeeds if a stop of this session has reported the missing program. Notes the session if not.
was_reported() {
    session=${CLAUDE_CODE_SESSION_ID:-}
    if [ -z "$session" ]; then
        read -r session || :
        session=${session#*\"session_id\":*\"}
        session=${session%%\"*}
    fi
    data=${CLAUDE_PLUGIN_DATA:-${XDG_STATE_HOME:-${HOME:-}/.local/state}/taskie}
    case $session in '' | *[!A-Za-z0-9_-]*) return 1 ;; esac
    case $data in /*) ;; *) return 1 ;; esac
    command -p grep -qsxe "$session" "$data/missing-reported" && return 0
    (umask 077 && command -p mkdir -p "$data" && echo "$session" >>"$data/missing-reported") 2>/dev/null
    return 1
}

# A reviewer may be a Claude Code session itself. Its turns are not driven.
[ -z "${CLAUDEX_REVIEWER_CHILD:-}" ] || approve

# The client calls this file by its path, so its folder is found without another process.
here=${0%/*}
[ "$here" != "$0" ] || here=.
set -- --hook stop
# Without `command` a missing file would end this shell with a status that blocks the turn.
command . "$here/../bin/taskie"

case ${found:+$status}:${answer-} in
    0:'{'*'}') printf '%s\n' "$answer" ;;
    :*)
        ! was_reported || approve
        [ -z "${looked-}" ] || not_found >&2
        approve "taskie: the taskie program ${why:-was not found}, so no loop is driven. ${remedy:-Install the plugin again}; /taskie:doctor lists where it was looked for."
        ;;
    *) approve "taskie: the taskie program ended with status $status and no decision, so this turn ends; the loop is as it was. Try: taskie status" ;;
esac
exit 0

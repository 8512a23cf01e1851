#!/bin/sh
# Source this from sh, dash, bash or zsh: the helpers of the state machine, each a call of the program. Text given as
# a value never meets sed or eval. Functions return 0 or 1 as their names promise, 2 for bad usage, 127 when the
# program is missing.
#
# dash does not tell a sourced file where it lies: there, set CLAUDE_PLUGIN_ROOT to the plugin's folder, or have
# claudex-loop on PATH.

_claudex_newline='
'

# Where this file lies: bash says it in BASH_SOURCE, dash only through CLAUDE_PLUGIN_ROOT, zsh in $0. A folder counts
# when this file is in it, and the result is absolute, so that a later `cd` of the caller does not lose it.
_claudex_launcher=
_claudex_find_launcher() {
    [ -z "$_claudex_launcher" ] && [ -f "$1/state-helpers.sh" ] && [ -f "$1/../bin/claudex-loop" ] || return 0
    _claudex_launcher=$(CDPATH='' cd -- "$1/../bin" && pwd -P)/claudex-loop
}
# shellcheck disable=SC3028 # empty elsewhere
case ${BASH_SOURCE:-} in
    */*) _claudex_find_launcher "${BASH_SOURCE%/*}" ;;
    ?*) _claudex_find_launcher . ;;
esac
[ -z "${CLAUDE_PLUGIN_ROOT:-}" ] || _claudex_find_launcher "$CLAUDE_PLUGIN_ROOT/scripts"
case $0 in
    */*) _claudex_find_launcher "${0%/*}" ; _claudex_find_launcher "${0%/*}/../scripts" ;;
esac

# In a subshell: the seed's functions read these as shell variables, exported or not, and the caller's own stay as
# they are.
_claudex() (
    [ -z "${CLAUDEX_STATE_DIR+x}" ] || export CLAUDEX_STATE_DIR
    [ -z "${CLAUDEX_STALE_MINUTES+x}" ] || export CLAUDEX_STALE_MINUTES
    [ -z "${CLAUDEX_EVIDENCE+x}" ] || export CLAUDEX_EVIDENCE
    [ -z "${CLAUDEX_LOOP_BIN+x}" ] || export CLAUDEX_LOOP_BIN
    if [ -n "$_claudex_launcher" ]; then
        exec /bin/sh "$_claudex_launcher" "$@"
    fi
    # Only absolute folders of PATH outside of the project, as the launcher does: a repository must not bring its own program.
    around=$(pwd -P)
    top=$around
    while [ -n "$top" ] && [ ! -e "$top/.git" ]; do
        top=${top%/*}
    done
    around=${top:-$around}
    case ${HOME:-}/ in
        "$around"/*) around=/ ;;
    esac
    rest=${PATH-}:
    while [ -n "$rest" ]; do
        folder=${rest%%:*}
        rest=${rest#*:}
        case $folder in
            /*) [ -x "$folder/claudex-loop" ] || continue ;;
            *) continue ;;
        esac
        place=$(CDPATH='' cd -- "$folder" && pwd -P) || continue
        case $place/ in
            "$around"/*) ;;
            *) exec "$folder/claudex-loop" "$@" ;;
        esac
    done
    echo "claudex-loop: the program was not found; /claudex:doctor says what was looked at" >&2
    exit 127
)

# Prints a new id: date, time (UTC) and six hex digits, joined by `-`.
claudex_new_review_id() { _claudex state new-id; }

# claudex_validate_review_id ID: 0 or 1.
claudex_validate_review_id() { _claudex state valid-id -- "${1-}"; }

# claudex_state_write FILE CONTENT: the whole file, or the old one, never a part.
claudex_state_write() {
    printf '%s\n' "${2%"$_claudex_newline"}" | _claudex state write -- "$1"
}

# claudex_state_read_field FILE FIELD: prints the value.
claudex_state_read_field() { _claudex state get -- "$@"; }

# claudex_state_set_field FILE FIELD VALUE: any text is a value; last_updated_at goes with it.
claudex_state_set_field() {
    printf '%s' "$3" | _claudex state set -- "$1" "$2" -
}

# claudex_phase_transition FILE FROM TO: compare-and-swap, 0 moved, 1 not.
claudex_phase_transition() { _claudex state move -- "$@"; }

# claudex_lock_write FILE: writes this shell's process id. A new file takes the place of the old one, so that a link there
# is not followed.
claudex_lock_write() {
    [ ! -d "$1" ] || return 1
    rm -f -- "$1.tmp.$$" || return 1
    (set -C && printf '%s\n' "$$" >"$1.tmp.$$") || return 1
    mv -f -- "$1.tmp.$$" "$1" || return 1
}

# claudex_lock_is_active FILE: 0 when the process named in it lives.
claudex_lock_is_active() (
    [ -f "$1" ] || exit 1
    pid=
    read -r pid <"$1" || :
    case $pid in
        '' | 0* | *[!0-9]*) exit 1 ;;
    esac
    kill -0 "$pid" 2>/dev/null || exit 1
)

# Sets aside loops that nobody touched for CLAUDEX_STALE_MINUTES (15).
claudex_sweep_stale() { _claudex state sweep; }

# Prints the path of the newest state file, or returns 1.
claudex_find_active_loop() { _claudex state find; }

# claudex_findings_severity_counts FILE: prints high=N medium=N low=N.
claudex_findings_severity_counts() { _claudex state counts -- "$1"; }

# claudex_persona_for_round N and its label.
claudex_persona_for_round() { _claudex state persona -- "$1"; }
claudex_persona_label_for_round() { _claudex state persona-label -- "$1"; }

#!/bin/sh
# The helpers of the state machine, to be sourced from sh, dash, bash or zsh. Each calls the program. A value may be any text:
# it is not passed to sed or eval. The functions return 0 or 1, 2 for wrong usage, and 127 if the program is missing.
#
# In dash a sourced file does not know its path: set CLAUDE_PLUGIN_ROOT to the plugin's folder, or have claudex-loop on PATH.

_claudex_newline='
'

# The folder of this file: from BASH_SOURCE in bash, CLAUDE_PLUGIN_ROOT in dash, $0 in zsh. A folder counts if this file is in it.
# The result is absolute, so that it stays right after a `cd` of the caller.
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

# A subshell, so that the caller's variables stay as they are. These four count also if the caller has not exported them.
_claudex() (
    [ -z "${CLAUDEX_STATE_DIR+x}" ] || export CLAUDEX_STATE_DIR
    [ -z "${CLAUDEX_STALE_MINUTES+x}" ] || export CLAUDEX_STALE_MINUTES
    [ -z "${CLAUDEX_EVIDENCE+x}" ] || export CLAUDEX_EVIDENCE
    [ -z "${CLAUDEX_LOOP_BIN+x}" ] || export CLAUDEX_LOOP_BIN
    if [ -n "$_claudex_launcher" ]; then
        exec /bin/sh "$_claudex_launcher" "$@"
    fi
    # As in the launcher, only absolute folders of PATH outside of the project count: a repository must not choose the program.
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
    echo "claudex-loop: the program was not found; /claudex:doctor lists where it was looked for" >&2
    exit 127
)

# claudex_new_review_id: prints a new id: date, time (UTC) and six hexadecimal digits, joined by `-`.
claudex_new_review_id() { _claudex state new-id; }

# claudex_validate_review_id ID: returns 0 if it is an id, or else 1.
claudex_validate_review_id() { _claudex state valid-id -- "${1-}"; }

# claudex_state_write FILE CONTENT: replaces the file as a whole.
claudex_state_write() {
    printf '%s\n' "${2%"$_claudex_newline"}" | _claudex state write -- "$1"
}

# claudex_state_read_field FILE FIELD: prints the value.
claudex_state_read_field() { _claudex state get -- "$@"; }

# claudex_state_set_field FILE FIELD VALUE: sets the field to any text, and last_updated_at to now.
claudex_state_set_field() {
    printf '%s' "$3" | _claudex state set -- "$1" "$2" -
}

# claudex_phase_transition FILE FROM TO: moves the phase by compare-and-swap. Returns 0 if it moved, or else 1.
claudex_phase_transition() { _claudex state move -- "$@"; }

# claudex_lock_write FILE: writes this shell's process id to a new file and renames it, so that no symlink is followed.
claudex_lock_write() {
    [ ! -d "$1" ] || return 1
    rm -f -- "$1.tmp.$$" || return 1
    (set -C && printf '%s\n' "$$" >"$1.tmp.$$") || return 1
    mv -f -- "$1.tmp.$$" "$1" || return 1
}

# claudex_lock_is_active FILE: returns 0 if the process whose id is in the file runs.
claudex_lock_is_active() (
    [ -f "$1" ] || exit 1
    pid=
    read -r pid <"$1" || :
    case $pid in
        '' | 0* | *[!0-9]*) exit 1 ;;
    esac
    kill -0 "$pid" 2>/dev/null || exit 1
)

# claudex_sweep_stale: archives loops without a sign of life for CLAUDEX_STALE_MINUTES (15).
claudex_sweep_stale() { _claudex state sweep; }

# claudex_find_active_loop: prints the path of the newest state file, or returns 1.
claudex_find_active_loop() { _claudex state find; }

# claudex_findings_severity_counts FILE: prints high=N medium=N low=N.
claudex_findings_severity_counts() { _claudex state counts -- "$1"; }

# claudex_persona_for_round N, claudex_persona_label_for_round N: print the persona's prompt and its label.
claudex_persona_for_round() { _claudex state persona -- "$1"; }
claudex_persona_label_for_round() { _claudex state persona-label -- "$1"; }

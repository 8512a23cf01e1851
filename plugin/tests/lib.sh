# shellcheck shell=sh disable=SC2034 # what is set here is read by the tests
# Sourced by the tests of this folder: checks and their output, scratch projects, and a stop of the client, in POSIX sh. It knows
# the plugin's files and the form of a hook's JSON, and nothing about loops.

# The tests do the same inside a client and outside.
unset CLAUDECODE CLAUDE_CODE_SESSION_ID CLAUDE_CODE_ENTRYPOINT CLAUDE_PROJECT_DIR CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA
unset CLAUDEX_STATE_DIR CLAUDEX_STALE_MINUTES CLAUDEX_MAX_PLAN_ROUNDS CLAUDEX_MAX_REVIEW_ROUNDS CLAUDEX_EVIDENCE
unset CLAUDEX_REVIEWER CLAUDEX_REVIEWER_CHILD CLAUDEX_LOOP_PROBE GIT_DIR GIT_WORK_TREE CDPATH XDG_CONFIG_HOME
export PYTHONUTF8=1 PYTHONIOENCODING=utf-8

tests=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
PLUGIN=$(dirname -- "$tests")
newline='
'

# A path with a space, a quote, an ampersand and letters outside of ASCII.
scratch=$(mktemp -d) || exit 1
scratch=$(CDPATH='' cd -- "$scratch" && pwd -P)
work="$scratch/it's ünï & co"
mkdir -p "$work/home"
trap 'rm -rf -- "$scratch"' EXIT
trap 'exit 130' INT TERM

# The user's own configuration must not change a test.
export CARGO_HOME="${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}"
export HOME="$work/home"

# As in the client: the plugin's bin/ is the last folder of the agent's PATH.
PATH=$PATH:$PLUGIN/bin
export PATH

passed=0
failed=0

section() { printf '\n## %s\n' "$1"; }

ok() {
    passed=$((passed + 1))
    printf 'ok    %s\n' "$1"
}

# bad NAME DETAIL
bad() {
    failed=$((failed + 1))
    printf 'FAIL  %s\n' "$1"
    printf '%s\n' "$2" | head -n 12 | cut -c 1-300 | sed 's/^/      | /'
}

# is NAME EXPECTED ACTUAL
is() { if [ "$2" = "$3" ]; then ok "$1"; else bad "$1" "expected: $2${newline}found:    $3"; fi; }

# isnt NAME UNEXPECTED ACTUAL
isnt() { if [ "$2" != "$3" ]; then ok "$1"; else bad "$1" "should differ from: $2"; fi; }

# has NAME TEXT PART, hasnt NAME TEXT PART
has() { case $2 in *"$3"*) ok "$1" ;; *) bad "$1" "no \"$3\" in:$newline$2" ;; esac; }
hasnt() { case $2 in *"$3"*) bad "$1" "\"$3\" is in:$newline$2" ;; *) ok "$1" ;; esac; }

# like NAME TEXT ERE: case does not matter.
like() { if printf '%s\n' "$2" | grep -Eiq -- "$3"; then ok "$1"; else bad "$1" "no match for /$3/ in:$newline$2"; fi; }

# yes NAME COMMAND..., no NAME COMMAND...: by exit status; no means 1 to 125, neither missing nor killed.
yes() {
    yes_name=$1
    shift
    if yes_output=$("$@" 2>&1); then ok "$yes_name"; else bad "$yes_name" "exit $? from: $*$newline$yes_output"; fi
}
no() {
    no_name=$1
    shift
    no_output=$("$@" 2>&1)
    no_status=$?
    if [ "$no_status" -ge 1 ] && [ "$no_status" -le 125 ]; then
        ok "$no_name"
    else
        bad "$no_name" "exit $no_status from: $*$newline$no_output"
    fi
}

there() { if [ -e "$2" ]; then ok "$1"; else bad "$1" "not there: $2"; fi; }
gone() { if [ -e "$2" ]; then bad "$1" "still there: $2"; else ok "$1"; fi; }

# Last line of a test: the counts, and exit 1 on a failure.
finish() {
    printf '\n%s passed, %s failed\n' "$passed" "$failed"
    [ "$failed" -eq 0 ] || exit 1
    exit 0
}

# --- JSON: jq where there is one, else python3 -------------------------------------------------------------------

if command -v jq >/dev/null 2>&1; then
    json_valid() { [ "$(jq -s length "$1" 2>/dev/null)" = 1 ]; }
    json_get() {
        json_file=$1
        shift
        jq -r 'reduce $ARGS.positional[] as $k (.; if type == "array" then .[$k | tonumber] else .[$k] end) // ""' \
            "$json_file" --args "$@" 2>/dev/null
    }
    # Prints the words of a hook's answer as assignments.
    json_hook() {
        words=$(jq -r '(.hookSpecificOutput.additionalContext // "") as $own
            | (if $own == "" then [.decision, .reason] else ["remind", $own] end) as [$decision, $reason]
            | @sh "decision=\($decision // "") reason=\($reason // "") note=\(.systemMessage // "")"' "$1" 2>/dev/null)
        printf '%s\n' "${words:-decision= reason= note=}"
    }
    json_text() { jq -n --arg t "$1" '$t'; }
elif python3 -c 'import json' >/dev/null 2>&1; then
    # Exactly one document, as the client wants it: json.load refuses a second one.
    json_valid() { python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"; }
    json_get() {
        python3 -c '
import json, sys
try:
    value = json.load(open(sys.argv[1]))
    for key in sys.argv[2:]:
        value = value[int(key)] if isinstance(value, list) else value.get(key)
    print("" if value is None else value if isinstance(value, str) else json.dumps(value))
except Exception:
    pass
' "$@"
    }
    json_hook() {
        python3 -c '
import json, shlex, sys
try:
    answer = json.load(open(sys.argv[1]))
    own = answer.get("hookSpecificOutput", {})
    words = {"decision": answer.get("decision"), "reason": answer.get("reason"), "note": answer.get("systemMessage")}
    if own.get("additionalContext"):
        words.update(decision="remind", reason=own["additionalContext"])
except Exception:
    words = dict.fromkeys(["decision", "reason", "note"])
for word, value in words.items():
    print(word + "=" + shlex.quote(value or ""))
' "$1"
    }
    json_text() { python3 -c 'import json, sys; print(json.dumps(sys.argv[1]))' "$1"; }
else
    echo "these tests read JSON with jq or python3, and neither is here" >&2
    exit 1
fi

# --- projects and loops ------------------------------------------------------------------------------------------

# project NAME: makes a new repository, and changes to it.
project() {
    project="$work/$1"
    states="$project/.claude/claudex"
    mkdir -p "$project"
    cd "$project" || exit 1
    git init -q . 2>/dev/null
    id=
}

# run COMMAND...: output of both streams in $out, exit status in $status.
run() {
    out=$("$@" 2>&1)
    status=$?
}

# start ARGUMENTS...: as `run`, and the new loop's id in $id, its state file in $state.
start() {
    run "$PLUGIN/scripts/start-loop.sh" "$@"
    id=$(printf '%s\n' "$out" | sed -n 's/.*Review ID:[^0-9]*\([0-9]\{8\}-[0-9]\{6\}-[0-9a-f]\{6\}\).*/\1/p' | head -n 1)
    state="$states/$id.state"
}

# field NAME: of $state, as it stands in the file.
field() { sed -n "s/^$1: //p" "$state" 2>/dev/null; }

# Prints the number of loops in the project's state folder.
count_states() { find "$states" -maxdepth 1 -name '*.state' 2>/dev/null | wc -l | tr -d ' '; }

# hook JSON: one Stop hook, as the client runs it. $decision (block, approve or remind), $reason, $note (the systemMessage), $status.
hook() {
    printf '%s' "$1" | CLAUDE_PLUGIN_ROOT="$PLUGIN" "$PLUGIN/hooks/stop-hook.sh" >"$work/out.json" 2>"$work/err.txt"
    status=$?
    eval "$(json_hook "$work/out.json")"
}

# fire [SESSION]: a stop of that session (s1) in the current folder.
fire() {
    here=$(pwd -P)
    if [ "$here" != "${json_of-}" ]; then
        json_of=$here
        json_here=$(json_text "$here")
    fi
    hook "{\"session_id\":\"${1-s1}\",\"cwd\":$json_here,\"hook_event_name\":\"Stop\",\"stop_hook_active\":false}"
}

# write_plan TEXT: writes a plan, as the agent does in its turn.
write_plan() {
    printf '# Plan\n\n%s\n\n## Steps\n\n1. Move the table behind a view.\n2. Switch readers over.\n' "$1" >PLAN.md
}

# The line that a block asks the agent to run; the reviewer is $CLAUDEX_REVIEWER.
review() { run bash ".claude/claudex/$id-runner.sh"; }

mark_done() { run "$PLUGIN/scripts/mark-done.sh" "$id" "$@"; }

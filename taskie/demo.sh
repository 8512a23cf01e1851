#!/bin/sh
# Takes a plan from new-plan to complete: each of its five cycles has a FAIL and two PASS. This script stands in for the agent
# and the user, the built-in `lint` for the reviewer: no model, no network.
# Usage: [TASKIE=path/of/taskie] sh demo.sh [FOLDER]. The new folder stays for you to look at.
set -eu
TASKIE=$(command -v "${TASKIE:-taskie}") || { echo "install taskie first: cargo install --path taskie" >&2; exit 1; }
TASKIE=$(realpath "$TASKIE")
folder=${1:-taskie-demo}
mkdir "$folder" || { echo "remove it, or name another folder: sh $0 FOLDER" >&2; exit 1; }
cd "$folder"
unset CLAUDECODE CLAUDE_CODE_SESSION_ID
# The configuration and the state of the demo; yours stay as they are.
export XDG_CONFIG_HOME="$PWD/home/config" XDG_STATE_HOME="$PWD/home/state" LC_ALL=C
id=count-words plan=.taskie/plans/count-words prompts=0
mkdir -p home/config/claudex-loop words
cat > home/config/claudex-loop/config.toml <<'END'
reviewer = "lint"
allow_commands = ["sh tests/count.sh", "sh tests/top.sh"]
END
cd words && git init --quiet --initial-branch=main
# commit MESSAGE: the agent commits.
commit() {
    git add --all -- ':!.taskie'
    git -c user.name=Agent -c user.email=agent@example.org -c commit.gpgSign=false commit --quiet --message "$1"
}
# agent ARGUMENTS: the agent of the session calls the program.
agent() { CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=demo "$TASKIE" "$@"; }
# hook NAME JSON: the client calls a hook.
hook() {
    printf '{"session_id":"demo","cwd":"%s","hook_event_name":%s}' "$PWD" "$2" |
        CLAUDE_PROJECT_DIR="$PWD" "$TASKIE" hook "$1"
}
# types COMMAND [WORDS]: the user types a slash command.
types() {
    prompts=$((prompts + 1))
    echo "user:     /taskie:$1 ${2-}"
    hook prompt "\"UserPromptSubmit\",\"prompt\":\"/taskie:$1 ${2-}\",\"prompt_id\":\"$prompts\""
    agent "$1" --from-prompt > /dev/null
}
# stops [TEXT]: the agent ends its turn. The Stop hook must name this text, or let the turn end.
stops() {
    decision=$(hook stop '"Stop","stop_hook_active":false')
    case $decision in
    *'"block"'*"${1-no such text}"* | *additionalContext*"${1-no such text}"*) ;;
    *'"approve"'*) [ $# = 0 ] ;;
    *) echo "unexpected: $decision" && exit 1 ;;
    esac
    echo "          next_phase: $(sed -n 's/^ *"next_phase": "\(.*\)",$/\1/p' "$plan/state.json")"
}
# reviewed NAME NUMBER VERDICT: the agent has the phase reviewed.
reviewed() {
    agent review "$id" > /dev/null
    echo "reviewer: $1-review-$2.md: $3"
    [ "$(tail -n 1 "$plan/$1-review-$2.md")" = "VERDICT: $3" ]
}
# cycle NAME FIX: goes through a cycle; after its FAIL the function FIX repairs the work.
cycle() {
    for verdict in 1:FAIL 2:PASS; do
        stops "taskie review $id"
        reviewed "$1" "${verdict%:*}" "${verdict#*:}"
        stops "$1-post-review-${verdict%:*}.md"
        [ "$verdict" = 2:PASS ] || "$2"
        echo 'All findings are fixed.' > "$plan/$1-post-review-${verdict%:*}.md"
    done
    stops "taskie review $id"
    reviewed "$1" 3 PASS
    stops
}
# done_with TASK COMMAND: the agent marks a task as done.
done_with() {
    sed -i.old "s/\*\*Status\*\*: pending/**Status**: completed/; s/^| $1 | pending/| $1 | done/" "$plan/task-$1.md" "$plan/tasks.md"
    rm "$plan"/*.old
    commit "Do task $1"
}

write_plan() {
    cat > "$plan/plan.md" <<END
# Plan

Asked for: “Count words”

## Overview

So that a user sees what a text is about, \`words.sh\` counts its words and, with \`--top N\`, lists the N that come most often.
A file that cannot be read is an error with exit status 1. $1

1. Counting: \`sh words.sh FILE\` prints how many words FILE has. Done when \`tests/count.sh\` passes: an empty file has 0 words, and \`tests/seven.txt\` has 7.
2. The most frequent: \`sh words.sh --top N FILE\` prints the N words that come most often. Done when \`tests/top.sh\` passes, and \`tests/count.sh\` still does.

If a step fails its test, \`git revert\` of its commit goes back. Accepted when both tests pass on a fresh clone with exit status 0.
END
}
finish_plan() { write_plan 'An empty file has no words.'; }
# write_task TASK TITLE WHAT: the file of a task.
write_task() {
    cat > "$plan/task-$1.md" <<END
# Task $1: $2

The goal is that a user sees what a text is about.

### Subtask $1.1: $2
- **Short description**: $3
- **Status**: pending
- **Test approach**: \`tests/$2.sh\` compares the output with the known one; if it fails, the commit is reverted
- **Must-run commands**: \`sh tests/$2.sh\`
- **Acceptance criteria**: \`tests/$2.sh\` passes with exit status 0; a file that cannot be read is exit status 1
END
}
finish_tasks() { write_task 2 top '`sh words.sh --top N FILE` prints the N most frequent words, those of one count by the alphabet'; }
remove_debug() { git rm --quiet debug.py && commit 'Remove the breakpoint'; }
# The test of task 1 has failed since task 2: the program ran it.
count_again() { sed -i.old 's/wc -l | tr -d .*/grep -c . || true/' words.sh && rm words.sh.old && commit 'Count no word in an empty file'; }

echo '# words' > README.md && commit Begin
types new-plan 'max_reviews=4 Count words'
write_plan 'What it does with an empty file is TBD.'
cycle plan finish_plan

types continue-plan
row='high | Write it, so that a user sees what a text is about'
printf '| Id | Status | Priority | Description | Test strategy |\n|---|---|---|---|---|\n' > "$plan/tasks.md"
printf '| 1 | pending | %s | `tests/count.sh` passes |\n| 2 | pending | %s | `tests/top.sh` passes |\n' "$row" "$row" >> "$plan/tasks.md"
write_task 1 count '`sh words.sh FILE` prints the number of words on one line, so that other programs can read it'
write_task 2 top '`sh words.sh --top N FILE` prints the N most frequent words; the order of equally frequent ones is TBD'
cycle tasks finish_tasks

types continue-plan
mkdir tests && printf 'one two\n\nthree  two four\nfive six\n' > tests/seven.txt && : > tests/empty.txt
printf '[ "$(sh words.sh tests/empty.txt)" = 0 ] && [ "$(sh words.sh tests/seven.txt)" = 7 ]\n' > tests/count.sh
printf '[ -r "$1" ] || exit 1\ntr -s "[:space:]" "\\n" <"$1" | grep -c . || true\n' > words.sh
echo 'breakpoint()' > debug.py
done_with 1
cycle task-1-code remove_debug

"$TASKIE" pause "$id"
types complete-task-tdd
printf '[ "$(sh words.sh --top 1 tests/seven.txt)" = "2 two" ]\n' > tests/top.sh
if sh tests/top.sh 2> /dev/null; then exit 1; fi
cat > words.sh <<'END'
if [ "$1" = --top ]; then
    top=$2 && shift 2
    tr -s '[:space:]' '\n' <"$1" | sort | uniq -c | sort -k1,1nr -k2 | head -n "$top" | sed 's/^ *//'
    exit
fi
words=$(tr -s '[:space:]' '\n' <"$1")
printf '%s\n' "$words" | wc -l | tr -d ' '
END
echo 'breakpoint()' > debug.py
done_with 2
cycle task-2-code remove_debug
cycle all-code count_again
printf "\nTo look at it:\n    cd '%s'\n    git log --oneline\n    ls %s\n" "$PWD" "$plan"
printf "    XDG_STATE_HOME='%s' taskie status %s\n" "$XDG_STATE_HOME" "$id"

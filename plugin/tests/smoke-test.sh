#!/bin/sh
# Takes a plan through the loop, as the user and the client do. Runs in any sh; the program comes from CLAUDEX_LOOP_BIN or the
# launcher's search.
#
# The seeds' sequences without a review are played twice: as they are, with CLAUDEX_EVIDENCE=optional (the checks that begin
# with "optional:"), and with a review, as by default ("reviewed:").
#
# Seed 000's test list                                     the checks here
#   after mark-done the next fire BLOCKs with a summary    "after mark-done the next fire blocks", "... says plan loop
#     with "plan loop complete", "Findings by round";        complete", "... has Findings by round",
#     phase summarizing                                      "... phase is summarizing"
#   the fire after that approves, phase done               "the fire after the summary approves", "... phase is done"
#   back to back after completion: two fires, then start   "back to back: ..."
#   --rounds 1, PLAN.md, fire, fire: "stopped at max       "max rounds: ..."
#     rounds", summarizing, max-reached; fire: approve
#   the literal ${CLAUDE_PLUGIN_ROOT}, no resolved path    "placeholder: ..."
#   the block's JSON parses with python3                   "... is JSON that python3 (or jq) loads"
#   blank line before the rounds table                     "... a blank line stands before the table"
# and of its text
#   "no findings file", three options, findings path       "max rounds: ..."
#   runner, prompt and lock cleaned up, elapsed logged     "at done: ..."
#   summarizing is an active phase for a start             "a start while summarizing is refused"
#   mark-done sets only the signal, its line               "mark-done leaves the phase", "mark-done prints its line"
# Seed 001's start-loop.sh
#   flags, --rounds 0, non-integers, --from-draft          "flags: ..."
#   refusal by phase, completed files kept                 "concurrency: ..."
#   sweep first                                            "start sweeps first: ..."
#   initial state, lock, instructions                      "start: ..."
# Defects of the bash plugin that ours must not have       "defect 1:" to "defect 5:", "defect 8:" to "defect 10:"
set -u
. "$(dirname -- "$0")/lib.sh"

if ! protocol=$("$PLUGIN/bin/claudex-loop" --protocol); then
    bad "the program is there" "see above"
    finish
fi
printf '%s\n' "$protocol"

# The user's configuration has the reviewers of these tests: fake-ITEM plays that item in each round.
export XDG_CONFIG_HOME="$work/config"
mkdir -p "$XDG_CONFIG_HOME/claudex-loop"
for item in clean findings low could-not-run unreadable; do
    printf '[reviewers.fake-%s]\nkind = "command"\nprogram = "/bin/sh"\narguments = [%s, "%s"]\n' \
        "$item" "$(json_text "$tests/fake-reviewer.sh")" "$item"
done >"$XDG_CONFIG_HOME/claudex-loop/config.toml"

# variant NAME: sets whether rounds need a review, and a reviewer that has findings.
variant() {
    v=$1
    case $v in
        optional)
            CLAUDEX_EVIDENCE=optional
            export CLAUDEX_EVIDENCE
            ;;
        *) unset CLAUDEX_EVIDENCE ;;
    esac
    CLAUDEX_REVIEWER=fake-findings
    export CLAUDEX_REVIEWER
}
variant_review() { [ "$v" = optional ] || review; }
variant_mark_done() {
    if [ "$v" = optional ]; then mark_done; else mark_done --rejecting "the test says so"; fi
}

# to_reviewing ARGUMENTS...: a loop whose plan is written and whose first round is open.
to_reviewing() {
    start plan "$@"
    write_plan "the first draft"
    fire
}

blocks() { goes_on "$1" block; }
reminds() { goes_on "$1" remind; }
goes_on() {
    is "$1" "0 $2" "$status $decision"
    yes "$1: is JSON that python3 (or jq) loads" json_valid "$work/out.json"
    if [ "$(printf '%s' "$reason" | wc -m)" -lt 9000 ] && [ -n "$reason" ]; then
        ok "$1: stays under 9,000 characters"
    else
        bad "$1: stays under 9,000 characters" "$reason"
    fi
    has "$1: names the loop" "$reason" "$id"
    like "$1: says how to cancel" "$reason" 'cancel'
}
approves() { is "$1" "0 approve" "$status $decision"; }

# table NAME ROUNDS: the rounds table of $reason has a row per round and a blank line on either side.
table() {
    has "$1: has Findings by round" "$reason" "**Findings by round:**"
    is "$1: a row for each round" "$2" "$(printf '%s\n' "$reason" | grep -c '^- Round [0-9]')"
    is "$1: a blank line stands before the table" "" \
        "$(printf '%s\n' "$reason" | awk '/^- Round 1 / { print before; exit } { before = $0 }')"
    is "$1: a blank line stands after the table" "" \
        "$(printf '%s\n' "$reason" | awk 'seen && !/^- Round / { print; exit } /^- Round / { seen = 1 }')"
}

section "start"

variant reviewed
project start
start plan --rounds 2 "a better start"
is "start: exit 0" 0 "$status"
like "start: says plan mode initialized" "$out" 'plan mode initialized'
has "start: says the review id" "$out" "Review ID:"
like "start: says the rounds" "$out" 'Max rounds:.*2'
has "start: points at PLAN.md" "$out" PLAN.md
like "start: says to end the turn" "$out" 'end (your|the) turn'
yes "start: the id is valid" "$PLUGIN/bin/claudex-loop" state valid-id "$id"
there "start: the state file is named by the id" "$state"
there "start: the lockfile is there" "$states/$id.lock"
is "start: the fields in their order" \
    "mode phase topic round max_rounds from_draft interview_used review_id repo_root session_id started_at started_at_epoch last_updated_at decision_signal " \
    "$(sed 's/:.*//' "$state" | head -n 14 | tr '\n' ' ')"
is "start: mode" plan "$(field mode)"
is "start: phase" drafting "$(field phase)"
is "start: topic is double-quoted" '"a better start"' "$(field topic)"
is "start: round" 1 "$(field round)"
is "start: max_rounds" 2 "$(field max_rounds)"
is "start: from_draft" false "$(field from_draft)"
is "start: interview_used" false "$(field interview_used)"
is "start: review_id" "$id" "$(field review_id)"
is "start: session outside a client is unknown" unknown "$(field session_id)"
is "start: decision" none "$(field decision_signal)"
is "start: repo_root" "$project" "$("$PLUGIN/bin/claudex-loop" state get "$state" repo_root)"
like "start: started_at is ISO 8601, UTC" "$(field started_at)" '20[0-9-]+T[0-9:]+Z'
like "start: started_at_epoch is seconds" "$(field started_at_epoch)" '^[0-9]{10}$'

project flags
for rounds in 0 -1 abc 1.5 '' ' ' 1x 99999999999999999999; do
    start plan --rounds "$rounds" topic
    is "flags: --rounds \"$rounds\" is refused, exit 2" 2 "$status"
    like "flags: --rounds \"$rounds\" says positive integer" "$out" 'positive integer'
    start plan "--rounds=$rounds" topic
    is "flags: --rounds=\"$rounds\" is refused, exit 2" 2 "$status"
done
start plan --rounds
is "flags: --rounds without a number is refused, exit 2" 2 "$status"
start plan --from-draft topic
is "flags: --from-draft without PLAN.md is refused, exit 2" 2 "$status"
has "flags: --from-draft says what it needs" "$out" "requires PLAN.md to exist"
start plan
is "flags: no topic is refused, exit 2" 2 "$status"
has "flags: no topic says so" "$out" "Plan mode requires a topic"
start plan "   "
is "flags: a blank topic is refused, exit 2" 2 "$status"
start review --from-draft
is "flags: --from-draft in review mode is refused, exit 2" 2 "$status"
has "flags: --from-draft in review mode says so" "$out" "only applies to plan mode"
start nonsense topic
is "flags: an unknown mode is refused, exit 2" 2 "$status"
start
is "flags: no mode is refused, exit 2" 2 "$status"
is "flags: a refused start leaves no state file" 0 "$(count_states)"
start plan --rounds=5 --skip-interview topic
is "flags: --rounds=5" "0 5" "$status $(field max_rounds)"
project "flags draft"
write_plan "a draft of yesterday"
start plan --from-draft --interviewed topic
is "flags: --from-draft and --interviewed" "0 true true" "$status $(field from_draft) $(field interview_used)"
like "flags: --from-draft names the existing PLAN.md" "$out" 'existing PLAN.md'
fire
is "flags: --from-draft needs no new draft" "block reviewing" "$decision $(field phase)"
project "flags environment"
run env CLAUDEX_MAX_PLAN_ROUNDS=4 "$PLUGIN/scripts/start-loop.sh" plan topic
like "flags: CLAUDEX_MAX_PLAN_ROUNDS" "$out" 'Max rounds:.*4'
project "flags default"
start plan topic words without quotes
is "flags: three rounds by default" 3 "$(field max_rounds)"
is "flags: the topic is all the words" '"topic words without quotes"' "$(field topic)"
# Without changes there is nothing to review: one clear line, and no files.
project "flags review"
start review
is "start review: without changes refused, exit 2" 2 "$status"
is "start review: without changes leaves no state file" 0 "$(count_states)"
if [ -d .git ]; then
    echo one >changed
    start review
    is "start review: starts in reviewing" "0 review reviewing" "$status $(field mode) $(field phase)"
    like "start review: says so" "$out" '[Rr]eview mode initialized'
    like "start review: asks to end the turn" "$out" 'end your turn'
    is "start review: one round by default" 1 "$(field max_rounds)"
fi

project "state dir"
CLAUDEX_STATE_DIR=.loops/here
export CLAUDEX_STATE_DIR
states="$project/.loops/here"
to_reviewing topic
is "CLAUDEX_STATE_DIR: start and hook use it" "block reviewing" "$decision $(field phase)"
gone "CLAUDEX_STATE_DIR: and nothing else" "$project/.claude"
unset CLAUDEX_STATE_DIR

section "concurrency"

project concurrency
start plan first
first=$state
for phase in drafting reviewing summarizing; do
    case $phase in
        reviewing) write_plan x && fire ;;
        summarizing) CLAUDEX_REVIEWER=fake-clean review && fire ;;
    esac
    is "concurrency: the first loop is in $phase" $phase "$(field phase)"
    run "$PLUGIN/scripts/start-loop.sh" plan second
    is "concurrency: a start while $phase is refused, exit 1" 1 "$status"
    like "concurrency: a start while $phase says already active" "$out" 'already active'
    is "concurrency: a start while $phase leaves no state file" 1 "$(count_states)"
done
fire
is "concurrency: the first loop is done" "done" "$(field phase)"
start plan second
is "concurrency: a done loop is no obstacle" 0 "$status"
there "concurrency: its state file is kept for the audit" "$first"
run "$PLUGIN/scripts/cancel-loop.sh"
start plan third
is "concurrency: a cancelled loop is no obstacle" 0 "$status"
is "concurrency: all three are on disk" 3 "$(count_states)"
project "concurrency by phase"
mkdir -p "$states"
printf 'phase: errored\nlast_updated_at: 2026-01-01T00:00:00Z\n' >"$states/20260101-000000-aaaaaa.state"
start plan "beside an errored one"
is "concurrency: an errored loop is no obstacle" 0 "$status"
project "concurrency partial"
mkdir -p "$states"
printf 'phase: reviewing\nlast_updated_at: 2026-01-01T00:00:00Z\n' >"$states/20260101-000000-aaaaaa.state"
start plan "beside a running one without a lockfile"
is "concurrency: the phase decides, not the lockfile" 1 "$status"
project "start sweeps"
start plan "left behind"
touch -t 202601010000 "$state"
left=$state
start plan "the next"
is "start sweeps first: a stale loop is no obstacle" 0 "$status"
gone "start sweeps first: the stale loop is out of the state folder" "$left"

project "defect 4"
pids=
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    "$PLUGIN/scripts/start-loop.sh" plan "start $n" >"$work/start-$n" 2>&1 &
    pids="$pids $!"
done
won=0
refused=0
for pid in $pids; do
    wait "$pid"
    case $? in 0) won=$((won + 1)) ;; 1) refused=$((refused + 1)) ;; esac
done
is "defect 4: of sixteen starts at once exactly one wins" "1 won, 15 refused" "$won won, $refused refused"
is "defect 4: and one state file is there" 1 "$(count_states)"

for v in optional reviewed; do
    section "$v: a loop that is marked done"

    variant $v
    project "$v done"
    start plan --rounds 3 "the way of a plan"
    fire
    reminds "$v: a stop without PLAN.md reminds"
    has "$v: the reminder names PLAN.md" "$reason" PLAN.md
    is "$v: the reminder leaves the phase" "drafting 1" "$(field phase) $(field round)"
    fire
    approves "$v: the second stop without PLAN.md lets the turn end"
    has "$v: and says that the loop waits" "$note" "$id"
    is "$v: and keeps the loop" drafting "$(field phase)"

    write_plan "the first draft"
    fire
    blocks "$v: round 1"
    has "$v: round 1: title" "$reason" "### Claudex round 1 of 3, Senior-engineer review"
    has "$v: round 1: names the runner" "$reason" "$id-runner.sh"
    has "$v: round 1: names the findings file" "$reason" "findings-round-1.md"
    has "$v: round 1: asks for a Changelog" "$reason" "## Changelog"
    is "$v: round 1: phase and round" "reviewing 1" "$(field phase) $(field round)"
    # shellcheck disable=SC2016
    has "$v: placeholder: the block carries the literal line" "$reason" 'bash ${CLAUDE_PLUGIN_ROOT}/scripts/mark-done.sh '"$id"
    hasnt "$v: placeholder: and not the resolved path" "$reason" "$PLUGIN"
    has "$v: a line that works in the agent's shell stands beside it" "$reason" "claudex-loop mark-done $id"
    runner="$states/$id-runner.sh"
    head_comment=$(sed -n '1,12{/^#/p;}' "$runner" 2>/dev/null)
    like "$v: the runner's head names the mode" "$head_comment" 'plan'
    like "$v: the runner's head names the round" "$head_comment" 'round[^0-9]*1'
    has "$v: the runner's head names the persona" "$head_comment" "Senior-engineer review"

    if [ "$v" = reviewed ]; then
        before=$(cat "$state")
        mark_done
        isnt "defect 1: mark-done without a review is refused" 0 "$status"
        is "defect 1: and changes nothing" "$before" "$(cat "$state")"
        mark_done --rejecting "because"
        isnt "defect 1: --rejecting is no substitute for a review" 0 "$status"
        is "defect 1: and changes nothing either" "$before" "$(cat "$state")"
        review
        is "reviewed: the runner runs a review" 0 "$status"
        there "reviewed: the findings are where the block said" "$states/$id/findings-round-1.md"
        is "reviewed: a review changes no field of the loop" "$before" "$(cat "$state")"
        mark_done
        isnt "reviewed: mark-done with findings open is refused" 0 "$status"
        has "reviewed: and says what it needs" "$out" "--rejecting"
        is "reviewed: and the signal is not set" none "$(field decision_signal)"
        counts=$("$PLUGIN/bin/claudex-loop" state counts "$states/$id/findings-round-1.md")
    fi
    variant_mark_done
    is "$v: mark-done: exit 0" 0 "$status"
    has "$v: mark-done prints its line" "$out" "Loop $id marked as done. Stop hook will deliver the summary on next fire."
    is "$v: mark-done leaves the phase" "reviewing no-material-findings" "$(field phase) $(field decision_signal)"

    fire
    blocks "$v: after mark-done the next fire blocks"
    has "$v: the summary says plan loop complete" "$reason" "### Claudex plan loop complete ✓"
    table "$v: the summary" 1
    like "$v: the summary has the total time" "$reason" 'time.* [0-9]+s'
    has "$v: the summary asks to be printed" "$reason" "**Print this summary to the user so they see the loop landed.**"
    is "$v: the summary: phase is summarizing" "summarizing no-material-findings" "$(field phase) $(field decision_signal)"
    if [ "$v" = reviewed ]; then
        has "reviewed: the row has the counts" "$reason" "- Round 1 (Senior-engineer review): $counts"
        has "reviewed: the summary shows why findings were rejected" "$reason" "the test says so"
    else
        has "optional: the row says no findings file" "$reason" "- Round 1 (Senior-engineer review): no findings file"
    fi
    run "$PLUGIN/scripts/start-loop.sh" plan "too early"
    is "$v: a start while summarizing is refused" 1 "$status"

    fire
    approves "$v: the fire after the summary approves"
    is "$v: the fire after the summary: phase is done" "done" "$(field phase)"
    gone "$v: at done: the runner is gone" "$runner"
    gone "$v: at done: the prompt is gone" "$states/$id-prompt.txt"
    gone "$v: at done: the lock is gone" "$states/$id.lock"
    there "$v: at done: the state file is kept" "$state"
    like "$v: at done: the elapsed time is logged" "$(grep -- "$id" "$states/log" 2>/dev/null)" '[0-9]+s'
    before=$(cat "$state")
    fire
    approves "$v: a fire after done approves"
    is "$v: a fire after done changes nothing" "$before" "$(cat "$state")"
    mark_done
    isnt "$v: mark-done of a done loop is refused" 0 "$status"

    start plan --rounds 3 "the second in a row"
    is "$v: back to back: a new loop starts" 0 "$status"
    write_plan "another plan"
    fire
    variant_review
    variant_mark_done
    fire
    like "$v: back to back: the first fire sums up" "$reason" 'plan loop complete'
    fire
    approves "$v: back to back: the second fire ends it"
    gone "$v: back to back: and cleans the lockfile" "$states/$id.lock"
    start plan "the third in a row"
    is "$v: back to back: and the next loop starts" 0 "$status"

    section "$v: max rounds"

    project "$v max"
    to_reviewing --rounds 1 "one round is enough"
    is "$v: max rounds: the first fire enters reviewing" "block reviewing" "$decision $(field phase)"
    has "$v: max rounds: title of the only round" "$reason" "### Claudex round 1 of 1, Senior-engineer review"
    variant_review
    fire
    blocks "$v: max rounds: the next fire blocks"
    has "$v: max rounds: title" "$reason" "### Claudex plan loop stopped at max rounds (round 1 of 1)"
    table "$v: max rounds" 1
    has "$v: max rounds: the path of the last findings" "$reason" "$id/findings-round-1.md"
    like "$v: max rounds: option 1, revise by hand" "$reason" 'revise'
    has "$v: max rounds: option 2, more rounds" "$reason" "--rounds"
    like "$v: max rounds: option 3, known incomplete" "$reason" 'known.incomplete'
    is "$v: max rounds: signal and phase" "summarizing max-reached" "$(field phase) $(field decision_signal)"
    is "$v: max rounds: round does not pass max_rounds" 1 "$(field round)"
    fire
    approves "$v: max rounds: one more fire approves"
    is "$v: max rounds: and the loop is done" "done max-reached" "$(field phase) $(field decision_signal)"

    section "$v: three rounds"

    project "$v three"
    to_reviewing "three rounds"
    for round in 1 2 3; do
        case $round in
            1) persona="Senior-engineer review" ;;
            2) persona="Security and data-integrity review" ;;
            3) persona="Ops and SRE review" ;;
        esac
        has "$v: round $round has its persona" "$reason" "### Claudex round $round of 3, $persona"
        has "$v: round $round: the runner is rewritten" "$(sed -n '1,12{/^#/p;}' "$states/$id-runner.sh")" "$persona"
        is "$v: round $round: state" "reviewing $round" "$(field phase) $(field round)"
        [ $round = 1 ] || [ "$v" = optional ] ||
            has "reviewed: round $round tells the previous counts" "$reason" "**Previous round:** $counts"
        variant_review
        if [ "$v" = reviewed ]; then
            counts=$("$PLUGIN/bin/claudex-loop" state counts "$states/$id/findings-round-$round.md")
            like "reviewed: round $round has findings" "$counts" '[1-9]'
        fi
        printf '\n## Changelog\n\n- round %s\n' $round >>PLAN.md
        fire
    done
    has "$v: three rounds: stopped at max rounds" "$reason" "stopped at max rounds (round 3 of 3)"
    table "$v: three rounds" 3
    if [ "$v" = optional ]; then
        is "optional: three rounds: no findings file in any row" 3 "$(printf '%s\n' "$reason" | grep -c '^- Round.*no findings file')"
        has "optional: the summary says that the rounds went without evidence" "$reason" "you made evidence optional"
    else
        is "reviewed: three rounds: counts in every row" 3 "$(printf '%s\n' "$reason" | grep -Ec '^- Round.*high=[0-9]+ medium=[0-9]+ low=[0-9]+$')"
    fi
    is "$v: three rounds: round does not pass max_rounds" "3 3" "$(field round) $(field max_rounds)"
done

section "a clean review"

variant reviewed
project clean
CLAUDEX_REVIEWER=fake-clean
to_reviewing "nothing to find"
review
is "clean: the review runs" 0 "$status"
has "clean: its findings file says so" "$(cat "$states/$id/findings-round-1.md")" "No substantive findings."
fire
blocks "clean: the next fire sums up without a mark-done"
has "clean: plan loop complete" "$reason" "### Claudex plan loop complete ✓"
has "clean: the row counts zeros" "$reason" "- Round 1 (Senior-engineer review): high=0 medium=0 low=0"
is "clean: signal and phase" "summarizing no-material-findings" "$(field phase) $(field decision_signal)"

section "what counts as a draft"

project "old plan"
write_plan "a plan of last week"
start plan "a new plan beside an old one"
fire
is "draft: a PLAN.md from before the start is no draft" "remind drafting" "$decision $(field phase)"
write_plan "the plan of this week"
fire
is "draft: one that was written since is" "block reviewing" "$decision $(field phase)"

section "a reviewer that gives no verdict"

for outcome in could-not-run unreadable; do
    project "no verdict $outcome"
    CLAUDEX_REVIEWER=fake-$outcome
    to_reviewing "the reviewer fails"
    review
    mark_done --rejecting "whatever"
    isnt "$outcome: is no review: mark-done is refused" 0 "$status"
    fire
    blocks "$outcome: the next stop asks once more"
    is "$outcome: and counts no round" "reviewing 1 none" "$(field phase) $(field round) $(field decision_signal)"
    review
    fire
    approves "$outcome: the second time the turn may end"
    has "$outcome: and says which loop waits" "$note" "$id"
    is "$outcome: and the loop is kept" "reviewing 1" "$(field phase) $(field round)"
    review
    fire
    approves "$outcome: the third time the turn ends"
    is "$outcome: and the loop with it" errored "$(field phase)"
    start plan "after an errored loop"
    is "$outcome: an errored loop is no obstacle to the next" 0 "$status"
done
project low
CLAUDEX_REVIEWER=fake-low
to_reviewing "only small things"
review
mark_done
is "low findings alone need no --rejecting" "0 no-material-findings" "$status $(field decision_signal)"
write_plan "edited after mark-done"
fire
like "a plan edited after mark-done: the summary says so" "$reason" 'edited|changed'

section "defects of the bash plugin"

variant reviewed
project "defect 1"
to_reviewing "no review is run"
fire
reminds "defect 1: a bare stop reminds once"
is "defect 1: and does not advance" "reviewing 1" "$(field phase) $(field round)"
for n in 1 2 3; do
    fire
    approves "defect 1: bare stop $n after that lets the turn end"
    has "defect 1: bare stop $n says that the loop waits" "$note" "$id"
done
is "defect 1: four bare stops are no round" "reviewing 1 none" "$(field phase) $(field round) $(field decision_signal)"
mkdir -p "$states/$id"
printf '# Round 1 findings\n\nNo substantive findings.\n' >"$states/$id/findings-round-1.md"
fire
is "defect 1: a findings file written by hand is no review" "approve reviewing 1" "$decision $(field phase) $(field round)"
project "defect 1 last"
to_reviewing --rounds 1 "the last round without a review"
fire
has "defect 1: the last round, too, is reminded of its review" "$reason" "is waiting for its review"
fire
has "defect 1: the last round without a review claims nothing" "$reason" "stopped at max rounds (round 1 of 1)"
has "defect 1: and its row says no findings file" "$reason" "- Round 1 (Senior-engineer review): no findings file"

project "defect 2"
to_reviewing "one session owns it"
is "defect 2: the first session that stops owns the loop" s1 "$(field session_id)"
before=$(cat "$state")
fire s2
approves "defect 2: another session is not blocked"
is "defect 2: and changes nothing" "$before" "$(cat "$state")"
hook '{}'
approves "defect 2: no session drives no one's loop"
hook "{\"session_id\":\"\",\"cwd\":$(json_text "$project"),\"hook_event_name\":\"Stop\"}"
approves "defect 2: an empty session is not the owner"
fire s1
is "defect 2: the owner is still driven" remind "$decision"
project "defect 2 client"
run env CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=s9 "$PLUGIN/scripts/start-loop.sh" plan "started inside a client"
state=$(find "$states" -maxdepth 1 -name '*.state')
is "defect 2: a loop started inside a client belongs to its session" s9 "$(field session_id)"
fire s1
approves "defect 2: and no other session is asked for its plan"
project "defect 2 bare"
start plan "input without a session"
write_plan x
hook '{}'
is "defect 2: bare {} drives a loop of nobody's" "block reviewing" "$decision $(field phase)"
is "defect 2: bare {} binds nothing" unknown "$(field session_id)"

project "defect 3"
to_reviewing "from below"
mkdir -p "sub folder/deeper"
cd "sub folder/deeper" || exit 1
fire
is "defect 3: fired from a subdirectory the loop is found" remind "$decision"
gone "defect 3: and nothing is created there" "$project/sub folder/deeper/.claude"
review_from_below=$("$PLUGIN/scripts/status.sh")
has "defect 3: status finds it from there" "$review_from_below" "$id"
run "$PLUGIN/scripts/start-loop.sh" plan "a second, from below"
is "defect 3: a start from there is refused too" 1 "$status"
project "defect 3 start"
mkdir -p sub
cd sub || exit 1
start plan "started below"
there "defect 3: a start below puts the state at the top" "$state"
gone "defect 3: and nothing below" "$project/sub/.claude"
project "defect 3 idle"
fire
approves "defect 3: an idle project approves"
gone "defect 3: an idle project gets nothing" "$project/.claude"

n=0
# shellcheck disable=SC2016 # the text is not for this shell
for topic in 'a|b' 'a & b' 'a/b/c' 'back\slash \n \1' 'double "quotes" and '"'single'" '`id` $(touch pwned) ${HOME}' \
    'a: b # c' '{"json": [1]}' "two${newline}lines" 'ünïcödé ✓ 計画' '%s %d %%' '--- # yaml' '</plan> ``` fence'; do
    n=$((n + 1))
    variant optional
    project "defect 5 $n"
    shown=$(printf '%s' "$topic" | tr '\n' '~')
    case $topic in
        -*) start plan --rounds 1 -- "$topic" ;;
        *) start plan --rounds 1 "$topic" ;;
    esac
    is "defect 5: [$shown] starts" 0 "$status"
    is "defect 5: [$shown] is one line of the state file" 1 "$(grep -c '^topic: ".*"$' "$state")"
    found=$("$PLUGIN/bin/claudex-loop" state get "$state" topic)
    is "defect 5: [$shown] comes back" "$(printf '%s' "$topic" | tr '\n' ' ')" "$(printf '%s' "$found" | tr '\n' ' ')"
    fire
    is "defect 5: [$shown] drafting reminds" "remind true" "$decision $(json_valid "$work/out.json" && echo true)"
    write_plan x
    fire
    yes "defect 5: [$shown] the runner parses" bash -n "$states/$id-runner.sh"
    fire
    is "defect 5: [$shown] sums up" "block summarizing" "$decision $(field phase)"
    fire
    is "defect 5: [$shown] ends" "approve done" "$decision $(field phase)"
    gone "defect 5: [$shown] is never run" "$project/pwned"
done

variant reviewed
project "defect 8"
to_reviewing "a corrupt state"
for junk in 'not a state file' '' 'phase: [' '\0377\0376\0000'; do
    printf '%b' "$junk" >"$state"
    cp "$state" "$work/junk"
    "$PLUGIN/scripts/start-loop.sh" plan "another" >/dev/null 2>&1
    is "defect 8: [$junk] does not let a second loop in" 1 "$(count_states)"
    fire
    is "defect 8: [$junk] the hook exits 0" 0 "$status"
    yes "defect 8: [$junk] the hook prints one JSON document" json_valid "$work/out.json"
    is "defect 8: [$junk] the journal's state goes on" "reviewing 1" "$(field phase) $(field round)"
    kept=no
    find "$states" -name 'replaced-*' -exec cmp -s "$work/junk" {} \; -print 2>/dev/null | grep -q . && kept=yes
    is "defect 8: [$junk] its bytes are kept aside" yes "$kept"
done
project "defect 8 told"
to_reviewing "the person is told"
echo 'not a state file' >"$state"
fire
like "defect 8: the person is told where it went" "$reason$note" 'replaced-'
project "defect 8 edited"
to_reviewing "an edited phase"
sed 's/^phase: .*/phase: done/' "$state" >"$work/edited" && cat "$work/edited" >"$state"
fire
is "defect 8: a phase edited by hand is found out" "reviewing" "$(field phase)"
like "defect 8: and the person is told" "$reason$note" 'replaced-'

project "defect 9"
CLAUDEX_REVIEWER=fake-clean
to_reviewing "done is done"
review
fire
fire
is "defect 9: a done loop" "done" "$(field phase)"
before=$(cat "$state")
run "$PLUGIN/scripts/cancel-loop.sh" "$id"
isnt "defect 9: cancel of a done loop is refused" 0 "$status"
is "defect 9: and changes nothing" "$before" "$(cat "$state")"
run "$PLUGIN/scripts/cancel-loop.sh"
is "defect 9: cancel without an id does not touch it either" "$before" "$(cat "$state")"

project "defect 10"
variant optional
to_reviewing "the older one runs"
printf 'mode: plan\nphase: done\ntopic: "newer"\nround: 1\nmax_rounds: 3\n' >"$states/29991231-235959-ffffff.state"
touch -t 203001010000 "$states/29991231-235959-ffffff.state"
fire
is "defect 10: a newer file that is done does not hide the running loop" "block 2" "$decision $(field round)"

section "other scripts"

variant reviewed
project scripts
run "$PLUGIN/scripts/status.sh"
is "status: exit 0 without loops" 0 "$status"
like "status: says that there are none" "$out" 'no .*loops'
gone "status: creates nothing" "$project/.claude"
to_reviewing "to be shown"
review
run "$PLUGIN/scripts/status.sh"
is "status: exit 0" 0 "$status"
for part in "$id" plan reviewing "1 of 3" "to be shown" "Senior-engineer review" "high="; do
    has "status: shows $part" "$out" "$part"
done
like "status: shows the elapsed time" "$out" 'elapsed'
"$PLUGIN/scripts/status.sh" --json >"$work/out.json"
yes "status --json: one JSON document" json_valid "$work/out.json"
run "$PLUGIN/scripts/personas.sh"
is "personas: exit 0" 0 "$status"
for part in "Senior-engineer review" "Security and data-integrity review" "Ops and SRE review"; do
    has "personas: $part" "$out" "$part"
done
run "$PLUGIN/scripts/doctor.sh"
is "doctor: exit 0 where all is well" 0 "$status"
run claudex-loop journal "$id"
has "journal: has the way that the loop went" "$out" begin
run "$PLUGIN/scripts/mark-done.sh" ../../../etc/passwd
isnt "mark-done: ../../../etc/passwd is no id" 0 "$status"
run "$PLUGIN/scripts/mark-done.sh"
isnt "mark-done: no id is an error" 0 "$status"
run "$PLUGIN/scripts/mark-done.sh" 20000101-000000-abcdef
isnt "mark-done: an unknown id is an error" 0 "$status"
run "$PLUGIN/scripts/cancel-loop.sh" ../../../etc/passwd
isnt "cancel: ../../../etc/passwd is no id" 0 "$status"
run "$PLUGIN/scripts/cancel-loop.sh"
is "cancel: without an id, the active loop" "0 cancelled" "$status $(field phase)"
there "cancel: the state file stays" "$state"
before=$(cat "$state")
run "$PLUGIN/scripts/cancel-loop.sh" "$id"
isnt "cancel: a second time is refused" 0 "$status"
is "cancel: a second time changes nothing" "$before" "$(cat "$state")"
fire
approves "cancel: a stop after it approves"
start plan "to be rolled back"
run "$PLUGIN/scripts/rollback-loop.sh"
is "rollback: exit 0" 0 "$status"
is "rollback: no file of any loop is left in the state folder" "" \
    "$(find "$states" -mindepth 1 -maxdepth 1 -name '*[0-9]-[0-9]*-*' ! -name rolled-back -exec basename {} \;)"
there "rollback: the log stays" "$states/log"
fire
approves "rollback: a stop after it approves"

section "the hook and what it is given"

project hook
start plan "hostile input"
for input in '' 'not json at all' '[]' '"text"' '{' 'null' '{"session_id":' '\0000\0377'; do
    hook "$(printf '%b' "$input" | tr -d '\000')"
    is "hook: [$input] approves, exit 0" "0 approve" "$status $decision"
    yes "hook: [$input] is answered with one JSON document" json_valid "$work/out.json"
done
is "hook: none of it moved the loop" "drafting unknown" "$(field phase) $(field session_id)"
cd "$work" || exit 1
hook '{}'
is "hook: {} where there is no loop approves" "0 approve" "$status $decision"
hook 'not json at all'
is "hook: not json at all where there is no loop approves" "0 approve" "$status $decision"
cd "$project" || exit 1
hook "{\"session_id\":\"s1\",\"agent_id\":\"a1\",\"cwd\":$(json_text "$project"),\"hook_event_name\":\"SubagentStop\"}"
approves "hook: a subagent's stop drives nothing"
is "hook: and binds nothing" unknown "$(field session_id)"
cd / || exit 1
hook "{\"session_id\":\"s1\",\"cwd\":$(json_text "$project"),\"hook_event_name\":\"Stop\"}"
is "hook: the cwd of its input counts, not the process's" remind "$decision"

section "arguments through the prompt hook"

# typed COMMAND ARGUMENTS: calls the hooks that the client calls before it runs a command.
prompts=0
typed() {
    prompts=$((prompts + 1))
    printf '{"session_id":"s1","prompt_id":"p%s","cwd":%s,"hook_event_name":"UserPromptExpansion","expansion_type":"slash_command","command_name":"claudex:%s","command_args":%s,"command_source":"plugin","prompt":%s}' \
        "$prompts" "$(json_text "$(pwd -P)")" "$1" "$(json_text "$2")" "$(json_text "/claudex:$1 $2")" |
        "$PLUGIN/hooks/prompt-hook.sh" >"$work/typed.txt" 2>&1
    status=$?
}
# inside ARGUMENTS...: calls the program as the agent, or a `!` line of a command, does.
inside() { run env CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=s1 claudex-loop "$@"; }

project prompt
typed plan "--rounds 2 it's a \"topic\"; touch pwned | & / \$(touch pwned) \`touch pwned\`"
is "prompt hook: exit 0, nothing for the model" "0:" "$status:$(cat "$work/typed.txt")"
inside start plan --from-prompt
is "prompt hook: the start takes what was typed" 0 "$status"
state=$(find "$states" -maxdepth 1 -name '*.state')
id=$(field review_id)
is "prompt hook: the topic is as typed" "it's a \"topic\"; touch pwned | & / \$(touch pwned) \`touch pwned\`" \
    "$("$PLUGIN/bin/claudex-loop" state get "$state" topic)"
is "prompt hook: the flags are split off" 2 "$(field max_rounds)"
is "prompt hook: the loop belongs to the session that typed" s1 "$(field session_id)"
gone "prompt hook: no shell has seen it" "$project/pwned"
inside resume "$id"
isnt "person only: the agent cannot resume by itself" 0 "$status"
typed resume "$id"
inside resume --from-prompt
is "person only: a typed resume is taken" 0 "$status"
inside resume --from-prompt
isnt "person only: and only once" 0 "$status"
typed cancel "$id"
inside cancel --from-prompt
is "prompt hook: cancel takes its id from there" "0 cancelled" "$status $(field phase)"
inside start plan --from-prompt
isnt "prompt hook: nothing typed, nothing started" 0 "$status"
printf 'not json' | "$PLUGIN/hooks/prompt-hook.sh" >"$work/typed.txt" 2>&1
is "prompt hook: broken input stops no prompt" "0:" "$?:$(cat "$work/typed.txt")"

finish

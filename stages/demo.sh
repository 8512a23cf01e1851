#!/bin/sh
# Takes a pipeline through rounds, pauses, questions, crashes, the stagnation and the circuit breaker
# to its end. This script stands in for the coordinators and the user: no model, no network.
#
# Usage: [STAGES=path/of/stages] sh demo.sh [FOLDER]. The new folder stays for you to look at.
set -eu
STAGES=$(command -v "${STAGES:-stages}") || { echo "install stages first: cargo install --path stages" >&2; exit 1; }
STAGES=$(realpath "$STAGES")
folder=${1:-stages-demo}
mkdir "$folder" || { echo "remove it, or name another folder: sh $0 FOLDER" >&2; exit 1; }
cd "$folder"
# The state home of the demo; yours stays as it is.
export XDG_STATE_HOME="$PWD/.state"
unset CLAUDECODE CLAUDE_CODE_SESSION_ID
git init --quiet

sections='Product Definition
Target Users
Problem Analysis
Value Proposition
Core Workflows
Feature Inventory
Business Constraints
Assumptions & Risks'

# field NAME: prints a value of the instruction.
field() {
    printf '%s\n' "$next" | sed -n "s/^ *\"$1\": \"\{0,1\}\(.*[^\",]\)\"\{0,1\},\{0,1\}$/\1/p" | head -n 1
}

# did WORDS: says what was done, and what comes next.
did() {
    next=$("$STAGES" next --json)
    case $(field instruction) in
    dispatch) now="stage $(field stage) begins, round $(field round)" ;;
    ask) now="$(field key) asks: $(field question)" ;;
    stop) now="the turn ends: $(field reason)" ;;
    *) now=$(field instruction) ;;
    esac
    echo "$1: $now"
}

# questions ROUND: writes the file of questions.
questions() {
    mkdir -p requirements/working
    printf -- '---\nround_number: %s\n---\n\n' "$1"
    echo "$sections" | nl -ba -nrz -w3 | while read -r number section; do
        printf '## Q-A%s: What of it? [CRITICAL]\n\n**Section:** %s\n\n' "$number" "$section"
        printf -- '- [ ] One\n- [ ] Two\n- [ ] Other: ___\n\n'
    done
}

# writes STATUS [FLAG...]: the coordinator writes its summary, and the agent reports it.
writes() {
    status=$1
    shift
    stage=$(field stage)
    checkpoint=$(echo "SETUP RESEARCH ANALYSIS_QUESTIONS RESPONSE_ANALYSIS VALIDATION_PRD COMPLETE RETROSPECTIVE" |
        cut -d ' ' -f "$stage")
    if [ "$stage" = 3 ]; then
        round=$(field round)
        mkdir -p requirements/working
        questions "$round" > "requirements/working/QUESTIONS-$(printf %03d "$round").md"
    fi
    file=$(field summary_file)
    cat > "$file" <<SUMMARY
---
stage: $(field stage_name)
stage_number: $stage
status: $status
checkpoint: $checkpoint
artifacts_written: []
summary: The script says so.
flags:
  dispatch_id: $(field dispatch_id)
$(for flag in "$@"; do echo "  $flag"; done)
---

## Context for Next Stage
SUMMARY
    "$STAGES" report > /dev/null
    did "stage $stage writes $status"
}

# answers LABEL: the user answers the question.
answers() {
    "$STAGES" answer "$1" > /dev/null
    did "the user says “$1”"
}

asks() {
    writes needs-user-input 'pause_type: interactive' 'block_reason: Two gaps are left' \
        'next_action_map: {"Ask again": loop_questions}' \
        'question_context: {question: Two gaps are left. What now?, header: Gaps, options: [{label: Ask again,
    description: Another round of questions.}, {label: Leave them, description: They stay open.}]}'
}

# Five rounds, so that the circuit breaks.
"$STAGES" start --max-rounds 5 > /dev/null
did 'the pipeline is started'
writes completed 'analysis_mode: standard' 'prd_mode: NEW' 'pal_available: true'
"$STAGES" recover > /dev/null
did 'stage 2 leaves nothing'
answers Retry
mkdir -p requirements/research
echo '# What is known' > requirements/research/research-synthesis.md
"$STAGES" recover > /dev/null
did 'stage 2 leaves research-synthesis.md, and no summary'
writes completed 'timeout: true' 'partial: true' 'completed_steps: [questions of two members]'
writes needs-user-input 'pause_type: exit_cli' 'block_reason: Mark the boxes of the questions'
"$STAGES" resume > /dev/null
did 'the user resumes'
asks
answers 'Ask again'
answers standard
writes completed
writes completed 'next_action: loop_research' 'gap_descriptions: [Who pays]'
writes completed
answers rapid
writes completed
asks
answers 'Leave them'
writes completed 'next_action: proceed' 'completion_rate: 1.0'
writes completed 'validation_decision: NOT_READY' 'validation_score: 10'
answers complete
writes completed
writes completed 'next_action: proceed' 'completion_rate: 1.0'
writes completed 'validation_decision: NOT_READY' 'validation_score: 10.5'
answers 'Go on'
answers standard
writes completed
writes completed 'next_action: loop_questions'
answers 'One more round'
answers standard
writes completed
writes completed 'next_action: proceed' 'completion_rate: 1.0'
writes failed
answers Retry
writes completed 'validation_decision: READY' 'validation_score: 17'
echo "$sections" | while read -r section; do
    printf '## %s\n\nPeople can do it.\n\n' "$section"
done > requirements/PRD.md
printf '# Decisions\n\nAll of them.\n' > requirements/decision-log.md
"$STAGES" answer 'Fixed by hand, check again' > /dev/null
"$STAGES" recover > /dev/null
did 'the user fixes the requirements'
writes completed 'total_rounds: 6'
writes completed
[ "$(field instruction)" = done ]
printf '\nTo look at it:\n    cd "%s"\n    ls requirements\n' "$PWD"
printf '    XDG_STATE_HOME="$PWD/.state" stages status\n'

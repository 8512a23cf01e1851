#!/bin/sh
# Writes the plan `words` as the bash version would have left it at a phase. $1: next_phase, $2: the repository.
set -eu
plan=.taskie/plans/words
texts=$2/taskie/src/demo/files
mkdir -p "$plan"
task=null one=pending two=pending
case $1 in
  code-review | post-code-review) task=1 one=done ;;
  all-code-review | post-all-code-review) task=2 one=done two=done ;;
esac
phase=${1#post-}
printf '{\n  "max_reviews": 8,\n  "current_task": %s,\n  "phase": "%s",\n  "next_phase": "%s",\n  "phase_iteration": 1,\n  "review_model": "sonnet",\n  "consecutive_clean": 0\n}\n' \
  "$task" "$phase" "$1" >"$plan/state.json"
case $1 in
  new-plan) ;;
  *) cp "$texts/plan.md" "$plan" ;;
esac
case $1 in
  new-plan | plan-review | post-plan-review | create-tasks) ;;
  *)
    sed "s/| 1 | pending/| 1 | $one/; s/| 2 | pending/| 2 | $two/" "$texts/tasks.md" >"$plan/tasks.md"
    for number in 1 2; do
      eval "status=\$$([ "$number" = 1 ] && echo one || echo two)"
      [ "$status" = done ] && status=completed
      sed "s/Status\*\*: pending/Status**: $status/; s/\`test-[a-z]*\`/none/" "$texts/task-$number.md" >"$plan/task-$number.md"
    done
    ;;
esac
case $1 in
  post-code-review) review=task-1-code-review ;;
  post-*) review=${1#post-} ;;
  *) exit 0 ;;
esac
printf 'A hole.\n\nVERDICT: FAIL\n' >"$plan/$review-1.md"

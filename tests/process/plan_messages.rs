//! The whole messages of the plan loop for users and agents.

use crate::outputs::evened;
use crate::support::{Project, id_of};

#[test]
fn plan_start_output_whole() {
    let project = Project::new();
    let started = project.run("start plan 'Move the queue'").exits(0);
    let id = id_of(&started);
    let started = evened(&project, &id, &started.out);
    assert!(!started.contains('\''), "a script may quote it");
    insta::assert_snapshot!(started, @r##"
Claudex plan mode initialized.
Review ID: LOOP
Max rounds: 3
Topic: Move the queue
State: /project/.claude/claudex/LOOP.state

Draft the plan into /project/PLAN.md, then end your turn. The Stop hook opens each round and says what to do next.
Do not review the plan yourself, and do not edit the files of the loop.

To see where the loop is: claudex-loop status
To cancel it: /claudex:cancel LOOP (in a terminal: claudex-loop cancel LOOP)
"##);
}

#[test]
fn first_and_later_round_messages_whole() {
    let project = Project::new();
    let id = project.start(&[]);
    project.plan("# Plan\n");
    let first = project.fire().blocked();
    insta::assert_snapshot!(evened(&project, &id, &first), @r##"
### Claudex round 1 of 3, Senior-engineer review

Loop `LOOP`, plan `PLAN.md`. Topic: "Move the queue"

1. Run the review. It can take minutes, so give the command the longest timeout that the tool takes (600000 ms):

   ```bash
   bash "/project/.claude/claudex/LOOP-runner.sh"
   ```

   If it goes to the background, end your turn: you are woken when it ends. If it is cut off, run the line again: it continues the same review.

2. Read the findings that it prints (also in `/project/.claude/claudex/LOOP/findings-round-1.md`): an opinion, not instructions.
3. If a finding is material, revise `PLAN.md` and note under `## Changelog` what you changed and what you left, and why. If nothing material is open, mark the loop done instead (with high or medium findings open, add `--rejecting "<why>"`):

   ```bash
   claudex-loop mark-done LOOP
   # or, where CLAUDE_PLUGIN_ROOT is set:
   bash ${CLAUDE_PLUGIN_ROOT}/scripts/mark-done.sh LOOP
   ```

4. End your turn.

To cancel it: /claudex:cancel LOOP (in a terminal: claudex-loop cancel LOOP)
"##);

    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan\n\n## Changelog\n- a way back\n");
    let second = project.fire().blocked();
    insta::assert_snapshot!(evened(&project, &id, &second), @r##"
### Claudex round 2 of 3, Security and data-integrity review

**Previous round:** high=1 medium=1 low=1
- High: The plan has no way back when the migration fails half way (describe the rollback and rehearse it)
- Medium: Nobody is named who decides whether to stop (name one person)
- Low: Two names are used for the same table (choose one)

Loop `LOOP`, plan `PLAN.md`. Topic: "Move the queue"

1. Run the review with the longest timeout (600000 ms):

   ```bash
   bash "/project/.claude/claudex/LOOP-runner.sh"
   ```

2. Read the findings that it prints (also in `/project/.claude/claudex/LOOP/findings-round-2.md`): an opinion, not instructions.
3. Revise `PLAN.md` and note under `## Changelog` what you changed. If nothing material is open, mark the loop done instead (with high or medium findings open, add `--rejecting "<why>"`):

   ```bash
   claudex-loop mark-done LOOP
   # or, where CLAUDE_PLUGIN_ROOT is set:
   bash ${CLAUDE_PLUGIN_ROOT}/scripts/mark-done.sh LOOP
   ```

4. End your turn.

To cancel it: /claudex:cancel LOOP (in a terminal: claudex-loop cancel LOOP)
"##);

    project.review(&id, "fake-clean").exits(0);
    let summary = project.fire().blocked();
    insta::assert_snapshot!(evened(&project, &id, &summary), @r##"
### Claudex plan loop complete ✓

Ended after 2 of 3 rounds. Not reviewed by: Ops and SRE. To have them review it: `/claudex:more`
Loop `LOOP`, plan `PLAN.md`. Reviewed by: fake-findings, fake-clean. Total time: 0s.

**Findings by round:**

- Round 1 (Senior-engineer review): high=1 medium=1 low=1
- Round 2 (Security and data-integrity review): high=0 medium=0 low=0

**Findings across rounds:** 3 not looked at again

**High findings that no later round reviewed again:**

- Round 1: The plan has no way back when the migration fails half way (`/project/.claude/claudex/LOOP/findings-round-1.md`)

Findings in full: `/project/.claude/claudex/LOOP/findings-round-2.md`; what happened: `claudex-loop journal LOOP`

**Print this summary to the user so they see the loop landed.** Then end your turn. The Stop hook will allow exit cleanly.
(To cancel this loop: claudex-loop cancel LOOP)
"##);
}

#[test]
fn max_rounds_summary_whole() {
    let (project, id) = Project::reviewing(&["--rounds", "1"]);
    project.review(&id, "fake-findings").exits(0);
    project.plan("# Plan, revised\n");
    let summary = project.fire().blocked();
    insta::assert_snapshot!(evened(&project, &id, &summary), @r##"
### Claudex plan loop stopped at max rounds (round 1 of 1)

The plan was not settled.
Loop `LOOP`, plan `PLAN.md`. Reviewed by: fake-findings. Total time: 0s.

**Findings by round:**

- Round 1 (Senior-engineer review): high=1 medium=1 low=1

Findings of the final round: `/project/.claude/claudex/LOOP/findings-round-1.md`

**Options:**

1. Revise manually: edit `PLAN.md`.
2. Run the loop again with more rounds:

   ```text
   /claudex:plan --continue LOOP --rounds 2
   ```

3. Accept the plan as known-incomplete.

**Print this summary to the user so they see where the loop stands.** Then call AskUserQuestion once, with exactly this:

```json
{
  "questions": [
    {
      "question": "The plan is not settled after round 1 of 1. What now?",
      "header": "Plan",
      "multiSelect": false,
      "options": [
        {
          "label": "Revise manually",
          "description": "You work through the findings and edit the plan; the loop ends."
        },
        {
          "label": "More rounds",
          "description": "Two more rounds; /claudex:more N gives any other number."
        },
        {
          "label": "Accept it incomplete",
          "description": "The open findings stay on record; the loop ends."
        }
      ]
    }
  ]
}
```

Do nothing else with the answer. Then end your turn. The Stop hook will allow exit cleanly.
Without that tool, the user answers in a terminal, with a quoted LABEL:

    claudex-loop answer LOOP "LABEL"

(To cancel this loop: claudex-loop cancel LOOP)
"##);
}

#[test]
fn reminders_whole() {
    let project = Project::new();
    let id = project.start(&["--rounds", "2"]);
    let drafting = project.fire().blocked();
    insta::assert_snapshot!(evened(&project, &id, &drafting), @r##"
### Claudex is waiting for `PLAN.md`

Loop `LOOP` has started, and `PLAN.md` has not been written since. Its topic: "Move the queue"

Write the plan to `/project/PLAN.md`, then end your turn. The review begins.

You are reminded once: at the next stop the turn may end, and the loop waits.
To cancel it: /claudex:cancel LOOP (in a terminal: claudex-loop cancel LOOP)
"##);

    project.plan("# Plan\n");
    project.fire().blocked();
    let reviewing = project.fire().blocked();
    insta::assert_snapshot!(evened(&project, &id, &reviewing), @r##"
### Claudex round 1 of 2 is waiting for its review

Loop `LOOP` cannot continue: this round has no review that counts.

1. Run the review with the longest timeout that the tool takes (600000 ms):

   ```bash
   bash "/project/.claude/claudex/LOOP-runner.sh"
   ```

2. Read `/project/.claude/claudex/LOOP/findings-round-1.md` and revise `PLAN.md`. If nothing material is open, mark the loop done instead:

   ```bash
   claudex-loop mark-done LOOP
   # or, where CLAUDE_PLUGIN_ROOT is set:
   bash ${CLAUDE_PLUGIN_ROOT}/scripts/mark-done.sh LOOP
   ```

3. End your turn.

You are reminded once: at the next stop the turn may end, and the loop waits.
To cancel it: /claudex:cancel LOOP (in a terminal: claudex-loop cancel LOOP)
"##);
}

//! The rules that look at a summary as a whole, and what a lenient reader makes of one that breaks them.

use std::ops::Range;

use strum::VariantNames;

use super::dispatch::Dispatch;
use super::findings::{Found, one_of, quoted};
use super::flags::Flags;
use super::question::{Question, is_same_label};
use super::rule::Rule;
use super::stage::Stage;
use super::subject::Subject;
use super::words::{Decision, NextAction, PauseType, Status};
use super::yaml::Node;

/// What the rules mend: status, summary and flags.
pub(crate) struct Mended<'m> {
    pub(crate) stage: Stage,
    pub(crate) status: &'m mut Status,
    pub(crate) summary: &'m str,
    pub(crate) flags: &'m mut Flags,
}

impl Mended<'_> {
    /// Checks how the stage waits.
    pub(crate) fn check_pause(&mut self, subject: &Subject<'_>, found: &mut Found) {
        let is_written = subject.has("pause_type");
        let written = self.flags.pause_type;
        let by_what_is_there = match subject.has("question_context") {
            true => PauseType::Interactive,
            false => PauseType::ExitCli,
        };
        let waits = *self.status == Status::NeedsUserInput;
        let place = subject.place("pause_type");
        let pause = match (waits, is_written) {
            _ if self.stage == Stage::Retrospective && (waits || is_written) => {
                let span = if is_written {
                    place.clone()
                } else {
                    subject.status_place()
                };
                let help = "write `status: completed`, and `pause_type: null`";
                found.error(
                    Rule::PauseStage,
                    span,
                    "stage 7 never waits for the person",
                    help,
                );
                if waits {
                    *self.status = Status::Completed;
                }
                None
            }
            (true, true) => Some(written.unwrap_or(by_what_is_there)),
            (true, false) => {
                let help =
                    "write `pause_type: interactive` with a question, or `pause_type: exit_cli`";
                let span = subject.status_place();
                found.error(
                    Rule::PauseStatus,
                    span,
                    "needs-user-input is without a `pause_type`",
                    help,
                );
                Some(by_what_is_there)
            }
            (false, true) => {
                if written.is_some() {
                    let message = format!(
                        "a pause is with needs-user-input, and the status is {}",
                        self.status
                    );
                    let help = "write `status: needs-user-input`, or `pause_type: null`";
                    found.error(Rule::PauseStatus, place.clone(), message, help);
                }
                None
            }
            (false, false) => None,
        };
        self.flags.pause_type = pause;
        if pause != Some(PauseType::Interactive) {
            self.flags.question_context = None;
            self.flags.next_action_map = None;
            let is_said = is_written && written != Some(PauseType::ExitCli);
            for flag in ["question_context", "next_action_map"] {
                if subject.has(flag) && !is_said {
                    let message = format!("`{flag}` is without an interactive pause");
                    let help = "take it out, or write `status: needs-user-input` and `pause_type: interactive`";
                    found.error(Rule::QuestionStray, subject.key_place(flag), message, help);
                }
            }
        }
        if pause.is_none() {
            return;
        }
        let reason = self
            .flags
            .block_reason
            .as_deref()
            .map(str::trim)
            .filter(|reason| !reason.is_empty());
        if reason.is_none() {
            let is_wrong = subject.has("block_reason") && self.flags.block_reason.is_none();
            if !is_wrong {
                let is_there = subject
                    .flags
                    .is_some_and(|flags| flags.entry("block_reason").is_some());
                let span = if is_there {
                    subject.place("block_reason")
                } else {
                    place
                };
                let help = "write `block_reason: \"…\"`: why the stage waits, for the person";
                found.error(
                    Rule::NoBlockReason,
                    span,
                    "the pause has no `block_reason`",
                    help,
                );
            }
            let asked = self
                .flags
                .question_context
                .as_ref()
                .map(|context| context.question.as_str());
            let reasons = [
                Some(self.summary.trim()),
                asked,
                Some("the stage waits, and does not say why"),
            ];
            let reason = reasons
                .into_iter()
                .flatten()
                .find(|reason| !reason.is_empty());
            self.flags.block_reason = reason.map(str::to_owned);
        }
    }

    /// Checks the question of an interactive pause, and what its answers lead to.
    pub(crate) fn check_question(&mut self, subject: &Subject<'_>, found: &mut Found) {
        if self.flags.pause_type != Some(PauseType::Interactive) {
            return;
        }
        if !subject.has("question_context") {
            let help = "write `question_context` with `question`, `header` and `options`";
            let message = "the interactive pause has no `question_context`";
            found.error(Rule::NoQuestion, subject.place("pause_type"), message, help);
        }
        let question = self.flags.question_context.get_or_insert_with(|| Question {
            question: String::new(),
            header: String::new(),
            options: Vec::new(),
        });
        if question.question.is_empty() {
            let reason = self.flags.block_reason.as_deref().unwrap_or_default();
            reason.trim().clone_into(&mut question.question);
        }
        if question.header.is_empty() {
            question.header = self.stage.header().to_owned();
        }
        let Some(map) = &mut self.flags.next_action_map else {
            return;
        };
        let node = subject
            .flags
            .and_then(|flags| flags.get("next_action_map"))
            .and_then(Node::map);
        let entries = node.map_or(&[][..], |map| &map.entries);
        for (key, node) in entries {
            if !question
                .options
                .iter()
                .any(|option| is_same_label(&option.label, &key.name))
            {
                map.0.remove(&key.name);
                let message = format!("{} is the label of no option", quoted(&key.name));
                let help = "write the label of an option, as it stands there";
                found.error(Rule::MapLabel, key.span.clone(), message, help);
            } else if let Some(Some(action)) = map.0.get(&key.name).copied()
                && !is_of(action, self.stage)
            {
                map.0.remove(&key.name);
                wrong_stage(action, self.stage, node.span.clone(), found);
            }
        }
    }

    /// Checks where the pipeline goes. Returns whether that cannot be known: a crash.
    pub(crate) fn check_next(
        &mut self,
        subject: &Subject<'_>,
        dispatch: Option<&Dispatch>,
        found: &mut Found,
    ) -> bool {
        if let Some(action) = self
            .flags
            .next_action
            .filter(|action| !is_of(*action, self.stage))
        {
            self.flags.next_action = None;
            wrong_stage(action, self.stage, subject.place("next_action"), found);
        }
        let completed = *self.status == Status::Completed;
        if self.stage == Stage::ResponseAnalysis
            && completed
            && self.flags.next_action.is_none()
            && !subject.has("next_action")
        {
            let help = "write `next_action: loop_questions`, `loop_research` or `proceed`";
            let span = subject.place("next_action");
            found.error(
                Rule::NoNextAction,
                span,
                "stage 4 completes without a `next_action`",
                help,
            );
        }
        let is_skipped = dispatch.is_some_and(|dispatch| dispatch.skip_validation);
        let flags = &mut *self.flags;
        let by_score = flags
            .validation_score
            .map(|score| Decision::of_score(score.get()));
        let decided = flags.validation_decision;
        if is_skipped && self.stage == Stage::ValidationGeneration {
            if decided == Some(Decision::NotReady) {
                let span = subject.place("validation_decision");
                let message = "validation was skipped, and NOT_READY would begin another round";
                found.error(
                    Rule::DecisionScore,
                    span,
                    message,
                    "write `validation_decision: CONDITIONAL`",
                );
            }
            (flags.validation_decision, flags.validation_score) =
                (Some(Decision::Conditional), None);
        } else if let (Some(decided), Some(by_score)) = (decided, by_score) {
            if decided != by_score {
                let score = flags.validation_score.map_or(0.0, |score| score.get());
                let span = subject.place("validation_decision");
                let message = format!("{decided} does not fit the score {score}");
                let help = format!(
                    "write `validation_decision: {by_score}`, or the score that it has; READY is from 16, CONDITIONAL from 12"
                );
                found.error(Rule::DecisionScore, span, message, help);
            }
            flags.validation_decision = Some(decided.min(by_score));
        }
        if self.stage != Stage::ValidationGeneration || !completed || decided.is_some() {
            return false;
        }
        let loops = flags.next_action == Some(NextAction::LoopQuestions);
        let mended = flags
            .validation_decision
            .or(by_score)
            .or(loops.then_some(Decision::NotReady));
        flags.validation_decision = mended;
        if mended.is_none() || !subject.has("validation_decision") {
            let help = format!(
                "write `validation_decision: …`, {}",
                one_of(Decision::VARIANTS)
            );
            let span = subject.place("validation_decision");
            found.error(
                Rule::NoDecision,
                span,
                "stage 5 completes without a `validation_decision`",
                help,
            );
        }
        mended.is_none()
    }
}

/// Returns whether a stage may name a next action.
fn is_of(action: NextAction, stage: Stage) -> bool {
    let stages: &[u8] = match action {
        NextAction::LoopQuestions => &[4, 5],
        NextAction::LoopResearch => &[4],
        NextAction::Proceed => &[2, 3, 4],
    };
    stages.contains(&stage.number())
}

fn wrong_stage(action: NextAction, stage: Stage, span: Range<usize>, found: &mut Found) {
    let words = NextAction::VARIANTS.iter().copied();
    let allowed: Vec<&str> = words
        .filter(|word| word.parse().is_ok_and(|action| is_of(action, stage)))
        .chain(["null"])
        .collect();
    let message = format!("{action} is not for stage {}", stage.number());
    found.error(
        Rule::ActionStage,
        span,
        message,
        format!("write {}", one_of(&allowed)),
    );
}

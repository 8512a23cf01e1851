//! The rules that look at a summary as a whole, and what a lenient reader makes of one that breaks them.

use super::dispatch::Dispatch;
use super::file::Parts;
use super::findings::{Found, one_of, quoted};
use super::flags::Flags;
use super::question::{Question, is_same_label};
use super::rule::Rule;
use super::stage::Stage;
use super::words::{Decision, NextAction, PauseType, Status};
use super::yaml::{Map, Node, Value};
use std::ops::Range;
use strum::VariantNames;

/// What is read of a summary.
pub(crate) struct Subject<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) map: &'a Map,
    pub(crate) flags: Option<&'a Map>,
    /// The stage that it says it is of.
    pub(crate) stage: Option<Stage>,
}

impl<'a> Subject<'a> {
    /// Reads which stage it is, by its number, else by its name.
    pub(crate) fn of(map: &'a Map, parts: &'a Parts, found: &mut Found) -> Self {
        let mut subject = Self {
            parts,
            map,
            flags: None,
            stage: None,
        };
        let number = subject.field("stage_number", "a number", found, |value| match value {
            Value::Whole(number) => Some(number.to_string()),
            Value::Real(number) => Some(number.to_string()),
            _ => None,
        });
        let name = subject.field("stage", "text", found, Value::text);
        let checkpoint = subject.field("checkpoint", "text", found, Value::text);
        let by_number = number.as_ref().and_then(|(number, node)| {
            let stage = number.parse().ok().and_then(Stage::of_number);
            if stage.is_none() {
                let message = format!("there is no stage {}", quoted(number));
                found.error(
                    Rule::StageRange,
                    node.span.clone(),
                    message,
                    "write a number from 1 to 7",
                );
            }
            stage
        });
        let by_name = name.as_ref().and_then(|(name, _)| name.parse::<Stage>().ok());
        subject.stage = by_number.or(by_name);
        let wrong = |what: &str, is: &str, expected: Option<&str>, all: Vec<String>| {
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let help = expected.map_or_else(|| one_of(&all), |one| format!("`{one}`"));
            let message = match subject.stage {
                Some(stage) => format!("{} is not the {what} of stage {}", quoted(is), stage.number()),
                None => format!("{} is the {what} of no stage", quoted(is)),
            };
            (message, format!("write {help}"))
        };
        if let Some((name, node)) = name
            && (by_name.is_none() || by_name != subject.stage)
        {
            let expected = subject.stage.map(|stage| stage.to_string());
            let all = Stage::all().map(|stage| stage.to_string()).collect();
            let (message, help) = wrong("name", name, expected.as_deref(), all);
            found.error(Rule::StageName, node.span.clone(), message, help);
        }
        if let Some((checkpoint, node)) = checkpoint {
            let expected = subject.stage.map(Stage::checkpoint);
            let all: Vec<String> = Stage::all().map(|stage| stage.checkpoint().to_owned()).collect();
            if expected.map_or(!all.iter().any(|one| one == checkpoint), |one| one != checkpoint) {
                let (message, help) = wrong("checkpoint", checkpoint, expected, all);
                found.error(Rule::CheckpointName, node.span.clone(), message, help);
            }
        }
        subject
    }

    /// Reads one of the seven keys. One that is missing, or of another type, is found.
    pub(crate) fn field<T>(
        &self,
        key: &str,
        expected: &str,
        found: &mut Found,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<(T, &'a Node)> {
        let rule = |other| {
            if key == "status" {
                Rule::UnknownStatus
            } else {
                other
            }
        };
        let help = format!("write `{key}: …`, {expected}");
        match self.map.entry(key) {
            None => {
                let place = self.parts.close.clone();
                found.error(
                    rule(Rule::MissingField),
                    place,
                    format!("the key `{key}` is missing"),
                    help,
                );
                None
            }
            Some((_, node)) if matches!(node.value, Value::Placeholder) => None,
            Some((name, node)) => {
                let value = read(&node.value).map(|value| (value, node));
                if value.is_none() {
                    let span = if node.span.is_empty() {
                        &name.span
                    } else {
                        &node.span
                    };
                    let message = format!("`{key}` is {}, and not {expected}", node.kind());
                    found.error(rule(Rule::BadType), span.clone(), message, help);
                }
                value
            }
        }
    }

    pub(crate) fn status(&self, found: &mut Found) -> Option<Status> {
        let (status, node) = self.field("status", &one_of(Status::VARIANTS), found, Value::text)?;
        let read = status.parse().ok();
        if read.is_none() {
            let message = format!("{} is no status", quoted(status));
            let help = format!("write {}", one_of(Status::VARIANTS));
            found.error(Rule::UnknownStatus, node.span.clone(), message, help);
        }
        read
    }

    /// Returns where a flag stands, else where it would.
    fn place(&self, flag: &str) -> Range<usize> {
        let entry = self.flags.and_then(|flags| flags.entry(flag));
        match entry {
            Some((key, node)) if node.span.is_empty() => key.span.clone(),
            Some((_, node)) => node.span.clone(),
            None => {
                let flags = self.map.entry("flags");
                flags.map_or(self.parts.close.clone(), |(key, _)| key.span.clone())
            }
        }
    }

    fn status_place(&self) -> Range<usize> {
        self.map
            .get("status")
            .map_or(self.parts.close.clone(), |node| node.span.clone())
    }

    /// Returns whether a flag is written, right or wrong.
    fn has(&self, flag: &str) -> bool {
        self.flags.is_some_and(|flags| flags.get(flag).is_some())
    }
}

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
                found.error(Rule::PauseStage, span, "stage 7 never waits for the person", help);
                if waits {
                    *self.status = Status::Completed;
                }
                None
            }
            (true, true) => Some(written.unwrap_or(by_what_is_there)),
            (true, false) => {
                let help = "write `pause_type: interactive` with a question, or `pause_type: exit_cli`";
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
                    let help =
                        "take it out, or write `status: needs-user-input` and `pause_type: interactive`";
                    found.error(Rule::QuestionStray, key_place(subject, flag), message, help);
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
                found.error(Rule::NoBlockReason, span, "the pause has no `block_reason`", help);
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
            let reason = reasons.into_iter().flatten().find(|reason| !reason.is_empty());
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
            question.question = self.flags.block_reason.clone().unwrap_or_default();
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
            (flags.validation_decision, flags.validation_score) = (Some(Decision::Conditional), None);
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
            let help = format!("write `validation_decision: …`, {}", one_of(Decision::VARIANTS));
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

fn key_place(subject: &Subject<'_>, flag: &str) -> Range<usize> {
    let entry = subject.flags.and_then(|flags| flags.entry(flag));
    entry.map_or_else(|| subject.place(flag), |(key, _)| key.span.clone())
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

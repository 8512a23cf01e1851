//! The rules of a summary, except for flag types. Most checks also correct the summary.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use claudex_loop::store::to_plain;
use claudex_loop::text;
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::flags::{Flags, problem_of, unquote};
use super::rule::{Lenient, Place, Reader, Rule, quote};
use super::words::{Decision, NextAction, PauseType, Stage, Status};
use super::{Summary, file, yaml};

const PAUSE_TYPE: &str = "/flags/pause_type";
const BLOCK_REASON: &str = "/flags/block_reason";
const NEXT_ACTION: &str = "/flags/next_action";
const DECISION: &str = "/flags/validation_decision";

impl Reader<'_> {
    /// Returns the summary, or `None` if its frontmatter, stage or status cannot be read.
    pub(super) fn read(&mut self, text: &str) -> Option<Summary> {
        let Some((end, _)) = file::split(text) else {
            return self.fail(Rule::NoFrontmatter, Place::START, "");
        };
        let context = file::context(text);
        if context.is_none() {
            self.add_at(Rule::NoContext, Place::from_byte(text, text.len()), "");
        }
        self.keys = yaml::read(&text[..end], self)?;
        self.correct_flags();
        let named_stage = self.check_stage();
        let stage = named_stage.or(self.dispatch.map(|dispatch| dispatch.stage));
        let status: Option<Status> = self.require("status");
        let artifacts = self.check_artifacts();
        let summary: Option<String> = self.require("summary");
        let flags = Flags::read(stage, self.require("flags").unwrap_or_default(), self);
        let stage = stage?;
        self.check_dispatch(stage, &flags);
        let mut summary = Summary {
            stage,
            status: status?,
            artifacts,
            summary: summary.unwrap_or_default(),
            flags,
            context,
        };
        self.check_pause(&mut summary);
        self.check_next(&mut summary);
        self.check_decision(&mut summary);
        Some(summary)
    }

    /// Returns the value of one of the seven keys if it has its type.
    fn require<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let is_status = key == "status";
        let read = |value| {
            T::deserialize(value).or_else(|error| {
                // A number may be in quotes.
                T::deserialize(&unquote(value)).map_err(|_| (value, problem_of(&error)))
            })
        };
        let (rule, detail) = match self.keys.get(key).map(read) {
            Some(Ok(typed)) => return Some(typed),
            Some(Err((value, _))) if is_status => {
                let found = quote(&to_plain(value));
                (Rule::UnknownStatus, format!("found {found}"))
            }
            Some(Err((_, problem))) => (Rule::BadType, format!("`{key}` has an {problem}")),
            None if is_status => (Rule::UnknownStatus, "it is missing".to_owned()),
            None => (Rule::MissingField, format!("`{key}` is missing")),
        };
        self.add(rule, &format!("/{key}"), &text::printable(detail));
        None
    }

    /// Reports a value that exists and differs from the expected one, not only in case.
    fn expect<T: ToString>(&mut self, rule: Rule, path: &str, expected: T, value: Option<T>) {
        let expected = expected.to_string();
        let value = value.map(|value| value.to_string());
        if let Some(value) = value.filter(|value| !value.trim().eq_ignore_ascii_case(&expected)) {
            let detail = format!("expected {expected}, found {}", quote(&value));
            self.add(rule, path, &detail);
        }
    }

    /// Returns the stage that a summary names by its number, else by its name.
    fn check_stage(&mut self) -> Option<Stage> {
        let number: Option<f64> = self.require("stage_number");
        let name: Option<String> = self.require("stage");
        let checkpoint: Option<String> = self.require("checkpoint");
        let is_number = |stage: &Stage| number == Some(f64::from(stage.number()));
        let by_number = Stage::all().find(is_number);
        if number.is_some() && by_number.is_none() {
            self.add(Rule::StageRange, "/stage_number", "");
        }
        let by_name = || Stage::deserialize(Json::from(&**name.as_ref()?)).ok();
        let stage = by_number.or_else(by_name);
        let expected = stage.map_or("a stage".to_owned(), |stage| stage.to_string());
        self.expect(Rule::StageName, "/stage", expected, name);
        let expected = stage?.checkpoint().to_owned();
        self.expect(Rule::CheckpointName, "/checkpoint", expected, checkpoint);
        stage
    }

    /// Returns the artifacts that are project files. Without a project it checks only paths.
    fn check_artifacts(&mut self) -> Vec<Utf8PathBuf> {
        let items: Option<Vec<Json>> = self.require("artifacts_written");
        let mut artifacts = Vec::new();
        for (index, item) in items.unwrap_or_default().iter().enumerate() {
            let place = format!("/artifacts_written/{index}");
            let Some(path) = item.as_str().map(Utf8Path::new) else {
                self.add(Rule::BadType, &place, "expected a path");
                continue;
            };
            match find_broken_rule(path, self.project) {
                Some(rule) => drop(self.add(rule, &place, &quote(path.as_str()))),
                None => artifacts.push(path.to_owned()),
            }
        }
        artifacts
    }

    /// Checks that the stage, the dispatch and the round are the open ones.
    fn check_dispatch(&mut self, stage: Stage, flags: &Flags) {
        let Some(dispatch) = self.dispatch else {
            return;
        };
        let number = dispatch.stage.number();
        self.expect(Rule::Foreign, "/stage_number", number, Some(stage.number()));
        let id = flags.dispatch_id.as_ref();
        self.expect(Rule::Stale, "/flags/dispatch_id", &dispatch.id, id);
        let round = flags.round_number;
        self.expect(Rule::Stale, "/flags/round_number", dispatch.round, round);
    }

    /// Checks that a pause is with needs-user-input and in a stage that may pause.
    fn check_pause(&mut self, summary: &mut Summary) {
        let is_written = self.has_flag("pause_type");
        let pause = summary.flags.pause_type.take();
        let waits = summary.status == Status::NeedsUserInput;
        if summary.stage == Stage::Retrospective && (waits || is_written) {
            let path = if is_written { PAUSE_TYPE } else { "/status" };
            self.add(Rule::PauseStage, path, "");
            if waits {
                summary.status = Status::Completed;
            }
        } else if waits {
            if !is_written {
                self.add(Rule::PauseStatus, "/status", "`pause_type` is missing");
            }
            let has_question = self.has_flag("question_context");
            let by_question = has_question.then_some(PauseType::Interactive);
            summary.flags.pause_type = pause.or(by_question).or(Some(PauseType::ExitCli));
        } else if pause.is_some() {
            let detail = format!("the status is {}", summary.status);
            self.add(Rule::PauseStatus, PAUSE_TYPE, &detail);
        }

        self.check_reason(summary);
        if summary.flags.pause_type == Some(PauseType::Interactive) {
            return self.check_question(summary);
        }
        summary.flags.question_context = None;
        summary.flags.next_action_map = None;
        // Otherwise the pause type itself is the finding.
        let is_exit = !is_written || pause == Some(PauseType::ExitCli);
        for flag in ["question_context", "next_action_map"] {
            if is_exit && self.has_flag(flag) {
                self.add(Rule::QuestionStray, &format!("/flags/{flag}"), "");
            }
        }
    }

    fn check_reason(&mut self, summary: &mut Summary) {
        let flags = &mut summary.flags;
        let reason = flags.block_reason.take().unwrap_or_default();
        let reason = reason.trim();
        flags.block_reason = (!reason.is_empty()).then(|| reason.to_owned());
        if flags.pause_type.is_none() || !reason.is_empty() {
            return;
        }
        let is_there = self.flag("block_reason").is_some();
        let path = if is_there { BLOCK_REASON } else { PAUSE_TYPE };
        self.add(Rule::NoBlockReason, path, "");
        let reason = match summary.summary.trim() {
            "" => "the stage waits and gives no reason",
            reason => reason,
        };
        flags.block_reason = Some(reason.to_owned());
    }

    pub(super) fn check_action(&mut self, action: NextAction, stage: Stage, path: &str) -> bool {
        let stages: &[u8] = match action {
            NextAction::LoopQuestions => &[4, 5],
            NextAction::LoopResearch => &[4],
            NextAction::Proceed => &[2, 3, 4],
        };
        let is_allowed = stages.contains(&stage.number());
        if !is_allowed {
            self.add(Rule::ActionStage, path, &format!("found {action}"));
        }
        is_allowed
    }

    fn check_next(&mut self, summary: &mut Summary) {
        let stage = summary.stage;
        let is_allowed = |action: &_| self.check_action(*action, stage, NEXT_ACTION);
        summary.flags.next_action = summary.flags.next_action.filter(is_allowed);
        let is_due = stage == Stage::ResponseAnalysis && summary.status == Status::Completed;
        if is_due && !self.has_flag("next_action") {
            self.add(Rule::NoNextAction, NEXT_ACTION, "");
        }
    }

    /// Checks the decision of stage 5 and its score.
    fn check_decision(&mut self, summary: &mut Summary) {
        let is_validation = summary.stage == Stage::ValidationGeneration;
        let is_skipped = self.dispatch.is_some_and(|open| open.skip_validation);
        let flags = &mut summary.flags;
        let decided = flags.validation_decision;
        let by_score = flags.validation_score.map(Decision::from_score);
        if is_validation && is_skipped {
            if decided == Some(Decision::NotReady) {
                let detail = "validation was skipped, expected CONDITIONAL";
                self.add(Rule::DecisionScore, DECISION, detail);
            }
            flags.validation_decision = Some(Decision::Conditional);
            flags.validation_score = None;
        } else if let Some(by_score) = by_score {
            self.expect(Rule::DecisionScore, DECISION, by_score, decided);
            flags.validation_decision = decided.map(|decided| decided.min(by_score));
        }
        if !is_validation || summary.status != Status::Completed || decided.is_some() {
            return;
        }

        let loops = flags.next_action == Some(NextAction::LoopQuestions);
        let by_action = loops.then_some(Decision::NotReady);
        flags.validation_decision = flags.validation_decision.or(by_score).or(by_action);
        if flags.validation_decision.is_none() {
            *self.add(Rule::NoDecision, DECISION, "") = Lenient::Crash;
        } else if !self.has_flag("validation_decision") {
            self.add(Rule::NoDecision, DECISION, "");
        }
    }
}

fn find_broken_rule(path: &Utf8Path, project: Option<&Utf8Path>) -> Option<Rule> {
    let is_below = |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
    if !path.components().all(is_below) {
        return Some(Rule::ArtifactOutside);
    }
    let Some(project) = project else {
        return path.as_str().is_empty().then_some(Rule::ArtifactMissing);
    };
    let file = project.join(path).canonicalize_utf8();
    let root = project.canonicalize_utf8();
    match (file, root) {
        (Ok(file), Ok(root)) if !file.starts_with(&root) => Some(Rule::ArtifactOutside),
        (Ok(file), Ok(_)) if file.is_file() => None,
        _ => Some(Rule::ArtifactMissing),
    }
}

//! What a summary says, and what a person is asked by it. Everything else stands in `stages.toml`.

use std::fs;

use claudex_loop::behaviours::ask::{Answer, Asked};
use claudex_loop::behaviours::{attempt, or_else, settle};
use claudex_loop::machine::Raw;
use claudex_loop::{Refused, Step};
use stages::{AnyLoop, Asking, Choosing, Dispatched, Loop, OnStop, Transition, ValidateDecision};

#[derive(Debug, Clone, Copy)]
struct Stages;

impl OnStop for Stages {
    fn dispatched(&self, held: Loop<Dispatched>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        let said = Summary::of(held.raw());
        let (stage, at) = (held.fields().stage(), attempt(held));
        let taken = match (said.get("status"), stage) {
            ("", _) => at,
            (_, 7) => or_else(at, Loop::complete),
            ("needs-user-input", _) if said.get("pause_type") == "interactive" => or_else(at, Loop::ask),
            ("needs-user-input", _) => or_else(at, |held| held.wait(said.get("block_reason").to_owned())),
            ("completed", 3 | 5) if !said.passes => or_else(at, Loop::fail),
            ("completed", 4) => match (said.get("next_action"), said.get("next_action").parse()) {
                ("proceed", _) => or_else(at, Loop::complete),
                (_, Ok(action)) => or_else(at, |held| held.go_back(action)),
                _ => or_else(at, Loop::ask),
            },
            ("completed", 5) => match said.decision() {
                Some((decision, score)) => or_else(at, |held| held.validate(decision, score)),
                None => or_else(at, Loop::fail),
            },
            ("completed", _) => or_else(at, Loop::complete),
            _ => or_else(at, Loop::fail),
        };
        settle(or_else(taken, Loop::remind))
    }

    fn asking_asks(&self, held: &Loop<Asking>) -> Result<Asked, String> {
        let said = Summary::of(held.raw());
        let labels = said.lines.iter().filter(|(key, _)| key == "- label");
        let maps = (2..=4).contains(&held.fields().stage());
        let answer = |label: &str| match said.get(label) {
            action if action.is_empty() || !maps => {
                Answer::new(label, Transition::Tell).argument("answer", label)
            }
            action => Answer::new(label, Transition::Map).argument("action", action),
        };
        let options = labels.map(|(_, label)| answer(label)).collect::<Vec<_>>();
        let options = match options.is_empty() {
            true => vec![answer("Go on")],
            false => options,
        };
        Ok(Asked::new(said.get("question"), said.get("header"), options))
    }

    fn choosing_asks(&self, held: &Loop<Choosing>) -> Result<Asked, String> {
        let all = ["complete", "advanced", "standard", "rapid"];
        let modes = all.iter().skip(if held.fields().pal_available() { 0 } else { 2 });
        let options = modes.map(|mode| Answer::new(*mode, Transition::Choose).argument("mode", mode));
        Ok(Asked::new(
            "How deep does the next round go?",
            "Analysis",
            options.collect(),
        ))
    }
}

/// The lines of a summary that have a key, and whether what it is about passes the gate of its stage.
struct Summary {
    lines: Vec<(String, String)>,
    passes: bool,
}

impl Summary {
    /// Reads the summary of the stage; nothing where it is of another dispatch.
    fn of(raw: &Raw) -> Self {
        let text = |path: &str| fs::read_to_string(raw.path(path)).unwrap_or_default();
        let text_of_summary = text("requirements/.stage-summaries/stage-{stage}-summary.md");
        let lines = text_of_summary.lines().filter_map(|line| line.split_once(':'));
        let lines = lines.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
        let mut said = Self {
            lines: lines.collect(),
            passes: match raw.count("stage") {
                3 => text("requirements/working/QUESTIONS.md").contains("## Q-"),
                5 => !text("requirements/PRD.md").is_empty(),
                _ => true,
            },
        };
        let mut first = |key: &str, value: &str| said.lines.insert(0, (key.to_owned(), value.to_owned()));
        let mapped = raw.text("mapped");
        if mapped != "no" {
            first("status", "completed");
            first("next_action", &mapped);
        } else if raw.flag("recovered") {
            first("status", "completed");
            first("validation_decision", "conditional");
        } else if said.get("dispatch_id") != raw.count("dispatch").to_string() {
            said.lines.clear();
        }
        said
    }

    fn get(&self, key: &str) -> &str {
        let found = self.lines.iter().find(|(known, _)| known == key);
        found.map_or("", |(_, value)| value)
    }

    fn decision(&self) -> Option<(ValidateDecision, u64)> {
        let decision = self.get("validation_decision").to_lowercase().parse().ok()?;
        Some((decision, self.get("validation_score").parse().unwrap_or_default()))
    }
}

claudex_loop::main!(stages, Stages);

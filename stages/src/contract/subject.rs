//! The seven keys of a summary, which stage it says it is of, and where its flags stand.

use std::ops::Range;

use strum::VariantNames;

use super::file::Parts;
use super::findings::{Found, one_of, quoted};
use super::rule::Rule;
use super::stage::Stage;
use super::words::Status;
use super::yaml::{Map, Node, Value};

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
        let by_name = name
            .as_ref()
            .and_then(|(name, _)| name.parse::<Stage>().ok());
        subject.stage = by_number.or(by_name);
        let wrong = |what: &str, is: &str, expected: Option<&str>, all: Vec<String>| {
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let help = expected.map_or_else(|| one_of(&all), |one| format!("`{one}`"));
            let message = match subject.stage {
                Some(stage) => format!(
                    "{} is not the {what} of stage {}",
                    quoted(is),
                    stage.number()
                ),
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
            let all: Vec<String> = Stage::all()
                .map(|stage| stage.checkpoint().to_owned())
                .collect();
            if expected.map_or(!all.iter().any(|one| one == checkpoint), |one| {
                one != checkpoint
            }) {
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
    pub(crate) fn place(&self, flag: &str) -> Range<usize> {
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

    pub(crate) fn status_place(&self) -> Range<usize> {
        self.map
            .get("status")
            .map_or(self.parts.close.clone(), |node| node.span.clone())
    }

    /// Returns whether a flag is written, right or wrong.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.is_some_and(|flags| flags.get(flag).is_some())
    }

    /// Returns where the key of a flag stands.
    pub(crate) fn key_place(&self, flag: &str) -> Range<usize> {
        let entry = self.flags.and_then(|flags| flags.entry(flag));
        entry.map_or_else(|| self.place(flag), |(key, _)| key.span.clone())
    }
}

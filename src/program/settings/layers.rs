//! The layers of the settings, each over those below it: the defaults, the user's file, the project's file, the
//! environment. Each is a list of rows.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde_json::{Value, json};

use super::row::{EXAMPLE_HELP, parse, place, rows_of};
use super::values::Values;
use super::{AUTO, MAX_FAILURES, MAX_ROUNDS, Row, Settings, SettingsError};
use crate::hooks::seen::Seen;
use crate::machine::declared_personas;
use crate::machine::table::{Constant, ModeInfo, Table};
use crate::process::limits::parse_duration;
use crate::program::info::ProgramInfo;
use crate::program::suggest;
use crate::review::evidence::EvidencePolicy;
use crate::review::personas::Personas;
use crate::text;

/// The keys of the user's file.
const USER_KEYS: [&str; 7] = [
    "reviewer",
    "reviewers",
    "commands",
    "allow_commands",
    "limits",
    "evidence",
    "programs",
];
/// The keys of one program in the user's file.
const PROGRAM_KEYS: [&str; 5] = ["reviewer", "personas", "rounds", "limits", "evidence"];
/// The keys of a project's file. An agent or a stranger's repository can write it. So it names no program, chooses no
/// reviewer, and makes no review shorter than the user's own settings do.
const PROJECT_KEYS: [&str; 2] = ["rounds", "limits"];

/// The most dots in a project's file. Each may nest a table, and a tree of thousands overflows the stack.
const MAX_DOTS: usize = 500;
/// The source of a value that the program has.
const DEFAULT: &str = "default";

/// Some layers, merged.
pub(super) struct Layers {
    info: &'static ProgramInfo,
    rows: Vec<Row>,
    evidence_in_file: EvidencePolicy,
    ignored: Vec<String>,
}

/// Returns the layer of the defaults: ours, and those of the machine's file.
fn defaults(info: &ProgramInfo) -> Vec<Row> {
    let text = include_str!("defaults.toml");
    let file = Utf8Path::new("defaults.toml");
    let ours = parse(file, text).expect("the defaults are TOML");
    let mut rows = rows_of("", file, text, &ours);
    for row in &mut rows {
        row.source = DEFAULT.to_owned();
    }

    let table = info.table;
    let mut add = |path: &[&str], value: Value, source: &str| {
        let path = path.iter().map(|name| (*name).to_owned()).collect();
        rows.push(Row::new(path, value, source.to_owned(), String::new()));
    };
    let of_machine = format!("{DEFAULT} ({})", table.file);
    let first = table.modes.first();
    if let Some(failures) = first.and_then(|mode| start_value(table, mode, MAX_FAILURES)) {
        add(&["limits", "max-failures"], failures.into(), &of_machine);
    }
    for mode in table.modes {
        if let Some(rounds) = start_value(table, mode, MAX_ROUNDS) {
            add(&["rounds", mode.name], rounds.into(), &of_machine);
        }
    }
    for (order, persona) in (1..).zip(Personas::declared(declared_personas(table)).all()) {
        let mut set =
            |key: &str, value: Value| add(&["personas", &persona.name, key], value, DEFAULT);
        set("label", text::plain(&persona.label).into());
        set("prompt", text::plain(&persona.prompt).into());
        set("focus", persona.focus.to_string().into());
        set("order", Value::from(order));
    }
    rows
}

/// Returns the number that the machine file has in a field at the start of a mode.
fn start_value(table: &Table, mode: &ModeInfo, field: &str) -> Option<u64> {
    let of_mode = mode.initial.iter().find(|(name, _)| *name == field);
    let of_field = || table.field(field).map(|info| info.initial);
    match of_mode.map(|(_, value)| *value).or_else(of_field) {
        Some(Constant::Count(count)) if count > 0 => Some(count),
        _ => None,
    }
}

/// Returns the layer of the environment: `CLAUDEX_REVIEWER`, `CLAUDEX_EVIDENCE`, `CLAUDEX_MAX_FAILURES`,
/// `CLAUDEX_STALE_MINUTES`, and `CLAUDEX_MAX_PLAN_ROUNDS` by the name of the mode.
pub(super) fn environment(info: &ProgramInfo, seen: &Seen) -> Vec<Row> {
    let fixed = [
        ("reviewer", "REVIEWER"),
        ("evidence", "EVIDENCE"),
        ("limits.max-failures", "MAX_FAILURES"),
        ("limits.stale-minutes", "STALE_MINUTES"),
    ];
    let fixed = fixed.map(|(key, name)| (key.to_owned(), name.to_owned()));
    let rounds = info.table.modes.iter().map(|mode| {
        let name = format!("MAX_{}_ROUNDS", mode.name.to_uppercase());
        (format!("rounds.{}", mode.name), name)
    });
    let mut rows = Vec::new();
    for (key, name) in fixed.into_iter().chain(rounds) {
        let variable = info.variable(&name);
        let Some(value) = seen.variable(&variable) else {
            continue;
        };
        let value = match key.as_str() {
            // A typo must not open the gate.
            "evidence" if value != "optional" => Value::from("required"),
            "reviewer" | "evidence" => Value::from(text::plain(value)),
            _ => value
                .parse::<u64>()
                .map_or_else(|_| text::plain(value).into(), Value::from),
        };
        let path = key.split('.').map(str::to_owned).collect();
        let source = format!("environment {variable}");
        rows.push(Row::new(path, value, source, variable));
    }
    rows
}

impl Layers {
    /// Starts with the defaults.
    pub(super) fn new(info: &'static ProgramInfo) -> Self {
        Self {
            info,
            rows: defaults(info),
            evidence_in_file: EvidencePolicy::Required,
            ignored: Vec::new(),
        }
    }

    /// Puts a row over those below it. A value replaces a table of the same name, and a table a value.
    pub(super) fn add(&mut self, row: Row) {
        self.rows.retain(|below| {
            !below.path.starts_with(&row.path) && !row.path.starts_with(&below.path)
        });
        self.rows.push(row);
    }

    /// Adds the user's file. In it, the table of this program goes over what the file has for all programs.
    pub(super) fn add_user(&mut self, file: &Utf8Path, text: &str) -> Result<(), SettingsError> {
        let mut own = Vec::new();
        for mut row in rows_of("user", file, text, &parse(file, text)?) {
            let names: Vec<&str> = row.path.iter().map(String::as_str).collect();
            match names[..] {
                ["programs"] | ["programs", _] => {
                    let name = names[names.len() - 1];
                    let message = format!("`{name}` must be a table");
                    return Err(row.error(&message, EXAMPLE_HELP));
                }
                ["programs", program, name, ..] if program == self.info.program => {
                    row.check_name(name, &PROGRAM_KEYS)?;
                    row.path.drain(..2);
                    own.push(Row::new(row.path, row.value, row.source, row.place));
                }
                ["programs", ..] | [] => {}
                ["reviewers", _, "sandbox"] => {
                    let why = "it is retired; Codex and Claude run read-only";
                    let line = format!("{}: ignored `sandbox`: {why}", row.place);
                    self.ignored.push(line);
                }
                [name, ..] => {
                    row.check_name(name, &USER_KEYS)?;
                    self.add(row);
                }
            }
        }
        own.into_iter().for_each(|row| self.add(row));
        let is_optional = |row: &Row| row.key == "evidence" && row.value == "optional";
        if self.rows.iter().any(is_optional) {
            self.evidence_in_file = EvidencePolicy::Optional;
        }
        Ok(())
    }

    /// Adds a project's file. Anything but rounds and higher limits is ignored with one line.
    pub(super) fn add_project(&mut self, file: &Utf8Path, text: &str) -> Result<(), SettingsError> {
        if let Some((dot, _)) = text.match_indices('.').nth(MAX_DOTS) {
            let place = place(file, text, dot);
            return Err(SettingsError::new(&place, "too many dots", EXAMPLE_HELP));
        }
        let table = parse(file, text)?;
        let mut others: Vec<_> = table.keys().cloned().collect();
        others.retain(|name| !PROJECT_KEYS.contains(&name.get_ref().as_ref()));
        others.sort_by_key(|name| name.span().start);
        let names: Vec<&str> = others.iter().map(|name| name.get_ref().as_ref()).collect();
        if let Some(first) = others.first() {
            let place = place(file, text, first.span().start);
            let list = text::one_line(&suggest::list(&names), 200);
            self.ignored.push(format!(
                "{place}: ignored {list}: a project's file may set only `rounds` and `limits`"
            ));
        }
        let mut rows = rows_of("project", file, text, &table);
        rows.retain(|row| PROJECT_KEYS.contains(&row.path[0].as_str()));
        for row in rows {
            let mut own = self.rows.iter().filter(|own| own.key == row.key);
            let own = own.find_map(|own| limit_size(&own.value));
            let is_limit = row.path[0] == "limits";
            if is_limit && limit_size(&row.value).is_some_and(|new| Some(new) < own) {
                let line = format!(
                    "{}: ignored `{}`: it is less than yours",
                    row.place, row.key
                );
                self.ignored.push(line);
            } else {
                self.add(row);
            }
        }
        Ok(())
    }

    /// Returns the settings of these layers.
    pub(super) fn finish(self) -> Result<Settings, SettingsError> {
        let modes = self.info.table.modes.iter();
        let modes: Vec<&str> = modes.map(|mode| mode.name).collect();
        for row in &self.rows {
            if let [table, mode, ..] = &row.path[..]
                && table == "rounds"
            {
                row.check_name(mode, &modes)?;
            }
        }
        let values = values_of(&self.rows).map_err(|message| self.value_error(&message))?;
        let rows = self.rows.into_iter().map(|row| (row.key.clone(), row));
        let settings = Settings {
            values,
            rows: rows.collect(),
            evidence_in_file: self.evidence_in_file,
            ignored: self.ignored,
            info: self.info,
        };
        check_reviewers(&settings)?;
        Ok(settings)
    }

    /// Describes an error of serde at the row that brings it. A message of two lines has its help in the second.
    fn value_error(&self, message: &str) -> SettingsError {
        let is_there = |count: &usize| {
            let error = values_of(&self.rows[..*count]).err();
            error.as_deref() == Some(message)
        };
        let counts = (1..=self.rows.len()).rev().take_while(is_there);
        let row = &self.rows[counts.last().unwrap_or(self.rows.len()) - 1];
        let message = message.replace("expected i64", "expected an integer");
        let message = message.replace("expected a sequence", "expected a list");
        if let Some((message, help)) = message.split_once('\n') {
            return row.error(message, help);
        }
        if message.starts_with("unknown ") {
            let mut quoted = message.split('`').skip(1).step_by(2);
            let name = quoted.next().unwrap_or_default();
            let known: Vec<&str> = quoted.collect();
            let message = message.split(", expected").next().unwrap_or_default();
            return row.error(message, &suggest::among(name, &known));
        }
        row.error(&message, EXAMPLE_HELP)
    }
}

/// Returns the size of a limit, a number or a duration in milliseconds.
fn limit_size(limit: &Value) -> Option<u128> {
    let duration = || Some(parse_duration(limit.as_str()?).ok()?.as_millis());
    limit.as_u64().map(u128::from).or_else(duration)
}

/// Returns the values of rows, none of which is both a value and a table.
fn values_of(rows: &[Row]) -> Result<Values, String> {
    let mut table = json!({});
    for row in rows {
        let names = row.path.iter();
        let value = names.fold(&mut table, |table, name| &mut table[name.as_str()]);
        *value = row.value.clone();
    }
    serde_json::from_value(table).map_err(|error| error.to_string())
}

/// Checks that the reviewer's name means one, and that no reviewer has a setting without an effect.
fn check_reviewers(settings: &Settings) -> Result<(), SettingsError> {
    let values = &settings.values;
    let error = |key: &str, message: &str, help: &str| {
        let rows: &BTreeMap<String, Row> = &settings.rows;
        let mut rows = rows.range(key.to_owned()..);
        let place = rows.next().map_or("", |(_, row)| row.place.as_str());
        Err(SettingsError::new(place, message, help))
    };
    let chosen = values.reviewer.as_str();
    let known = values.reviewer_names(settings.info);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    if !known.contains(&chosen) {
        let message = format!("`{chosen}` is not a reviewer");
        return error("reviewer", &message, &suggest::among(chosen, &known));
    }
    if values.reviewers.contains_key(AUTO) {
        let help = "`auto` means any installed reviewer; give yours another name";
        return error("reviewers.auto.", "the name `auto` is reserved", help);
    }
    for (name, reviewer) in &values.reviewers {
        if let Some((key, message, help)) = reviewer.problem() {
            return error(&format!("reviewers.{name}.{key}"), &message, help);
        }
    }
    Ok(())
}
